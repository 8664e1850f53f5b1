"""The marginal likelihood of observed values and derivatives, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import cdist

from ritz.hermite.functionals import CovarianceTerms, Functionals
from ritz.kernels import Kernel
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The Gaussian law z ~ N(c v, s^2 (K + noise)) of observed functionals of a random function.

    K is the covariance of a distance kernel with one length scale a coordinate, v is 1 for values
    and 0 for derivatives, and the noise is one variance for values and one for derivatives,
    divided by the weights. The constant c and the amplitude s have their best values.

    Parameters
    ----------
    kernel
        The kernel; lengths are multiples of its own length scales.
    functionals, targets, weight
        What was observed (n,), the numbers z (n, outputs), and their weights (n,).
    constant
        Whether there is a constant c.
    squares, n_merged
        For z that are means of repeated observations: the weighted squares (2, outputs) of values
        and derivatives about those means, and how many numbers (2,) were merged.
    """

    kernel: Kernel
    functionals: Functionals
    targets: Array
    weight: Array
    constant: bool = True
    squares: Array = field(default_factory=lambda: np.zeros((2, 1)))
    n_merged: Array = field(default_factory=lambda: np.zeros(2, dtype=int))

    def take(self, which: NDArray[np.intp]) -> Likelihood:
        """Return the likelihood of some of the numbers."""
        return replace(
            self,
            functionals=self.functionals.take(which),
            targets=self.targets[which],
            weight=self.weight[which],
        )

    @cached_property
    def is_value(self) -> NDArray[np.bool_]:
        """Which functionals (n,) are values."""
        return self.functionals.is_value

    @cached_property
    def _scale(self) -> Array:
        """The kernel's own length scales (d,)."""
        return self.kernel.scales(self.functionals.points.shape[1])

    @cached_property
    def _distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """The distinct points, and the one (n,) of each functional."""
        points, which = np.unique(self.functionals.points, axis=0, return_inverse=True)
        return points, which.reshape(-1)

    def __call__(self, lengths: Array, noise: Array) -> tuple[float, Array, Array]:
        """Return -log p(z), and its derivatives in log lengths (d,) and in log noise (2,)."""
        n, outputs = self.targets.shape
        scale, F = lengths * self._scale, self.functionals
        F = Functionals(F.points / scale, F.directions / scale, F.values)
        # Many functionals share a point, so distances are those of the distinct points.
        points, which = self._distinct
        u = (cdist(points / scale, points / scale, "sqeuclidean") / 2)[which][:, which]
        terms = CovarianceTerms.of(self.kernel, F, F)
        q = self.kernel.profile(u, 1 if self.is_value.all() else 3)
        K = terms.covariance(q[:-1])
        K[np.diag_indices(n)] += np.where(self.is_value, noise[0], noise[1]) / self.weight
        R, failed = dpotrf(K, lower=1)
        if failed:
            R = robust_cholesky(K)
        log_det = np.log(np.diag(R)).sum()
        inverse = dpotri(R, lower=1, overwrite_c=1)[0]
        inverse += np.tril(inverse, -1).T
        centered = self.targets
        if self.constant and self.is_value.any():
            weight = inverse @ F.values
            centered = centered - np.outer(F.values, weight @ centered / (weight @ F.values))
        alpha = inverse @ centered
        # Within a mean of repeated observations there is noise alone.
        merged, n_merged = self.squares / noise[:, None], self.n_merged
        total = n + n_merged.sum()
        amplitude = np.einsum("ij,ij->j", centered, alpha) + merged.sum(axis=0)
        amplitude = np.maximum(amplitude / total, 1e-300)
        value = total / 2 * np.log(amplitude).sum() + outputs * log_det
        value += outputs / 2 * (n_merged @ np.log(noise))
        # The differential is tr(M dK) / 2.
        M = outputs * inverse - (alpha / amplitude) @ alpha.T
        diagonal = np.diag(M) / self.weight
        in_noise = noise / 2 * [diagonal[self.is_value].sum(), diagonal[~self.is_value].sum()]
        in_noise += outputs / 2 * n_merged - (merged / amplitude).sum(axis=1) / 2
        return float(value), in_log_lengths(F, terms, q, M) / 2, in_noise


def in_log_lengths(F: Functionals, terms: CovarianceTerms, q: tuple[Array, ...], M: Array) -> Array:
    """Return tr(M dK / d log l_i) for each coordinate i, for functionals F in length scales.

    As l_i grows, the differences D = x_i - y_i and the components a_i and b_i of the directions
    shrink in proportion, so that du = -D^2, da = -2 D a_i, db = 2 D b_i and dc = 2 a_i b_i.
    """
    X, A = F.points - F.points.mean(axis=0), F.directions
    with_slopes = len(q) == 4
    in_u = q[1] * terms.values
    if with_slopes:
        in_u += q[2] * terms.mixed
        in_u += q[3] * terms.both
    in_u *= M
    # sum_jk D_jk^2 in_u_jk for each coordinate.
    sums = in_u.sum(axis=1) + in_u.sum(axis=0)
    result = 2 * np.einsum("ji,ji->i", X, in_u @ X) - sums @ X**2
    if with_slopes:
        # As M is symmetric, the terms of da and of db are equal.
        in_c = M * q[1]
        in_a = q[2] * terms.b
        in_a *= M
        in_a += in_c * terms.w
        result -= 4 * (A * (in_a.sum(axis=1)[:, None] * X - in_a @ X)).sum(axis=0)
        result += 2 * np.einsum("ji,ji->i", A, in_c @ A)
    return np.asarray(result)


def robust_cholesky(K: Array) -> Array:
    """Return the lower Cholesky factor of K, adding to its diagonal if rounding makes it needed.

    What is added is a share of the diagonal, up to 1e-12.
    """
    diagonal = np.diag(K).copy()
    for share in (0.0, 1e-15, 1e-14, 1e-13, 1e-12):
        np.fill_diagonal(K, diagonal + share * diagonal)
        try:
            return np.asarray(cholesky(K, lower=True, check_finite=False))
        except LinAlgError:
            continue
    raise LinAlgError("The covariance is not positive definite.")
