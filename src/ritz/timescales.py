"""Implied timescales: how slowly the processes of a trajectory decay, over several lags."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from ritz.estimators import SingularEmbedding
from ritz.estimators.certainty import LEVEL
from ritz.pictures import pyplot
from ritz.trajectories import as_lags, as_time_step, as_trajectories, block_length, lagged
from ritz.validation import Array, as_count, as_n_folds, parameter_error


@dataclass(frozen=True, eq=False)
class ImpliedTimescales:
    """Timescales of the slowest processes over several lags.

    Parameters
    ----------
    lags, times
        Numbers of frames (m,), and the times (m,) that they take.
    correlations, correlation_errors
        The correlations (m, k) of each pair of functions over a lag, and their standard errors.
    n_folds
        The number of folds that errors are from, those with rows, the fewest of all lags.
    models
        The fitted `SingularEmbedding` of each lag.
    held_out
        The correlations (m, k) on folds that functions were not found from, NaN where not known;
        None if none is.
    flags
        What is wrong with each process (m, k), as in `Spectrum`; empty if nothing is known.
    """

    lags: NDArray[np.intp]
    times: Array
    correlations: Array
    correlation_errors: Array
    n_folds: int
    models: tuple[SingularEmbedding, ...]
    held_out: Array | None = None
    flags: tuple[tuple[str, ...], ...] = ()

    @property
    def timescales(self) -> Array:
        """The timescales (m, k), descending; zero where a process is over within the lag."""
        return self._of(self.correlations)

    @property
    def errors(self) -> Array:
        """Standard errors (m, k) of the timescales, from those of the correlations.

        They are infinite where a correlation is 1, and zero where a timescale is zero.
        """
        c = np.clip(self.correlations, np.finfo(np.float64).tiny, 1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = np.where(c < 1, self.times[:, None] / (c * np.log(c) ** 2), np.inf)
            errors = slope * self.correlation_errors
        return np.where(self.correlations > 0, np.where(np.isnan(errors), np.inf, errors), 0.0)

    @property
    def intervals(self) -> Array:
        """Intervals (m, k, 2) that hold the timescale with a probability of 95%.

        They are the timescales of the ends of intervals of the correlations, from zero on where an
        interval as wide about the held-out correlation holds zero. Some correlation is found in any
        finite data, and the choice of a basis raises it: of processes that are over within the lag,
        up to one interval in four still excludes zero.
        """
        width = student.ppf((1 + LEVEL) / 2, self.n_folds - 1) * self.correlation_errors
        low, high = self.correlations - width, self.correlations + width
        if self.held_out is not None:
            low = np.where(self.held_out <= width, 0.0, low)
        return np.stack([self._of(low), self._of(high)], axis=-1)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Which processes (m, k) have a flag: their timescales say nothing."""
        if not self.flags:
            return np.zeros(self.correlations.shape, dtype=np.bool_)
        return np.array([[flag != "" for flag in row] for row in self.flags])

    def _of(self, correlations: Array) -> Array:
        c = np.clip(correlations, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            return np.asarray(self.times[:, None] / np.abs(np.log(c)))

    def plot(self, ax: Any = None) -> Any:
        """Draw the timescales and their intervals over the lag (extra `plot`).

        Processes in the shaded area are over within the lag, so that samples do not show them, and
        a cross marks those with a flag. A timescale can be trusted from the lag on at which its
        line becomes level.

        Returns the matplotlib axes, new ones if none are given.
        """
        if ax is None:
            ax = pyplot().subplots(figsize=(6.4, 4.2), layout="tight")[1]
        values, intervals = self.timescales, self.intervals
        top = 3 * max(values[np.isfinite(values)].max(initial=0.0), self.times[-1])
        low = min(values[values > 0].min(initial=self.times[0]), self.times[0]) / 2
        for j in range(values.shape[1]):
            (line,) = ax.plot(self.times, np.clip(values[:, j], low, top), "o-", label=f"{j + 1}")
            ends = np.clip(intervals[:, j].T, low, top)
            ax.fill_between(self.times, *ends, color=line.get_color(), alpha=0.2, lw=0)
            bad = self.flagged[:, j]
            ax.plot(self.times[bad], np.clip(values[bad, j], low, top), "kx", ms=9)
        # A straight line is bent by the logarithm.
        line = np.linspace(self.times[0], self.times[-1], 200)
        ax.fill_between(line, low, line, color="0.85", lw=0, zorder=0)
        ax.plot(line, line, color="0.5", lw=1)
        ax.set(yscale="log", ylim=(low, top), xlabel="lag", ylabel="timescale")
        ax.legend(frameon=False, title="process", ncols=2)
        return ax

    def __str__(self) -> str:
        lines = [f"{'lag':>8}{'time':>10}  timescale (95% interval) of each process"]
        columns = (self.lags, self.times, self.timescales, self.intervals, self.flagged)
        for lag, time, values, ends, flagged in zip(*columns, strict=True):
            cells = [
                f"  {value:>9.4g}{'*' if bad else ' '}{f'({low:.4g}, {high:.4g})':<18}"
                for value, (low, high), bad in zip(values, ends, flagged, strict=True)
            ]
            lines.append(f"{lag:>8}{time:>10.4g}{''.join(cells)}".rstrip())
        if self.flagged.any():
            reasons = sorted({flag for row in self.flags for flag in row if flag})
            lines.append(f"* {' or '.join(reasons)}: the timescale says nothing")
        return "\n".join(lines)

    def __repr__(self) -> str:
        m, k = self.correlations.shape
        return f"<ImpliedTimescales: {k} processes, {m} lags>"


def implied_timescales(
    trajectories: Any, lags: Any, n_components: int = 3, *, dt: float = 1.0, **options: Any
) -> ImpliedTimescales:
    """Find the timescales -lag dt / log(c) of the slowest processes over several lags.

    Here c are the correlations over a lag that `SingularEmbedding` finds. Timescales of a process
    without memory do not depend on the lag. Where the columns leave out something slow, or the
    functions are too few, they are too short and grow with the lag until that is forgotten.

    Parameters
    ----------
    trajectories
        As in `ritz.lagged`.
    lags
        Numbers of frames.
    n_components
        The number of processes.
    dt
        The time between two frames.
    options
        Other parameters of `SingularEmbedding`, such as `kernel` or `random_state`.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng, x = np.random.default_rng(0), np.zeros(20_000)
    >>> for t in range(1, len(x)):
    ...     x[t] = 0.9 * x[t - 1] + rng.normal()
    >>> found = ritz.implied_timescales(x, [1, 5], 1, random_state=0)
    >>> bool((abs(found.timescales - 1 / -np.log(0.9)) < 3 * found.errors).all())
    True
    """
    parts = as_trajectories(trajectories)
    lags, dt = as_lags(lags, parts), as_time_step(dt)
    as_count(n_components, "n_components")
    n_folds = as_n_folds(options.get("n_folds", 8))
    models: list[SingularEmbedding] = []
    for lag in lags.tolist():
        X, Y, groups = lagged(parts, lag)
        model = SingularEmbedding(n_components, **options).fit(X, Y, groups=groups)
        if model.singular_value_errors_ is None:
            blocks = len(np.unique(groups))
            what = "such that blocks longer than a lag fill at least 3 folds, for errors"
            remedy = "Use shorter lags, longer trajectories or more folds."
            raise parameter_error("lags", what, f"{lag} with {blocks} block(s)", remedy)
        if model.spectrum_.folds is not None:
            n_folds = min(n_folds, len(model.spectrum_.folds.weight))
        models.append(model)
    warn_of_short_blocks(parts, lags, models)
    # The functions of a basis may be fewer at some lag.
    k = min(len(model.singular_values_) for model in models)
    spectra = [model.spectrum_[1 : 1 + k] for model in models]
    unknown = np.full(k, np.nan)
    held_out = [unknown if s.heldout_values is None else s.heldout_values for s in spectra]
    return ImpliedTimescales(
        lags,
        dt * lags,
        np.array([spectrum.values for spectrum in spectra]),
        np.array([spectrum.errors for spectrum in spectra]),
        n_folds,
        tuple(models),
        np.array(held_out),
        tuple(spectrum.flags or ("",) * k for spectrum in spectra),
    )


def warn_of_short_blocks(
    parts: list[Array], lags: NDArray[np.intp], models: list[SingularEmbedding]
) -> None:
    """Warn if blocks of trajectories are shorter than the slowest timescale, which joins them."""
    for lag, model in zip(lags.tolist(), models, strict=True):
        length, c = block_length(parts, lag), float(np.clip(model.singular_values_[0], 0.0, 1.0))
        cut = any(len(part) >= 2 * length for part in parts)
        frames = np.inf if c == 1 else -lag / np.log(c) if c > 0 else 0.0
        if cut and length < frames:
            warnings.warn(
                f"Errors rest on blocks of {length:,} frames, which are shorter than the "
                f"slowest timescale at lag {lag}, {frames:,.3g} frames: intervals are too narrow, "
                "and timescales too short. Use longer trajectories.",
                stacklevel=3,
            )
            return
