"""Sums as files hold them: symmetric matrices as upper triangles, which take half the space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ritz.namespaces import placed, to_host
from ritz.validation import Array, parameter_error

# The running sums of all folds: vectors stacked, matrices as triangles where they are symmetric.
Stored = tuple[Array | tuple[Array, ...], ...]


def packed(matrices: Iterable[Array]) -> tuple[Array, ...]:
    """Return each matrix as the rows (p (p + 1) / 2,) of its upper triangle, if it is symmetric.

    A matrix that is not symmetric to the last bit stays as it is, so that nothing is lost.
    """
    return tuple(upper_rows(matrix) for matrix in matrices)


def upper_rows(matrix: Array) -> Array:
    """Return the upper triangle of a symmetric matrix (p, p), and any other matrix as it is."""
    p = len(matrix)
    if matrix.shape != (p, p) or not np.array_equal(matrix, matrix.T):
        return matrix
    rows, end = np.empty(p * (p + 1) // 2), 0
    for i in range(p):
        rows[end : end + p - i] = matrix[i, i:]
        end += p - i
    return rows


def unpacked(rows: Array, shape: tuple[int, int], name: str) -> Array:
    """Return the matrix that `upper_rows` returned as rows; raise unless it has the shape."""
    p = shape[0]
    if rows.ndim == 2 and rows.shape == shape:
        return rows
    if shape != (p, p) or rows.shape != (p * (p + 1) // 2,):
        raise parameter_error(name, f"matrices of shape {shape}", f"an array {rows.shape}")
    matrix, end = np.empty(shape), 0
    for i in range(p):
        matrix[i, i:] = matrix[i:, i] = rows[end : end + p - i]
        end += p - i
    return matrix


def stored(state: Sequence[Any]) -> Stored:
    """Return the arrays and numbers of the running sums of all folds."""
    columns = zip(*[[to_host(part) for _, _, part in slots(sums)] for sums in state], strict=True)
    return tuple(
        tuple(map(upper_rows, column)) if np.ndim(column[0]) == 2 else np.array(column)
        for column in columns
    )


def refill(state: Sequence[Any], parts: Stored) -> None:
    """Set running sums to those that were stored; raise if they have other shapes."""
    for fold, sums in enumerate(state):
        places = list(slots(sums))
        if len(places) != len(parts):
            raise parameter_error("checkpoint", f"{len(places)} sums a fold", len(parts))
        for (owner, name, part), column in zip(places, parts, strict=True):
            if len(column) != len(state):
                raise parameter_error("checkpoint", f"{len(state)} folds", len(column))
            if np.ndim(part) == 0:
                setattr(owner, name, float(column[fold]))
            elif np.ndim(part) == 2:
                part[...] = placed(unpacked(column[fold], tuple(part.shape), "checkpoint"), part)
            else:
                part[...] = placed(column[fold], part)


def slots(sums: Any, seen: tuple[int, ...] = ()) -> Iterator[tuple[Any, str, Any]]:
    """Yield the numbers and arrays of a dataclass and of those within it, each array once.

    Each comes as the dataclass, the name of the field, and its value.
    """
    for field in fields(sums):
        part = getattr(sums, field.name)
        if is_dataclass(part):
            yield from slots(part, seen)
        elif id(part) not in seen or isinstance(part, float):
            seen = (*seen, id(part))
            yield sums, field.name, part
