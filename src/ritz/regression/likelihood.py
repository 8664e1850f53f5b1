"""Length scales and noise by marginal likelihood, from a few values and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from ritz.arrays import Array
from ritz.bases.functionals import Functionals, Invariants, order_of
from ritz.kernels import Kernel
from ritz.threads import blas_threads, keep_freed_memory, one_library

SHORTEST, LONGEST = 0.02, 1e5
LOUD = 1e2
EPS = float(np.finfo(np.float64).eps)
ALIKE, RANGE = 3.0, np.sqrt(12.0)
UNSEEN = 1.5
SQUARED = 1e3
SMALL = 300
DEAD = 1e-3
STARTS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
# Of values and of derivatives: both exact, both noisy, or slopes that values do not bear out.
NOISES = ((1e-6, 1e-6), (1e-2, 1e-2), (1e-2, 1.0))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The law z ~ N(c v, s^2 (K + noise)) of observed functionals of a random function.

    K is the covariance of a kernel with one length scale a coordinate, v is 1 for values and 0 for
    derivatives, and the noise is one number for values and another for derivatives. The constant c
    and the amplitude s have their best values in closed form.

    Parameters
    ----------
    kernel
        The kernel of length scales (d,).
    functionals
        What was observed (n,).
    observed, weight
        The numbers z (n, outputs), and weights (n,) that divide their noise.
    constant
        Whether there is a constant c.
    squares, away
        The weighted squares (2, outputs) of values and derivatives about the means that stand for
        them, and how many numbers (2,) those means replace.
    """

    kernel: Callable[[Array], Kernel]
    functionals: Functionals
    observed: Array
    weight: Array
    constant: bool = True
    squares: Array = field(default_factory=lambda: np.zeros((2, 1)))
    away: tuple[int, int] = (0, 0)

    def take(self, which: NDArray[np.intp]) -> Likelihood:
        """Return the likelihood of some of the numbers."""
        return replace(
            self,
            functionals=self.functionals.take(which),
            observed=self.observed[which],
            weight=self.weight[which],
        )

    def __call__(self, lengths: Array, noise: Array) -> tuple[float, Array, Array]:
        """Return -log p(z), and its derivatives in log lengths (d,) and in log noise (2,)."""
        F, kernel = self.functionals, self.kernel(lengths)
        n, outputs = self.observed.shape
        parts = Invariants.of(kernel, F, F)
        order = order_of(F, F)
        q = kernel.profile(parts.u, order + 1)
        K = parts.covariance(q[: 1 + order])
        told = F.values == 1.0
        K[np.diag_indices(n)] += np.where(told, noise[0], noise[1]) / self.weight
        R = root(K)
        inverse = dpotri(R, lower=1)[0]
        inverse = inverse + np.tril(inverse, -1).T
        rest = self.observed
        if self.constant and told.any():
            weight = inverse @ F.values
            rest = rest - np.outer(F.values, weight @ rest / (weight @ F.values))
        alpha = inverse @ rest
        # What was merged into means has noise alone.
        own = self.squares / noise[:, None]
        total, away = n + sum(self.away), np.array(self.away)
        amplitude = np.einsum("ij,ij->j", rest, alpha) + own.sum(axis=0)
        amplitude = np.maximum(amplitude / total, 1e-300)
        value = total / 2 * np.log(amplitude).sum() + outputs * np.log(np.diag(R)).sum()
        value += outputs / 2 * (away @ np.log(noise))
        # d value = tr(M dK) / 2.
        M = outputs * inverse - (alpha / amplitude) @ alpha.T
        diagonal = np.diag(M) / self.weight
        slopes = np.array(
            [noise[0] * diagonal[told].sum() / 2, noise[1] * diagonal[~told].sum() / 2]
        )
        slopes += outputs / 2 * away - (own / amplitude).sum(axis=1) / 2
        return float(value), self._in_lengths(kernel, parts, q, M) / 2, slopes

    def _in_lengths(
        self, kernel: Kernel, parts: Invariants, q: tuple[Array, ...], M: Array
    ) -> Array:
        """Return tr(M dK / d log l_i) for each coordinate i.

        As l_i grows, the differences D = x_i - y_i and the directions' a_i and b_i shrink in
        proportion, so that du = -D^2, da = -2 D a_i, db = 2 D b_i and dc = 2 a_i b_i.
        """
        F = self.functionals
        scale = kernel.scales(F.points.shape[1])
        X, A = F.points / scale, F.directions / scale
        X = X - X.mean(axis=0)
        last = len(q) == 4
        in_u = q[1] * (parts.v * parts.w)
        in_a = in_c = None
        if last:
            mixed = parts.v * parts.b + parts.w * parts.a + parts.c
            in_u += q[2] * mixed + q[3] * (parts.a * parts.b)
            in_a = M * (q[1] * parts.w + q[2] * parts.b)
            in_c = M * q[1]
        in_u *= M
        # sum_jk D_jk^2 P_jk, by coordinates.
        result = -(
            in_u.sum(axis=1) @ X**2
            + in_u.sum(axis=0) @ X**2
            - 2 * np.einsum("ji,ji->i", X, in_u @ X)
        )
        if in_a is not None and in_c is not None:
            # M is symmetric: what b brings is what a brings.
            along = A * (in_a.sum(axis=1)[:, None] * X - in_a @ X)
            result -= 4 * along.sum(axis=0)
            result += 2 * np.einsum("ji,ji->i", A, in_c @ A)
        return np.asarray(result)


def root(K: Array) -> Array:
    """Return the Cholesky factor of K, with as little added to its diagonal as rounding asks."""
    for added in (0.0, 1e-15, 1e-14, 1e-13, 1e-12):
        try:
            shifted = K + added * np.diag(np.diag(K))
            return np.asarray(cholesky(shifted, lower=True, overwrite_a=True, check_finite=False))
        except LinAlgError:
            continue
    raise LinAlgError("The covariance is not positive.")


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the likelihood says.

    Parameters
    ----------
    lengths
        Length scales (d,).
    noise
        The noise of values and of derivatives, relative to the function's own variance.
    value
        The negative logarithm of the likelihood.
    """

    lengths: Array
    noise: Array
    value: float


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the length scales (d,) and the noise (2,) of most likelihood, by logarithms."""

    likelihood: Likelihood
    dimension: int

    @property
    def quiet(self) -> float:
        """The least noise: below it rounding of the covariance decides which lengths are likely."""
        return EPS / 2 * len(self.likelihood.functionals)

    @property
    def box(self) -> list[tuple[float, float]]:
        """The bounds of each logarithm."""
        lengths, noise = (SHORTEST, LONGEST), (self.quiet, LOUD)
        pairs = [lengths] * self.dimension + [noise] * 2
        return [(float(np.log(low)), float(np.log(high))) for low, high in pairs]

    def inside(self, lengths: Array, noise: Array | tuple[float, float]) -> Array:
        """Return a place to begin from, within the bounds."""
        low, high = np.transpose(self.box)
        return np.asarray(np.clip(np.log(np.concatenate([lengths, noise])), low, high))

    def objective(self, theta: Array) -> tuple[float, Array]:
        """Return what is to be least, and its gradient."""
        d = self.dimension
        try:
            with np.errstate(all="ignore"):
                value, in_lengths, in_noise = self.likelihood(np.exp(theta[:d]), np.exp(theta[d:]))
        except LinAlgError:
            return 1e25, np.zeros_like(theta)
        if not (np.isfinite(value) and np.isfinite(in_lengths).all()):
            return 1e25, np.zeros_like(theta)
        # Noise of both kinds is alike, in units of a uniform variable's range, unless the data
        # say otherwise.
        apart = (theta[d] - theta[d + 1] - 2 * np.log(RANGE)) / ALIKE
        value += apart**2 / 2
        in_noise = in_noise + np.array([apart, -apart]) / ALIKE
        return value, np.concatenate([in_lengths, in_noise])

    def descend(self, theta: Array, steps: int) -> tuple[float, Array]:
        """Return the least value found in some steps from a place, and where."""
        found = minimize(
            self.objective,
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=self.box,
            options={"maxiter": steps},
        )
        return float(found.fun), found.x

    def fitted(self, value: float, theta: Array) -> Fitted:
        """Return what was found."""
        noise = np.exp(theta[self.dimension :])
        told = self.likelihood.functionals.values == 1.0
        # Of what was not observed there is no noise to be found.
        seen = [bool(told.any()), not told.all()]
        if (noise < UNSEEN * self.quiet)[seen].all():
            # Rounding of the covariance hides all there is. Least squares by QR square nothing, and
            # tell far smaller penalties from none.
            noise = noise / SQUARED
        return Fitted(np.exp(theta[: self.dimension]), noise, value)

    def threads(self) -> AbstractContextManager[Any]:
        """Let the linear algebra use the cores where that helps."""
        keep_freed_memory()
        few = len(self.likelihood.functionals) < SMALL
        return blas_threads(1) if few else one_library()


def most_likely(
    likelihood: Likelihood, dimension: int, steps: int = 60, start: Fitted | None = None
) -> Fitted:
    """Maximize the likelihood over length scales, in units of the points' spread, and noise.

    Parameters
    ----------
    likelihood
        The likelihood.
    dimension
        The number d of length scales.
    steps
        How many steps to take at most.
    start
        A place to begin from, if it is more likely than those that are always tried.
    """
    d, search = dimension, Search(likelihood, dimension)
    told = likelihood.functionals.values == 1.0
    starts = [
        search.inside(np.full(d, length * np.sqrt(d)), noise)
        for length in STARTS
        # Of one kind the noise of the other says nothing.
        for noise in (NOISES if told.any() and not told.all() else NOISES[:2])
    ]
    if start is not None:
        starts.append(search.inside(start.lengths, start.noise))
    with search.threads():
        tried = [(theta, *search.objective(theta)) for theta in starts]
        # Where lengths are far below the distances of the points, they change nothing.
        alive = [place for place in tried if np.abs(place[2][:d]).max() > DEAD]
        own = [] if start is None else tried[-1:]
        starts = [theta for theta, *_ in sorted(own + alive or tried, key=lambda place: place[1])]
        few = starts[: 2 if start is None else 1]
        ends = [search.descend(theta, steps) for theta in few]
    return search.fitted(*min(ends, key=lambda end: end[0]))


def more_likely(likelihood: Likelihood, dimension: int, start: Fitted, steps: int) -> Fitted:
    """Take some steps more from where the likelihood of fewer numbers was largest."""
    search = Search(likelihood, dimension)
    with search.threads():
        end = search.descend(search.inside(start.lengths, start.noise), steps)
    return search.fitted(*end)
