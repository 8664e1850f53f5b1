"""Gaussian samples: Hermite polynomials diagonalize the energy, d/dx, and correlated pairs."""

from functools import partial

import numpy as np

from ritz.datasets.problem import Problem, SingularProblem
from ritz.datasets.separable import Separable
from ritz.validation import Array, as_count, as_number, parameter_error

__all__ = ["derivative", "gaussian", "gaussian_pair"]


def gaussian(dimension: int = 1, scale: float = 1.0) -> Problem:
    r"""Gaussian samples with the ambient energy (the Ornstein-Uhlenbeck operator).

    .. math:: \rho = N(0, s^2 I), \qquad \lambda_a = \frac{a_1 + \dots + a_d}{s^2}, \qquad
        f_a(x) = \prod_i He_{a_i}(x_i / s) / \sqrt{a_i!}.

    Parameters
    ----------
    dimension : int
        The dimension d.
    scale : float
        The standard deviation s.

    Returns
    -------
    Problem

    """
    d = as_count(dimension, "dimension")
    s = as_number(scale, "scale", "a positive number", float(np.finfo(np.float64).tiny))
    if not 1e-150 < s < 1e150:
        raise parameter_error("scale", "between 1e-150 and 1e150", s)
    hermite = Separable(_identity, _table, partial(_divide, s), (1.0,) * d, 1 / s**2)
    return Problem(
        name=f"gaussian(dimension={d}, scale={s:g})",
        dimension=d,
        sampler=partial(_normal, d, s),
        spectrum=hermite.eigenvalues,
        functions=hermite.eigenfunctions,
    )


def derivative() -> SingularProblem[Array]:
    r"""Gaussian samples in one dimension with the form f g', smallest singular values first.

    .. math:: H(f, g, x) = f(x) g'(x), \qquad \sigma_s = \sqrt s, \qquad
        g_s = He_s / \sqrt{s!}, \qquad f_s = g_{s-1}.

    The constant g_0 has no left partner, since every function is a derivative, so the first left
    function is 0. In more dimensions each singular value sqrt(s) has infinite multiplicity (any
    function of the other coordinates), so this problem has one dimension only.

    Returns
    -------
    SingularProblem

    """
    return SingularProblem(
        name="derivative()",
        dimension=1,
        energy="derivative",
        sampler=partial(_normal, 1, 1.0),
        spectrum=_square_roots,
        left=_shifted_polynomials,
        right=_polynomials,
    )


def gaussian_pair(correlation: float = 0.5) -> SingularProblem[tuple[Array, Array]]:
    r"""Correlated pairs of Gaussian numbers with the form f(x) g(y), largest singular value first.

    .. math:: H(f, g, (x, y)) = f(x) g(y), \qquad \sigma_s = r^s, \qquad
        f_s = g_s = He_s / \sqrt{s!}.

    The singular value 1 has constant functions. For a negative correlation change the sign of y.

    Parameters
    ----------
    correlation : float
        The correlation r, in [0, 1).

    Returns
    -------
    SingularProblem
        `sample` returns the pair (X, Y), each of shape (n, 1).

    """
    r = as_number(correlation, "correlation", "a number in [0, 1)", lowest=0.0)
    if r >= 1:
        raise parameter_error("correlation", "a number in [0, 1)", r)
    return SingularProblem(
        name=f"gaussian_pair(correlation={r:g})",
        dimension=1,
        energy="cross",
        sampler=partial(_pair, r),
        spectrum=partial(_powers, r),
        left=_polynomials,
        right=_polynomials,
    )


def _table(u: Array, m: int) -> Array:
    """Return He_s(u) / sqrt(s!) for s < m, (n, m).

    The recurrence normalizes at each step: NumPy's `hermevander` overflows beyond degree 300.
    """
    h = np.ones((len(u), m))
    if m > 1:
        h[:, 1] = u
    for s in range(1, m - 1):
        h[:, s + 1] = (u * h[:, s] - np.sqrt(s) * h[:, s - 1]) / np.sqrt(s + 1)
    return h


def _polynomials(X: Array, k: int) -> Array:
    return _table(X[:, 0], k)


def _shifted_polynomials(X: Array, k: int) -> Array:
    return np.hstack([np.zeros((len(X), 1)), _table(X[:, 0], k)[:, : k - 1]])


def _square_roots(k: int) -> Array:
    return np.sqrt(np.arange(k, dtype=np.float64))


def _powers(r: float, k: int) -> Array:
    return np.power(r, np.arange(k, dtype=np.float64))


def _normal(d: int, s: float, n: int, rng: np.random.Generator) -> Array:
    return s * rng.standard_normal((n, d))


def _pair(r: float, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X, Z = rng.standard_normal((2, n, 1))
    return X, r * X + np.sqrt(1 - r**2) * Z


def _identity(a: int) -> int:
    return a


def _divide(s: float, X: Array) -> Array:
    return X / s
