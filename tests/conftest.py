"""Settings that must come before the first import of SciPy, and tests that repeat themselves."""

import os

# Without it scikit-learn leaves out one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import settings

# The same examples each time: a change is red for its own reasons only. To look for new ones:
# pytest --hypothesis-profile default.
settings.register_profile("repeated", derandomize=True)
settings.load_profile("repeated")
