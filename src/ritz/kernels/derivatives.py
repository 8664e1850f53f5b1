"""Partial derivatives of a kernel section, of any order and for both families, by one formula."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import numpy as np

from ritz.kernels.kernel import Kernel
from ritz.validation import Array

MultiIndex = tuple[int, ...]


def hermite_expansion(alpha: MultiIndex, *, distance: bool) -> list[tuple[int, MultiIndex, int]]:
    r"""List the terms of a partial derivative of q(u), u = x.y or u = |x - y|^2 / 2.

    d^a q(u) = sum over k with 2k <= a of h^|k| prod_i a_i! / (k_i! (a_i - 2k_i)! 2^k_i)
    (grad u)^(a - 2k) q^(|a| - |k|)(u), with h = 1 for distances and h = 0 for dot products.

    Returns
    -------
    Triples (coefficient, power of grad u, order of q).
    """
    halves = product(*(range(a // 2 + 1) for a in alpha)) if distance else [(0,) * len(alpha)]
    return [
        (
            prod(
                factorial(a) // (factorial(k) * factorial(a - 2 * k) * 2**k)
                for a, k in zip(alpha, ks, strict=True)
            ),
            tuple(a - 2 * k for a, k in zip(alpha, ks, strict=True)),
            sum(alpha) - sum(ks),
        )
        for ks in halves
    ]


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
    result = np.zeros_like(u)
    for coefficient, powers, m in hermite_expansion(alpha, distance=True):
        term = coefficient * profiles[m]
        for i, power in enumerate(powers):
            if power:
                term = term * differences[i] ** power
        result += term
    return result
