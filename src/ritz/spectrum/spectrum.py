"""The result: eigenvalues with error bars, and eigenfunctions to call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.bases import Centered, Combination
from ritz.spectrum.files import write
from ritz.validation import Array, as_count, parameter_error, renamed

PER_VALUE = ("values", "errors", "groups", "group_values", "group_errors", "residuals")
NONNEGATIVE = ("errors", "groups", "group_errors", "residuals")


@dataclass(frozen=True, eq=False)
class Levels:
    """The numbers of a spectrum.

    Attributes
    ----------
    values
        Eigenvalues (k,), ascending, or singular values, in the operator's order.
    errors
        Their standard errors (k,) by the jackknife over folds: the error of sampling, not of the
        choice of functions. None where there are too few folds.
    groups
        Numbers (k,) of groups of values whose confidence intervals overlap: repeated values, as
        far as the samples tell.
    group_values, group_errors
        Each group's mean and its standard error, repeated for its members (k,): better estimates
        for repeated values, which sampling spreads apart.
    residuals
        Relative residuals (k,) of the matrix problem.
    rank
        The number of independent functions, up to rounding, the constant included.
    n_rows
        The number of samples.
    operator
        The operator's name.
    """

    values: Array
    errors: Array | None
    groups: NDArray[np.intp]
    group_values: Array
    group_errors: Array | None
    residuals: Array
    rank: int
    n_rows: int
    operator: str

    def __post_init__(self) -> None:
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
        as_count(self.rank, "rank")
        as_count(self.n_rows, "n_rows")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the spectrum to a file of arrays and JSON, to be read by `ritz.load`."""
        write(self, path)

    def _some(self, which: Any) -> dict[str, Any]:
        """Return the per-value fields of a selection."""
        fields = {name: getattr(self, name) for name in PER_VALUE}
        return {name: None if a is None else a[which] for name, a in fields.items()}


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
        return table(self, "eigenvalue", f"{count(self)} and the constant")

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
        sizes = f"{count(self.left)} by {count(self.right)} and the constants"
        return table(self, "singular value", sizes)

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


def table(levels: Levels, name: str, functions: str) -> str:
    """Return a spectrum as text: a line a value, repeated values with their multiplicity."""
    lines = [
        f"Spectrum of {levels.operator}: {levels.n_rows:,} rows, {functions}, rank {levels.rank}",
        f"{'':>4}{name:>16}{'std. error':>12}{'group mean':>14}{'times':>7}{'residual':>11}",
    ]
    for j, value in enumerate(levels.values):
        error = "" if levels.errors is None else f"{levels.errors[j]:.1e}"
        members = levels.groups == levels.groups[j]
        first = j == int(np.argmax(members))
        times = int(members.sum())
        mean = f"{levels.group_values[j]:.6g}" if first and times > 1 else ""
        multiplicity = str(times) if first else "·"
        lines.append(
            f"{j:>4}{value:>16.6g}{error:>12}{mean:>14}{multiplicity:>7}"
            f"{levels.residuals[j]:>11.0e}"
        )
    return "\n".join(lines)
