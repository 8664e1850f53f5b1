"""A picture of values, their intervals, and which are one repeated value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz.displays.source import Source
from ritz.estimators.certainty import half_widths
from ritz.pictures import COLORS, GRAY, axes_for
from ritz.validation import Array

# Values that are written beside their marks, and numbers along the axis, at most.
MOST_WRITTEN, MOST_TICKS = 12, 25


@dataclass(eq=False, repr=False)
class SpectrumDisplay:
    """Eigenvalues or singular values with 95% intervals, repeated ones joined.

    Parameters
    ----------
    numbers, values
        The numbers (k,) of the functions, and their values (k,).
    half_widths
        Half the widths (k,) of intervals for the error of sampling, or None.
    basis_errors
        By how much (k,) more functions may lower the values (raise singular values), or None.
    groups
        Numbers (k,) of groups of values that are one repeated value.
    flags
        What is wrong with each function (k,), or nothing.
    operator
        The operator's name.
    is_singular
        Whether values are singular values.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and their figure.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(1000, random_state=0).X
    >>> spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(4), X, k=4, random_state=0)
    >>> ritz.SpectrumDisplay.from_spectrum(spectrum).ax_.get_ylabel()
    'eigenvalue'
    """

    numbers: NDArray[np.intp]
    values: Array
    half_widths: Array | None
    basis_errors: Array | None
    groups: NDArray[np.intp]
    flags: tuple[str, ...]
    operator: str
    is_singular: bool = False
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_spectrum(
        cls, spectrum: Any, *, n_functions: int | None = None, ax: Any = None
    ) -> Self:
        """Draw a `Spectrum` or a `SingularSpectrum`, whose errors come from eight folds.

        Parameters
        ----------
        spectrum
            The spectrum.
        n_functions
            The most values to draw, the first ones; None for all.
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        source = Source.of_spectrum(spectrum, n_functions)
        return cls._of(source.with_functions("spectrum")).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_functions: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the values of a fitted estimator but the constant's.

        The parameters are those of `from_spectrum`.
        """
        source = Source.of_estimator(estimator, n_functions)
        return cls._of(source.with_functions("estimator")).plot(ax)

    @classmethod
    def _of(cls, source: Source) -> Self:
        levels, some = source.levels, source.numbers
        halves = half_widths(levels, source.n_folds)
        flags = levels.flags or ("",) * len(levels.values)
        return cls(
            some,
            levels.values[some],
            None if halves is None else halves[some],
            None if levels.basis_errors is None else levels.basis_errors[some],
            levels.groups[some],
            tuple(flags[j] for j in some),
            levels.operator,
            source.is_singular,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the values on matplotlib axes, on new ones if None."""
        wide = float(np.clip(2.4 + 0.35 * len(self.values), 6.4, 12.0))
        ax = self.ax_ = axes_for(ax, (wide, 4.2))
        self.figure_ = ax.figure
        x, y, k = self.numbers, self.values, len(self.values)
        if self.basis_errors is not None and (self.basis_errors > 0).any():
            ends = y + self.basis_errors if self.is_singular else y - self.basis_errors
            ends = np.minimum(ends, 1.0) if self.is_singular else np.maximum(ends, 0.0)
            what = (
                "more functions may raise it to here"
                if self.is_singular
                else ("more functions may lower it to here")
            )
            ax.vlines(x, y, ends, color=COLORS[4], lw=5, alpha=0.55, label=what)
        if self.half_widths is not None:
            options = {"fmt": "none", "ecolor": COLORS[0], "elinewidth": 1.2, "capsize": 3}
            ax.errorbar(x, y, self.half_widths, label="95% interval, for sampling", **options)
        flagged = np.array([bool(flag) for flag in self.flags], dtype=bool)
        ax.plot(x[~flagged], y[~flagged], "o", color=COLORS[0], ms=6, zorder=3)
        for word in dict.fromkeys(flag for flag in self.flags if flag):
            some = np.array([flag == word for flag in self.flags])
            ax.plot(x[some], y[some], "X", color=COLORS[1], ms=8, zorder=3, label=word)
        self._join_groups(ax)
        if k <= MOST_WRITTEN:
            for j in np.flatnonzero(~self._repeated):
                place = {"textcoords": "offset points", "va": "center", "fontsize": 8}
                ax.annotate(f"{y[j]:.3g}", (x[j], y[j]), (7, 0), **place)
            ax.set_xlim(x[0] - 0.5, x[-1] + 0.9)
        kind = "singular value" if self.is_singular else "eigenvalue"
        ax.set(xlabel="number of the function (0 is the constant)", ylabel=kind)
        ax.set_title(self.operator, fontsize=9, loc="left")
        if k <= MOST_TICKS:
            ax.set_xticks(x)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.margins(y=0.08)
        if not y.min(initial=0.0) < 0:
            ax.set_ylim(bottom=-0.04 * (float(y.max(initial=0.0)) or 1.0))
        ax.grid(axis="y", color=GRAY, alpha=0.25, lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, fontsize=8)
        return self

    @property
    def _repeated(self) -> NDArray[np.bool_]:
        """Which values (k,) share a group with another one."""
        return np.asarray((self.groups[:, None] == self.groups).sum(axis=0) > 1)

    def _join_groups(self, ax: Any) -> None:
        """Join the marks of each repeated value by a line that says how often it occurs."""
        label: str | None = "one repeated value"
        for group in dict.fromkeys(self.groups[self._repeated].tolist()):
            members = np.flatnonzero(self.groups == group)
            x, y = self.numbers[members], self.values[members]
            ax.plot(x, y, color=COLORS[2], lw=7, alpha=0.4, zorder=1, label=label)
            few = len(self.values) <= MOST_WRITTEN
            text = f"{y[0]:.3g} × {len(members)}" if few else f"× {len(members)}"
            place = {"textcoords": "offset points", "ha": "center", "fontsize": 8}
            ax.annotate(text, (float(x.mean()), float(y.mean())), (0, 8), **place)
            label = None
