"""Standard units, in which inputs and values have mean zero and standard deviation one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.rows import row_slices
from ritz.streams.stream import CHUNK_ROWS
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Units:
    """The change of units x = x_mean + x_scale x' (d,), f = y_mean + y_scale f' (outputs,)."""

    file_tag: ClassVar[str] = "Units"

    x_mean: Array
    x_scale: Array
    y_mean: Array
    y_scale: Array

    def standardize(self, X: NDArray[Any]) -> Array:
        """Return points (n, d) in standard units."""
        return np.asarray((X - self.x_mean) / self.x_scale)


def units_of(
    X: NDArray[Any],
    y: NDArray[Any],
    t: NDArray[Any] | None,
    weights: tuple[Array, Array],
    *,
    partials: bool,
    rescale: bool,
    constant: bool,
) -> Units:
    """Return the standard units of rows X, values y and derivatives t, with weights of both.

    `partials` says whether t are partial derivatives, `rescale` whether to standardize X, and
    `constant` whether to subtract the mean of y.
    """
    eps, d = np.finfo(np.float64).eps, X.shape[1]
    x_mean, x_scale = np.zeros(d), np.ones(d)
    if rescale:
        x_mean, x_scale = mean_and_deviation(X, weights[0] + weights[1])
    # Where the deviation is the rounding error of the mean, the numbers are constant.
    x_scale = np.where(x_scale > 8 * eps * np.abs(x_mean), x_scale, 1.0)
    mean, scale = mean_and_deviation(y, weights[0])
    scale = np.where(scale > 8 * eps * np.abs(mean), scale, 0.0)
    if not constant:
        mean, scale = np.zeros_like(mean), np.sqrt(scale**2 + mean**2)
    mean = np.where(np.isfinite(mean), mean, 0.0)
    if t is not None and not (scale > 0).all():
        # Values that are constant or not observed have the scale of the largest derivative.
        moments = mean_and_deviation(t.reshape(len(t), -1), weights[1])
        rms = np.hypot(*moments).reshape(t.shape[1:])
        if partials:
            rms = rms * x_scale[:, None]
        scale = np.where(scale > 0, scale, np.nan_to_num(rms).max(axis=0))
    # Without any scale, that of the constant; and where all is zero, one.
    scale = np.where(np.isfinite(scale) & (scale > 0), scale, np.abs(mean))
    return Units(x_mean, x_scale, mean, np.where(scale > 1e-290, scale, 1.0))


def mean_and_deviation(A: NDArray[Any], weight: Array) -> tuple[Array, Array]:
    """Return weighted means and standard deviations of columns without NaN, chunk by chunk.

    Squares are summed about the mean so far. Of columns without any number both are NaN.
    """
    total, mean, squares = (np.zeros(A.shape[1]) for _ in range(3))
    for part in row_slices(len(A), CHUNK_ROWS):
        some = np.asarray(A[part], dtype=np.float64)
        w = np.where(np.isnan(some), 0.0, weight[part][:, None])
        some = np.where(w > 0, some, 0.0)
        here = w.sum(axis=0)
        own = np.divide((w * some).sum(axis=0), here, out=mean.copy(), where=here > 0)
        both = np.where(total + here > 0, total + here, 1.0)
        squares += (w * (some - own) ** 2).sum(axis=0) + (own - mean) ** 2 * total * here / both
        mean += (own - mean) * here / both
        total += here
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, mean, np.nan), np.sqrt(squares / total)
