"""Pictures of how well predicted intervals hold values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.certainty import LEVEL
from ritz.hermite import HermiteRegressor
from ritz.pictures import COLORS, GRAY, axes_for, plain
from ritz.rows import sample_rows
from ritz.validation import Array, as_count, as_number, as_numeric, as_rows, parameter_error


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """Predicted 95% intervals of a Hermite regression against values that it was not fitted to.

    Intervals are those of the fitted function. Values with noise of their own need `noise`, or
    fewer of them are inside.

    Parameters
    ----------
    values, predictions, deviations
        The values (n,), the predictions, and their standard deviations, with the noise.
    name
        What the values are called.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and their figure.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> model = ritz.HermiteRegressor(random_state=0).fit(X[:40], y[:40])
    >>> display = ritz.CalibrationDisplay.from_estimator(model, X[40:], y[40:])
    >>> bool(display.coverage > 0.8)
    True
    """

    values: Array
    predictions: Array
    deviations: Array
    name: str = "value"
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: HermiteRegressor,
        X: Any,
        y: Any,
        *,
        output: int = 0,
        noise: float = 0.0,
        n_points: int = 2000,
        ax: Any = None,
    ) -> Self:
        """Draw the predictions of a fitted `HermiteRegressor` against held values.

        Parameters
        ----------
        estimator
            The estimator.
        X, y
            Rows (n, d) and values (n,) or (n, outputs) that the estimator was not fitted to; NaN
            for rows without one.
        output
            The number of the output, where there are several.
        noise
            The standard deviation of the noise in a value, in the units of y.
        n_points
            How many of the rows to draw.
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        if not isinstance(estimator, HermiteRegressor):
            what, got = "a HermiteRegressor", type(estimator).__name__
            raise parameter_error("estimator", what, got, kind=TypeError)
        check_is_fitted(estimator)
        n_points = as_count(n_points, "n_points")
        noise = as_number(noise, "noise", "a nonnegative number", 0.0)
        rows = as_rows(X, "X", estimator.n_features_in_)
        targets = np.asarray(as_numeric(y, "y"), dtype=np.float64)
        if targets.ndim not in (1, 2) or len(targets) != len(rows):
            raise parameter_error("y", f"an array with {len(rows)} rows, as X", targets.shape)
        targets = targets[:, None] if targets.ndim == 1 else targets
        number = as_count(output, "output", "the number of an output", lowest=0)
        if number >= targets.shape[1]:
            what = f"the number of one of {targets.shape[1]} output(s)"
            raise parameter_error("output", what, output)
        known = np.isfinite(targets[:, number])
        if not known.any():
            raise parameter_error("y", "known for at least one row", "no row with a value")
        mean, deviation = estimator.predict(X, return_std=True)
        mean, deviation = (a.reshape(len(rows), -1) for a in (mean, deviation))
        if mean.shape[1] != targets.shape[1]:
            what = f"values of {mean.shape[1]} output(s), as in the fit"
            raise parameter_error("y", what, f"{targets.shape[1]}")
        some = np.flatnonzero(known)
        some = some[np.sort(sample_rows(rows[some], n_points, seed=0))]
        name = str(getattr(y, "name", "") or "value")
        deviation = np.hypot(deviation[some, number], noise)
        return cls(targets[some, number], mean[some, number], deviation, name).plot(ax)

    @property
    def scores(self) -> Array:
        """The errors (n,) in predicted standard deviations."""
        least = np.finfo(np.float64).tiny
        return np.asarray(
            np.abs(self.values - self.predictions) / np.maximum(self.deviations, least)
        )

    @property
    def coverage(self) -> float:
        """The share of the values inside their 95% intervals."""
        return float((self.scores <= norm.ppf((1 + LEVEL) / 2)).mean())

    def plot(self, ax: Any = None) -> Self:
        """Draw each prediction and its interval over the value, on new axes if None."""
        ax = self.ax_ = axes_for(ax, (6.0, 4.8))
        self.figure_ = ax.figure
        inside = self.scores <= norm.ppf((1 + LEVEL) / 2)
        half = norm.ppf((1 + LEVEL) / 2) * self.deviations
        ends = [self.values.min(), self.values.max()]
        ax.plot(ends, ends, color=GRAY, lw=1, zorder=1)
        looks = ((inside, "o", COLORS[0], "inside"), (~inside, "X", COLORS[1], "outside"))
        size = float(np.clip(60 / len(self.values) ** 0.5, 2.5, 6))
        for which, mark, color, word in looks:
            if not which.any():
                continue
            ax.errorbar(
                self.values[which],
                self.predictions[which],
                half[which],
                fmt=mark,
                color=color,
                ms=size * (1.5 if word == "outside" else 1.0),
                elinewidth=0.8,
                alpha=0.7,
                label=f"{word} the 95% interval: {which.sum():,}",
            )
        name = plain(self.name)
        ax.set(xlabel=f"{name}, observed", ylabel=f"{name}, predicted")
        n = len(self.values)
        ax.set_title(f"{self.coverage:.0%} of {n:,} values are inside", fontsize=10)
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def plot_coverage(self, ax: Any = None) -> Self:
        """Draw the share of values inside intervals of every probability, on new axes if None."""
        ax = self.ax_ = axes_for(ax, (4.8, 4.4))
        self.figure_ = ax.figure
        nominal = np.linspace(0, 0.999, 200)
        observed = (self.scores[:, None] <= norm.ppf((1 + nominal) / 2)).mean(axis=0)
        spread = 1.96 * np.sqrt(nominal * (1 - nominal) / len(self.scores))
        low, high = np.clip([nominal - spread, nominal + spread], 0, 1)
        chance = "what chance alone explains"
        ax.fill_between(nominal, low, high, color=GRAY, alpha=0.25, lw=0, label=chance)
        ax.plot([0, 1], [0, 1], color=GRAY, lw=1)
        ax.plot(nominal, observed, color=COLORS[0], lw=2, label="these values")
        ax.set(xlabel="probability of the interval", ylabel="share of values inside")
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(frameon=False, fontsize=8, loc="upper left")
        ax.spines[["top", "right"]].set_visible(False)
        return self
