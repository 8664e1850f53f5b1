"""The optional compiled loops: present where a C compiler was there when ritz was installed.

Each has a NumPy equivalent, which runs in its place and which the tests compare it with. The
environment variable `RITZ_COMPILED=0` chooses NumPy.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

_compiled: Any = None
if os.environ.get("RITZ_COMPILED", "1") != "0":
    try:
        _compiled = import_module("ritz._compiled")
    except ImportError:
        warnings.warn(
            "ritz runs without its compiled part: results are the same, and fits with few centers "
            "take about twice as long. Install a C compiler, then reinstall ritz.",
            RuntimeWarning,
            stacklevel=2,
        )

AVAILABLE = _compiled is not None
fill: Any = getattr(_compiled, "fill", None)
hash_into: Any = getattr(_compiled, "hash_into", None)
