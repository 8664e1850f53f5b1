"""Labels of rows that belong together, as numbers."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.validation import Array, parameter_error, require_present, split_missing


def as_group_numbers(groups: Any, n: int, first_row: int = 0) -> Array:
    """Return one number for each of n labels, none of which is missing.

    Where they are a part of the data, `first_row` is the number of their first row.
    """
    groups, missing = split_missing(groups, "groups")
    if groups.shape != (n,):
        raise parameter_error("groups", f"of shape ({n},)", f"shape {groups.shape}")
    if missing is not None:
        require_present(missing, "groups", first_row)
    if groups.dtype.kind == "f":
        require_present(np.isnan(groups), "groups", first_row)
    return as_numbers(groups)


def as_numbers(labels: NDArray[Any]) -> Array:
    """Return labels of any kind as numbers; equal labels have equal numbers in all data."""
    if labels.dtype.kind in "fiub":
        numbers = labels.astype(np.float64)
        # Beyond 2^53 different integers may be equal as float64 numbers.
        large = np.abs(numbers) >= 2.0**53
        if labels.dtype.kind in "iu" and large.any():
            numbers[large] = digests(labels[large])
        return numbers
    return digests(labels)


def numbers_of_texts(labels: NDArray[Any]) -> Array:
    """Return labels that were read as texts as numbers, each by itself.

    Those that are written as Python writes an integer or a float have its number, so that they are
    equal to labels in memory; others, such as "007", a hash.
    """
    names, which = np.unique(labels.astype(str), return_inverse=True)
    numbers = digests(names)
    for place, name in enumerate(names.tolist()):
        kind = int if name.lstrip("-").isdecimal() else float
        with suppress(ValueError):
            value = kind(name)
            if str(value) == name and abs(value) < 2.0**53:
                numbers[place] = value
    return numbers[which]


def digests(labels: NDArray[Any]) -> Array:
    """Return a number below 2^48 for each label, a hash of its name."""
    names, which = np.unique(labels.astype(str), return_inverse=True)
    hashes = [blake2b(name.encode(), digest_size=6).digest() for name in names]
    return np.array([int.from_bytes(h, "little") for h in hashes], dtype=np.float64)[which]
