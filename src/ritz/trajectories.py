"""Trajectories: pairs of frames some lag apart, blocks for errors, and displacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from ritz.pictures import pyplot
from ritz.rows import small_parts
from ritz.validation import (
    Array,
    as_contiguous,
    as_count,
    as_number,
    as_real,
    as_rows,
    parameter_error,
    require_size,
)

# Frames of a series, columns or principal directions, and frames to find these from, that are
# looked at: more take long.
SERIES_ROWS, SERIES_COLUMNS, DIRECTION_ROWS = 100_000, 10, 200
# Rows of a block, in integrated times: its mean depends on the next one by 10%.
SHORTEST_BLOCK = 5.0
# Blocks of all trajectories: fewer may leave some of eight folds empty, and more make errors no
# better.
FEWEST_BLOCKS, ENOUGH_BLOCKS = 32, 64


class Lagged(NamedTuple):
    """Pairs of frames.

    Parameters
    ----------
    X, Y
        Frames (n, d), and the frames (n, d) some lag later.
    groups
        The number (n,) of the block that the earlier frame lies in.
    """

    X: Array
    Y: Array
    groups: NDArray[np.intp]


def lagged(trajectories: Any, lag: int) -> Lagged:
    """Return all pairs of frames that are `lag` frames apart, and the blocks that they lie in.

    Pairs never join two trajectories. For errors, each trajectory is cut into blocks of equal
    length: five integrated autocorrelation times of the longest trajectory, but so many frames that
    there are 32 to 64 blocks in all where trajectories are cut, and always more than the lag. A
    trajectory shorter than that is one block, and one that is no longer than the lag has no pairs.

    Parameters
    ----------
    trajectories
        One array (n, d) of frames in the order of time, (n,) for one column, or a list of arrays.
        Each array of a list is a trajectory: `np.stack` a list of frames first.
    lag
        The number of frames between the two of a pair.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X, Y, groups = ritz.lagged([np.arange(4), np.arange(10, 13)], lag=2)
    >>> X.ravel(), Y.ravel(), groups
    (array([ 0.,  1., 10.]), array([ 2.,  3., 12.]), array([0, 0, 1]))
    """
    parts = as_trajectories(trajectories)
    lag = as_lag(lag, parts)
    parts = [part for part in parts if len(part) > lag]
    length = block_length(parts, lag)
    groups, first = [], 0
    for part in parts:
        blocks = max(1, len(part) // length)
        frames = np.arange(len(part) - lag)
        groups.append(first + frames * blocks // len(part))
        first += blocks
    X, Y = (np.concatenate([part[at] for part in parts]) for at in (slice(-lag), slice(lag, None)))
    return Lagged(X, Y, np.concatenate(groups))


def as_trajectories(trajectories: Any) -> list[Array]:
    """Return trajectories as arrays (n, d) of one number of columns."""
    several = isinstance(trajectories, list | tuple)
    several = several and any(len(getattr(part, "shape", ())) for part in trajectories)
    parts, d = [], None
    for part in trajectories if several else [trajectories]:
        one_column = not hasattr(part, "nnz") and as_real(part, "trajectories").ndim == 1
        rows = as_real(part, "trajectories").reshape(-1, 1) if one_column else part
        if len(shape := getattr(rows, "shape", ())) == 3:
            what = "an array (n, d), or a list of such arrays"
            remedy = "Pass list(trajectories)."
            raise parameter_error("trajectories", what, f"shape {tuple(shape)}", remedy)
        parts.append(as_rows(rows, "trajectories", d))
        require_size(parts[-1], "trajectories", 0.0)
        d = parts[0].shape[1]
    if max(map(len, parts)) < 2:
        raise parameter_error("trajectories", "at least two frames long", "fewer")
    return parts


def as_lag(lag: Any, parts: Sequence[Array], name: str = "lag") -> int:
    """Return a number of frames that at least one trajectory is longer than."""
    frames: int = as_count(lag, name)
    longest = max(map(len, parts))
    if frames >= longest:
        got = f"{frames:,} where the longest trajectory has {longest:,} frames"
        raise parameter_error(name, "smaller than the number of frames of a trajectory", got)
    return frames


def as_lags(lags: Any, parts: Sequence[Array]) -> NDArray[np.intp]:
    """Return distinct numbers of frames, ascending."""
    values = as_real(lags, "lags").ravel().tolist()
    if not values:
        raise parameter_error("lags", "at least one number of frames", "none")
    return np.unique([as_lag(value, parts, "lags") for value in values])


def as_time_step(dt: Any) -> float:
    """Return the time between two frames."""
    return as_number(dt, "dt", "a positive number", float(np.finfo(np.float64).tiny))


def block_length(parts: Sequence[Array], lag: int) -> int:
    """Return the number of frames of a block."""
    frames = sum(map(len, parts))
    memory = SHORTEST_BLOCK * integrated_time(max(parts, key=len))
    length = np.clip(memory, frames / ENOUGH_BLOCKS, frames / FEWEST_BLOCKS)
    return max(lag + 1, int(length))


def integrated_time(X: NDArray[Any]) -> float:
    """Estimate the memory of rows in their order: the largest 1 + 2 sum_s corr(x_t, x_t+s).

    The mean of a column with the integrated time tau has the variance of n / tau independent rows.
    The sum ends by Geyer's initial monotone sequence. Many columns are seen along ten directions.
    """
    X = X[:SERIES_ROWS]
    n = len(X)
    # Scale first, so that squares neither overflow nor underflow.
    if X.shape[1] <= SERIES_COLUMNS:
        X = as_contiguous(X)
        X = X / _nonzero(np.abs(X).max(axis=0))
    else:
        size = _nonzero(max(np.abs(as_contiguous(X[part])).max() for part in small_parts(X)))
        some = as_contiguous(X[np.linspace(0, n - 1, min(n, DIRECTION_ROWS)).astype(np.intp)])
        some = some / size
        some = some - some.mean(axis=0)
        directions = some.T @ np.linalg.eigh(some @ some.T)[1][:, -SERIES_COLUMNS:] / size
        X = np.concatenate([as_contiguous(X[part]) @ directions for part in small_parts(X)])
    X = X - X.mean(axis=0)
    # Zeros keep the end of the series apart from its beginning.
    length = next_fast_len(2 * n, real=True)
    covariance = irfft(np.abs(rfft(X, length, axis=0)) ** 2, length, axis=0)[: n - n % 2]
    varies = (X**2).sum(axis=0) > n * 1e-28
    if not varies.any():
        return 1.0
    correlation = covariance[:, varies] / covariance[0, varies]
    pairs = np.minimum.accumulate(correlation[::2] + correlation[1::2], axis=0)
    return max(1.0, float(2 * np.maximum(pairs, 0.0).sum(axis=0).max() - 1))


def _nonzero(size: Any) -> Any:
    return np.where(size > 0, size, 1.0)


@dataclass(frozen=True, eq=False)
class Displacements:
    """Diffusion coefficients from displacements over several lags.

    Parameters
    ----------
    lags, times
        Numbers of frames (m,), and the times (m,) that they take.
    D, errors
        The diffusion coefficients (m, d) of each column, and their standard errors.
    """

    lags: NDArray[np.intp]
    times: Array
    D: Array
    errors: Array

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients over times, with two standard errors (extra `plot`).

        Returns the matplotlib axes, new ones if none are given.
        """
        if ax is None:
            ax = pyplot().subplots(figsize=(6.4, 4.2), layout="tight")[1]
        for j, (D, error) in enumerate(zip(self.D.T, self.errors.T, strict=True)):
            ax.errorbar(self.times, D, 2 * error, marker="o", capsize=2, label=f"column {j}")
        ax.set(xscale="log", yscale="log", xlabel="time of displacement", ylabel="D")
        ax.legend(frameon=False)
        return ax

    def __str__(self) -> str:
        lines = [f"{'lag':>8}{'time':>12}  D of each column, and its standard error"]
        for lag, time, row, errors in zip(self.lags, self.times, self.D, self.errors, strict=True):
            numbers = "".join(
                f"{D:>12.4g} ± {error:<8.1e}" for D, error in zip(row, errors, strict=True)
            )
            lines.append(f"{lag:>8}{time:>12.4g}{numbers}".rstrip())
        return "\n".join(lines)


def displacements(trajectories: Any, lags: Any, *, dt: float = 1.0) -> Displacements:
    """Estimate diffusion coefficients E[(x_(t + lag) - x_t)^2] / (2 lag dt) over several lags.

    At lags short enough that forces hardly move a frame, and long enough that inertia and noise of
    the measurement are forgotten, they do not depend on the lag. Where there is no such lag, the
    columns do not diffuse as they are.

    Parameters
    ----------
    trajectories
        As in `ritz.lagged`.
    lags
        Numbers of frames.
    dt
        The time between two frames.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> steps = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> found = ritz.displacements(np.cumsum(steps, axis=0), [1, 2, 4], dt=0.5)
    >>> bool((abs(found.D - 1) < 3 * found.errors).all())
    True
    """
    parts = as_trajectories(trajectories)
    lags, dt = as_lags(lags, parts), as_time_step(dt)
    found = [mean_squares(*lagged(parts, int(lag))) for lag in lags]
    times = dt * lags
    values, errors = (np.array(rows) / (2 * times[:, None]) for rows in zip(*found, strict=True))
    return Displacements(lags, times, values, errors)


def mean_squares(X: Array, Y: Array, groups: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the mean squares (d,) of displacements, and standard errors from blocks."""
    # Division by the unit prevents overflow and underflow of the squares.
    unit = float(np.abs(Y - X).max()) or 1.0
    squares, count = ((Y - X) / unit) ** 2, np.bincount(groups)
    mean = squares.mean(axis=0)
    sums = np.stack([np.bincount(groups, column) for column in (squares - mean).T], axis=1)
    m = int((count > 0).sum())
    if m < 2:
        return unit**2 * mean, np.full(len(mean), np.inf)
    errors = np.sqrt(m / (m - 1) * (sums**2).sum(axis=0)) / len(X)
    return unit**2 * mean, unit**2 * errors
