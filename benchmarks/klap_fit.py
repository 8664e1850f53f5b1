"""A whole decomposition against klap's `fit`: n = 10,000, p = 300, d = 10, sixteen eigenvalues."""

from __future__ import annotations

import logging

import klap
import numpy as np

import ritz
from benchmarks.compare import Comparison, compare

N, P, D, K = 10_000, 300, 10, 16


def cases(repeats: int) -> list[Comparison]:
    logging.getLogger("klap").setLevel(logging.WARNING)
    X = np.random.default_rng(0).normal(size=(N, D))
    length = float(np.sqrt(D))
    pairs = {
        "Gaussian": (ritz.Gaussian(length), lambda: klap.GaussianKernel(sigma=2**0.5 * length)),
        "exponential": (ritz.Exponential(length), lambda: klap.ExponentialKernel(sigma=length)),
        "polynomial": (ritz.Polynomial(3), lambda: klap.PolynomialKernel(d=3)),
    }
    return [
        compare(
            f"fit, {name}, n={N}, p={P}, d={D}",
            lambda kernel=kernel: ritz.decompose(
                ritz.laplacian(), ritz.Nystrom(kernel, P), X, k=K, random_state=0
            ),
            lambda peer=peer: peer().fit(X, p=P, k=K),
            repeats,
        )
        for name, (kernel, peer) in pairs.items()
    ]
