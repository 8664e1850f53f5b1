"""Length scales and noise by maximum marginal likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import Bounds, minimize

from ritz.hermite.likelihood import Likelihood
from ritz.hermite.observations import Batch
from ritz.kernels import Kernel
from ritz.threads import solver_threads
from ritz.validation import Array

# A length scale, in standard deviations of its column, beyond which the gradient vanishes: a
# descent does not come back from there.
FAR = 100.0


@dataclass(frozen=True, eq=False)
class LengthFit:
    """A maximum of the marginal likelihood.

    It consists of length scales (d,), of the variances (2,) of the noise of values and derivatives
    relative to the function's own, and of the negative logarithm of the likelihood.
    """

    lengths: Array
    noise: Array
    value: float


def fit_lengths(
    kernel: Kernel, batch: Batch, constant: bool, seed: int, start: LengthFit | None = None
) -> LengthFit | None:
    """Return the length scales and noise of maximum likelihood, or None with fewer than two rows.

    Parameters
    ----------
    kernel, batch
        A distance kernel of unit length scales, and what was observed at some rows.
    constant
        Whether the function has a constant of its own.
    seed
        A seed, for subsamples.
    start
        The maximum for fewer rows, from which fifteen steps are taken.
    """
    F, targets, weight, _ = batch.numbers()
    # Derivatives have a covariance only where the kernel has two derivatives.
    twice = kernel.smoothness is None or kernel.smoothness >= 2
    usable = np.flatnonzero(F.is_value | twice)
    if len(batch.X) < 2 or len(usable) < 2:
        return None
    F, targets, weight = F.take(usable), targets[usable], weight[usable]
    unit = float(weight.mean())
    squares = batch.squares / unit
    likelihood = Likelihood(kernel, F, targets, weight / unit, constant, squares, batch.n_merged)
    if start is None:
        fit = maximize_in_two_stages(likelihood, seed)
    else:
        theta = inside_bounds(likelihood, start.lengths, start.noise / unit)
        with solver_threads(len(F)):
            fit = descend(likelihood, theta, 15)
    noise = fit.noise * unit
    counts = F.is_value.sum(), (~F.is_value).sum()
    if min(counts) < 10:
        # Fewer than ten numbers of a kind do not determine the noise of that kind.
        noise = np.full(2, noise[np.argmax(counts)])
    return replace(fit, noise=noise)


def maximize_in_two_stages(likelihood: Likelihood, seed: int) -> LengthFit:
    """Maximize the likelihood, with more than 300 numbers that of a third of them first."""
    n = len(likelihood.functionals)
    if n <= 300:
        return maximize(likelihood)
    some = np.random.default_rng(seed).choice(n, n // 3, replace=False)
    start = maximize(likelihood.take(np.sort(some)))
    start = replace(start, lengths=np.minimum(start.lengths, FAR))
    return maximize(likelihood, start=start)


def maximize(likelihood: Likelihood, steps: int = 60, start: LengthFit | None = None) -> LengthFit:
    """Maximize the likelihood, of points in standard units, over length scales and noise.

    It can have several maxima, so up to eighteen starts are evaluated. L-BFGS descends from the two
    best, or from the best one where a start is given, which is then compared with the others.
    """
    d = likelihood.functionals.points.shape[1]
    # Exact values and derivatives, noisy ones, or derivatives that contradict the values.
    noises = [(1e-6, 1e-6), (1e-2, 1e-2), (1e-2, 1.0)]
    if likelihood.is_value.all() or not likelihood.is_value.any():
        noises = noises[:2]
    starts = [
        inside_bounds(likelihood, np.full(d, length * np.sqrt(d)), np.array(noise))
        for length in (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
        for noise in noises
    ]
    if start is not None:
        starts.append(inside_bounds(likelihood, start.lengths, start.noise))
    with solver_threads(len(likelihood.functionals)):
        tried = [(*objective(theta, likelihood), theta) for theta in starts]
        # With lengths far below the distances of the points the gradient vanishes: no start.
        usable = [one for one in tried if np.abs(one[1][:d]).max() > 1e-3]
        if start is not None:
            usable.insert(0, tried[-1])
        best = sorted(usable or tried, key=lambda one: one[0])[: 2 if start is None else 1]
        fits = [descend(likelihood, theta, steps) for _, _, theta in best]
        found = min(fits, key=lambda fit: fit.value)
        if (found.lengths > FAR).any():
            # Noise may have stood for what a coordinate does. Start again with hardly any.
            theta = inside_bounds(likelihood, np.minimum(found.lengths, FAR), np.full(2, 1e-8))
            again = descend(likelihood, theta, steps)
            # Likelihoods that differ by less than a factor of e are no evidence.
            found = again if again.value < found.value - 1.0 else found
    return found


def least_noise(likelihood: Likelihood) -> float:
    """Return the noise below which rounding of the covariance would decide the length scales."""
    return float(np.finfo(np.float64).eps) / 2 * len(likelihood.functionals)


def bounds(likelihood: Likelihood) -> Array:
    """Return the lower and upper bounds (2, d + 2) of log lengths and log noise."""
    d = likelihood.functionals.points.shape[1]
    # Points have unit deviation: beyond 1e5 a coordinate has no effect, below 0.02 all of them.
    return np.log([(0.02, 1e5)] * d + [(least_noise(likelihood), 1e2)] * 2).T


def inside_bounds(likelihood: Likelihood, lengths: Array, noise: Array) -> Array:
    """Return the logarithms (d + 2,) of lengths and noise, clipped to the bounds."""
    return np.asarray(np.clip(np.log(np.concatenate([lengths, noise])), *bounds(likelihood)))


def objective(theta: Array, likelihood: Likelihood) -> tuple[float, Array]:
    """Return the function to be minimized and its gradient, of log lengths and log noise."""
    d = len(theta) - 2
    try:
        with np.errstate(all="ignore"):
            value, in_lengths, in_noise = likelihood(np.exp(theta[:d]), np.exp(theta[d:]))
    except LinAlgError:
        return 1e25, np.zeros_like(theta)
    if not (np.isfinite(value) and np.isfinite(in_lengths).all()):
        return 1e25, np.zeros_like(theta)
    # A prior: the noise of derivatives, in units of the range of a uniform variable (variance
    # 1/12), is that of values within a factor of e^3.
    apart = (theta[d] - theta[d + 1] - np.log(12.0)) / 3.0
    in_noise = in_noise + np.array([apart, -apart]) / 3.0
    return value + apart**2 / 2, np.concatenate([in_lengths, in_noise])


def descend(likelihood: Likelihood, theta: Array, steps: int) -> LengthFit:
    """Return the minimum that L-BFGS finds from a start theta, in some steps."""
    found = minimize(
        objective,
        theta,
        args=(likelihood,),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(*bounds(likelihood)),
        options={"maxiter": steps},
    )
    lengths, noise = np.exp(found.x[:-2]), np.exp(found.x[-2:])
    observed = [bool(likelihood.is_value.any()), not likelihood.is_value.all()]
    if (noise[observed] < 1.5 * least_noise(likelihood)).all():
        # At the lower bound the data have no noise that the covariance can resolve. QR does not
        # square the condition number, and resolves penalties a thousand times smaller.
        noise = noise / 1e3
    return LengthFit(lengths, noise, float(found.fun))
