"""Settings that must come before the first import of SciPy."""

import os

# Without it scikit-learn leaves out one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import settings

# The same examples each time, so that a change fails for reasons of its own. To look for new ones:
# pytest --hypothesis-profile default.
settings.register_profile("repeated", derandomize=True)
settings.load_profile("repeated")
