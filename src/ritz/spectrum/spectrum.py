"""The result: eigenvalues with error bars, and eigenfunctions to call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ritz import tables
from ritz.bases import Centered, Combination
from ritz.files import write
from ritz.spectrum.folds import FoldMatrices
from ritz.spectrum.frames import frame_of
from ritz.validation import Array, as_count, parameter_error, renamed

PER_VALUE = (
    "values",
    "errors",
    "groups",
    "group_sizes",
    "group_confidence",
    "residuals",
    "ritz_values",
    "heldout_values",
    "basis_errors",
    "stability",
)
NONNEGATIVE = (
    "errors",
    "groups",
    "group_sizes",
    "group_confidence",
    "residuals",
    "basis_errors",
    "stability",
)


@dataclass(frozen=True, eq=False)
class Levels:
    """The numbers of a spectrum.

    Attributes
    ----------
    values
        Eigenvalues (k,), ascending, or singular values, in the operator's order: the best
        estimates, which lie between in-sample and held-out values. Members of a group share their
        mean, as sampling alone spreads them apart. With fewer than three folds, and for functions
        that do not generalize, estimates are in-sample values.
    errors
        Their standard errors (k,) over folds: the error of sampling. None where there are too few
        folds.
    groups
        Numbers (k,) of groups of values that are one repeated value as far as samples can tell. A
        value that lies too close to others to say stands alone, though if it is surely one of many
        copies it is a mean over all runs of neighbors that it may belong to.
    residuals
        Relative residuals (k,) of the matrix problem.
    rank
        The number of independent functions, up to rounding, the constant included.
    n_rows
        The number of samples.
    operator
        The operator's name.
    ritz_values
        The in-sample values (k,), which belong to the functions: their energies on the samples.
        They are too small for eigenvalues, as the functions are fitted to the same samples.
    heldout_values
        The energies (k,) of functions found without a fold on that fold, which are too large; None
        where there are too few folds.
    group_sizes
        The number (k,) of members of each value's group, those counted that are not among the
        values; None in files of earlier versions.
    group_confidence
        The probability (k,) that the members of a group, and no other values, are one repeated
        value; that a value stands alone where it does. None where there are too few folds.
    basis_errors
        By how much (k,) the values may be lower (correlations higher) with more functions, if gains
        fall further as they did from a quarter to half and from half to all of the functions. An
        estimate, not a bound; None for functions that are used as a whole, such as polynomials.
    flags
        What is wrong with each function (k,): "does not generalize" if its variance on unseen rows
        is not about that on the rows it was found from; "few rows" if fewer than ten rows, or 2% of
        a small sample, hold most of its squares; an empty text if nothing is wrong.
    stability
        The cosine (k,) of the largest angle between the eigenspaces, of the value's group, that
        two halves of the samples give.
    folds
        The matrices of each fold over the functions, which errors rest on; None where there are too
        few folds, and in files of earlier versions.
    """

    # Fields of files of earlier versions that are left out.
    retired_fields: ClassVar[tuple[str, ...]] = ("group_values", "group_errors")

    values: Array
    errors: Array | None
    groups: NDArray[np.intp]
    residuals: Array
    rank: int
    n_rows: int
    operator: str
    # Files of earlier versions have none: their values are those in the sample.
    ritz_values: Array = field(default=cast(Any, None), kw_only=True)
    heldout_values: Array | None = field(default=None, kw_only=True)
    group_sizes: NDArray[np.intp] | None = field(default=None, kw_only=True)
    group_confidence: Array | None = field(default=None, kw_only=True)
    basis_errors: Array | None = field(default=None, kw_only=True)
    flags: tuple[str, ...] | None = field(default=None, kw_only=True)
    stability: Array | None = field(default=None, kw_only=True)
    folds: FoldMatrices | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.ritz_values is None:
            object.__setattr__(self, "ritz_values", self.values)
        if self.values.ndim != 1:
            raise parameter_error("values", "of shape (k,)", self.values.shape)
        for name in PER_VALUE:
            array = getattr(self, name)
            if array is None:
                continue
            if array.shape != self.values.shape:
                requirement = f"of shape {self.values.shape}"
                raise parameter_error(name, requirement, array.shape)
            if name in NONNEGATIVE and array.min(initial=0) < 0:
                raise parameter_error(name, "nonnegative", array.min())
        if self.flags is not None and len(self.flags) != len(self.values):
            raise parameter_error("flags", f"{len(self.values)} texts", f"{len(self.flags)} texts")
        if self.folds is not None and self.folds.L.shape[-1] != len(self.values):
            got = f"matrices of {self.folds.L.shape[-1]}"
            raise parameter_error("folds", f"matrices of {len(self.values)} functions", got)
        as_count(self.rank, "rank")
        as_count(self.n_rows, "n_rows")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the spectrum to a file of arrays and JSON, to be read by `ritz.load`."""
        write(self, path)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with a row for each value.

        Its columns are number, value, error, basis_error, group, group_confidence, ritz_value,
        heldout_value, stability, residual and flag; those that are not known are left out.

        Parameters
        ----------
        backend
            The library of the frame, "pandas" or "polars".
        """
        return frame_of(self, backend)

    def _some(self, which: Any) -> dict[str, Any]:
        """Return the per-value fields of a selection."""
        fields = {name: getattr(self, name) for name in PER_VALUE}
        some: dict[str, Any] = {name: None if a is None else a[which] for name, a in fields.items()}
        some["folds"] = None if self.folds is None else self.folds.pick(which)
        if self.flags is None:
            return some
        return some | {"flags": tuple(np.array(self.flags, dtype=object)[which].tolist())}


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Levels, Combination):
    """Eigenvalues and eigenfunctions of an operator.

    Call it on points (n, d) for the functions' values (n, k), `gradient` for their gradients
    (n, d, k), `partial` for other derivatives; slice it for some of the functions. It is itself a
    basis. Its numbers, such as `values` and `errors`, are those of `Levels`.
    """

    file_tag: ClassVar[str] = "Spectrum"

    def __post_init__(self) -> None:
        Combination.__post_init__(self)
        Levels.__post_init__(self)
        if len(self.values) != self.size:
            raise parameter_error("values", f"of shape ({self.size},)", self.values.shape)

    def __getitem__(self, which: Any) -> Spectrum:
        """Return the spectrum of some of the functions: a slice, a number or numbers."""
        which = as_selection(which, self.size)
        return replace(
            self,
            coefficients=self.coefficients[:, which],
            constants=self.constants[which],
            **self._some(which),
        )

    def __str__(self) -> str:
        return text_table(self, "eigenvalue", self._functions)

    def _repr_html_(self) -> str:
        return html_table(self, "eigenvalue", self._functions)

    @property
    def _functions(self) -> str:
        return f"{count(self)} and the constant"

    def __repr__(self) -> str:
        return f"<Spectrum of {self.operator}: {self.size} eigenvalues, {self.n_rows:,} rows>"


@dataclass(frozen=True, eq=False, repr=False)
class SingularSpectrum(Levels):
    """Singular values and left and right singular functions of an operator.

    Call it on points of both sides for the values of both, or use `left` and `right`, each a
    basis with `gradient` and `partial`; slice it for some of the triples. Its numbers are those
    of `Levels`.
    """

    file_tag: ClassVar[str] = "SingularSpectrum"

    left: Combination
    right: Combination

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("left", "right"):
            size = len(getattr(self, name))
            if size != len(self):
                raise parameter_error(name, f"{len(self)} functions", f"{size} functions")

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return the left functions at points X and the right functions at points Y."""
        with renamed(X="Y"):
            right = self.right(Y)
        return self.left(X), right

    def __getitem__(self, which: Any) -> SingularSpectrum:
        """Return some of the triples: a slice, a number or numbers."""
        which = as_selection(which, len(self))
        return replace(
            self, left=self.left.pick(which), right=self.right.pick(which), **self._some(which)
        )

    def __str__(self) -> str:
        return text_table(self, "singular value", self._functions)

    def _repr_html_(self) -> str:
        return html_table(self, "singular value", self._functions)

    @property
    def _functions(self) -> str:
        return f"{count(self.left)} by {count(self.right)} and the constants"

    def __repr__(self) -> str:
        return f"<SingularSpectrum of {self.operator}: {len(self)} values, {self.n_rows:,} rows>"


def count(functions: Combination) -> str:
    """Describe how many functions were combined, and from how many if they were orthogonalized."""
    inner = functions.basis
    while isinstance(inner, Centered | Combination):
        inner = inner.basis
    if inner.size == functions.basis.size:
        return f"{inner.size} functions"
    return f"{functions.basis.size} combinations of {inner.size} functions"


def as_selection(which: Any, size: int) -> Any:
    """Return a slice or an array of numbers of functions; a number selects one function."""
    if isinstance(which, slice):
        return which
    index = np.atleast_1d(np.asarray(which))
    if index.dtype.kind == "b" and index.shape == (size,):
        return np.flatnonzero(index)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        what = "a slice, a number or numbers of functions"
        raise parameter_error("index", what, which, kind=TypeError)
    if len(index) and (index.min() < -size or index.max() >= size):
        raise parameter_error("index", f"between {-size} and {size - 1}", which, kind=IndexError)
    return index


def cells(levels: Levels, name: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headers and the rows of a table of values, repeated ones with multiplicity."""
    # A spectrum that is sliced may list its eigenvalues in any order.
    several = isinstance(levels, SingularSpectrum) and len(levels) > 1
    falls = several and levels.values[0] > levels.values[-1]
    lower = "may be higher by" if falls else "may be lower by"
    rows: list[tuple[str, ...]] = []
    for j, value in enumerate(levels.values):
        error = "" if levels.errors is None else f"{levels.errors[j]:.1e}"
        basis = "" if levels.basis_errors is None else f"{levels.basis_errors[j]:.1e}"
        members = levels.groups == levels.groups[j]
        first = j == int(np.argmax(members))
        size = members.sum() if levels.group_sizes is None else levels.group_sizes[j]
        times = str(int(size)) if first else "·"
        sure = "" if levels.group_confidence is None else f"{levels.group_confidence[j]:.0%}"
        flag = levels.flags[j] if levels.flags else ""
        rows.append((str(j), f"{value:.6g}", error, basis, times, sure if first else "", flag))
    return ("", name, "std. error", lower, "times", "confidence", ""), rows


def head(levels: Levels, functions: str) -> str:
    """Return the line above a table of values."""
    return f"Spectrum of {levels.operator}: {levels.n_rows:,} rows, {functions}, rank {levels.rank}"


def text_table(levels: Levels, name: str, functions: str) -> str:
    """Return a spectrum as text: a line a value."""
    headers, rows = cells(levels, name)
    lines = [head(levels, functions)]
    for row in (headers, *rows):
        *columns, flag = (
            f"{cell:>{width}}" for cell, width in zip(row, (4, 16, 12, 18, 7, 12, 0), strict=True)
        )
        lines.append(f"{''.join(columns)}{'  ' * bool(flag)}{flag}".rstrip())
    return "\n".join(lines)


def html_table(levels: Levels, name: str, functions: str) -> str:
    """Return a spectrum as HTML: a row a value."""
    headers, rows = cells(levels, name)
    headers, width = ("number", *headers[1:-1], "flag"), 7 if any(levels.flags or ()) else 6
    shown = [row[:width] for row in rows]
    return tables.face(tables.table(head(levels, functions), headers[:width], shown, text=(6,)))
