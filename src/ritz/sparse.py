"""Rows of sparse matrices, which become arrays a part at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from ritz.validation import (
    FILL,
    Array,
    as_rows,
    location,
    parameter_error,
    require_columns,
    require_size,
)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The rows of a sparse matrix (n, d).

    Indexing selects rows, which stay sparse; `np.asarray` makes them a dense array.
    """

    matrix: Any
    ndim = 2

    def to_file(self) -> SavedRows:
        """Return the rows as files hold them."""
        matrix = self.matrix
        return SavedRows(matrix.data, matrix.indices, matrix.indptr, self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.matrix.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers, float64 or float32."""
        return self.matrix.dtype  # type: ignore[no-any-return]

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers that are stored, row after row."""
        return self.matrix.data  # type: ignore[no-any-return]

    def place(self, number: int) -> NDArray[np.intp]:
        """Return the row and the column of a number that is stored."""
        row = int(np.searchsorted(self.matrix.indptr, number, side="right")) - 1
        return np.array([row, self.matrix.indices[number]], dtype=np.intp)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> SparseRows:
        return SparseRows(self.matrix[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.matrix.toarray(), dtype=dtype)


@dataclass(frozen=True, eq=False)
class SavedRows:
    """The arrays of a sparse matrix in rows, and its shape."""

    file_tag: ClassVar[str] = "SparseRows"

    data: Array
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]

    def from_file(self) -> SparseRows:
        """Return the rows; raise unless the arrays fit together."""
        matrix = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        matrix.check_format(full_check=True)
        return SparseRows(matrix)


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix, array or rows of one."""
    return isinstance(X, SparseRows) or issparse(X)


def as_sparse_rows(X: Any, name: str = "X", dimension: int | None = None) -> SparseRows:
    """Return a sparse matrix of finite numbers as rows, in `dimension` columns if it is fixed."""
    if isinstance(X, SparseRows):
        rows = X
    else:
        if X.ndim != 2:
            raise parameter_error(name, "an array (n, d)", f"shape {X.shape}")
        if X.dtype.kind not in "fiub":
            raise parameter_error(name, "real, a matrix of numbers", f"dtype {X.dtype}")
        rows = canonical(X)
        require_finite_numbers(rows, name)
        require_size(rows.numbers, name, 0.0)
    require_columns(rows, dimension, name)
    return rows


def canonical(X: Any) -> SparseRows:
    """Return the rows of a sparse matrix, with each entry stored once and columns in order."""
    matrix = csr_array(X)
    if matrix.dtype not in (np.float64, np.float32):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseRows(matrix)


def require_finite_numbers(X: SparseRows, name: str, columns: Any = None) -> None:
    """Raise unless every number is finite, naming the first row and column that is not."""
    bad = ~np.isfinite(X.numbers)
    if bad.any():
        first = int(bad.argmax())
        value = X.numbers[first]
        got = f"{value}{location(X.place(first), 0, columns)} ({int(bad.sum())} such entries)"
        raise parameter_error(name, "finite", got, FILL if np.isnan(value) else "Drop such rows.")


def as_points(X: Any, name: str = "X", dimension: int | None = None) -> Array | SparseRows:
    """Return points (n, d) as float64 rows, or as sparse rows where they are sparse."""
    return as_sparse_rows(X, name, dimension) if is_sparse(X) else as_rows(X, name, dimension)


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of both, sparse where both are."""
    if isinstance(first, SparseRows) and isinstance(second, SparseRows):
        return SparseRows(csr_array(vstack([first.matrix, second.matrix])))
    return np.concatenate([first, second])
