"""The numbers of a spectrum as a data frame."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ritz.validation import as_choice

# The column of a frame for each field of a spectrum.
COLUMNS = {
    "values": "value",
    "errors": "error",
    "basis_errors": "basis_error",
    "groups": "group",
    "group_confidence": "group_confidence",
    "ritz_values": "ritz_value",
    "heldout_values": "heldout_value",
    "stability": "stability",
    "residuals": "residual",
}


def frame_of(levels: Any, backend: Any = "pandas") -> Any:
    """Return the numbers of a spectrum as a frame of pandas or polars, a row for each value."""
    backend = as_choice(backend, "backend", ("pandas", "polars"))
    try:
        library = import_module(backend)
    except ImportError:
        raise ImportError(f"A frame needs {backend}: pip install {backend}.") from None
    columns: dict[str, Any] = {"number": np.arange(len(levels.values))}
    for field, column in COLUMNS.items():
        if (array := getattr(levels, field)) is not None:
            columns[column] = array.copy()
    if levels.flags is not None:
        columns["flag"] = list(levels.flags)
    return library.DataFrame(columns)
