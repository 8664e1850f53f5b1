"""Settings that must come before the first import of SciPy."""

import os

# Without it scikit-learn leaves out one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
