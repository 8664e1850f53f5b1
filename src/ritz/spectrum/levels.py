"""Eigenvalues or singular values with what is known of their accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, must

ACCURACY = ("errors", "groups", "group_values", "group_errors")
PER_VALUE = ("values", *ACCURACY, "residuals")


@dataclass(frozen=True, eq=False)
class Levels:
    """The numbers of a spectrum.

    Errors and groups may be given as one function that returns a dictionary of them, which is
    called when one of them is first asked for.

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
        How many independent functions there were, as far as rounding tells, the constant among
        them.
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
        if callable(self.errors):
            # Read off `__getattr__`, which is asked for what is not there.
            self.__dict__["_accuracy"] = self.errors
            for name in ACCURACY:
                del self.__dict__[name]
        for name in PER_VALUE:
            array = self.__dict__.get(name)
            if array is not None and array.shape != self.values.shape:
                raise ValueError(must(name, f"of shape {self.values.shape}", array.shape))

    def __getattr__(self, name: str) -> Any:
        compute = self.__dict__.get("_accuracy")
        if name in ACCURACY and compute is not None:
            self.__dict__.update(compute())
            # What it was made of is let go.
            self.__dict__.pop("_accuracy", None)
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        # Numbers travel; what would compute them does not.
        state = {name: getattr(self, name) for name in ACCURACY} | self.__dict__
        state.pop("_accuracy", None)
        return state

    def _some(self, which: Any) -> dict[str, Any]:
        """Return the per-value fields of a selection."""
        fields = {name: getattr(self, name) for name in PER_VALUE}
        return {name: None if a is None else a[which] for name, a in fields.items()}


def as_selection(which: Any, size: int) -> Any:
    """Return a slice or an array of numbers of functions; a number selects one function."""
    if isinstance(which, slice):
        return which
    index = np.atleast_1d(np.asarray(which))
    if index.dtype.kind == "b" and index.shape == (size,):
        return np.flatnonzero(index)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise TypeError(must("index", "a slice, a number or numbers of functions", which))
    if len(index) and (index.min() < -size or index.max() >= size):
        raise IndexError(must("index", f"between {-size} and {size - 1}", which))
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
        count = str(times) if first else "·"
        lines.append(
            f"{j:>4}{value:>16.6g}{error:>12}{mean:>14}{count:>7}{levels.residuals[j]:>11.0e}"
        )
    return "\n".join(lines)
