"""Partial derivatives of any order of a section of a distance kernel."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

from ritz.kernels.kernel import Kernel
from ritz.namespaces import namespace
from ritz.validation import Array

MultiIndex = tuple[int, ...]


def hermite_expansion(alpha: MultiIndex) -> list[tuple[int, MultiIndex, int]]:
    """List the terms of a partial derivative of q(u), u = |x - y|^2 / 2.

    d^a q(u) = sum over k with 2k <= a of prod_i a_i! / (k_i! (a_i - 2k_i)! 2^k_i)
    (x - y)^(a - 2k) q^(|a| - |k|)(u).

    Returns
    -------
    Triples (coefficient, powers of x - y, order of the derivative of q).
    """
    return [
        (
            prod(
                factorial(a) // (factorial(k) * factorial(a - 2 * k) * 2**k)
                for a, k in zip(alpha, ks, strict=True)
            ),
            tuple(a - 2 * k for a, k in zip(alpha, ks, strict=True)),
            sum(alpha) - sum(ks),
        )
        for ks in product(*(range(a // 2 + 1) for a in alpha))
    ]


def monomial(vectors: Array, alpha: MultiIndex) -> Array:
    """Return prod_i c_ji^alpha_i (p,) of vectors c (p, d)."""
    columns = [vectors[:, i] ** a for i, a in enumerate(alpha) if a]
    return prod(columns[1:], start=columns[0])


def partial_of_sections(kernel: Kernel, X: Array, Y: Array, u: Array, alpha: MultiIndex) -> Array:
    """Return d^alpha k(., y_j) at x_i for a distance kernel, (n, p).

    Parameters
    ----------
    kernel
        A distance kernel.
    X, Y
        Points (n, d) and centers (p, d), divided by the length scale.
    u
        Their invariants (n, p).
    alpha
        The multi-index, in the coordinates of X and Y.
    """
    order = sum(alpha)
    kernel.require_order(order)
    profiles = kernel.profile(u, order)
    differences = {i: X[:, i, None] - Y[:, i] for i, a in enumerate(alpha) if a}
    result: Array = namespace(u).zeros_like(u)
    for coefficient, powers, m in hermite_expansion(alpha):
        term = coefficient * profiles[m]
        for i, power in enumerate(powers):
            if power:
                term = term * differences[i] ** power
        result += term
    return result
