"""A decomposition against klap's `fit`: time over sizes and kernels, and what both find."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import klap
import numpy as np

import ritz
from benchmarks import TINY
from benchmarks.compare import Comparison, PeerError, compare

K = 16
KERNELS: dict[str, tuple[Callable[[float], Any], Callable[[float], Any]]] = {
    "Gaussian": (
        ritz.Gaussian,
        lambda length: klap.GaussianKernel(sigma=2**0.5 * length),
    ),
    "exponential": (ritz.Exponential, lambda length: klap.ExponentialKernel(sigma=length)),
    "polynomial": (lambda length: ritz.Polynomial(3), lambda length: klap.PolynomialKernel(d=3)),
}


def fits(kernel: str, n: int, p: int, d: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a fit of ours and one of klap's to the same normal rows; both return eigenvalues."""
    logging.getLogger("klap").setLevel(logging.WARNING)
    X = np.random.default_rng(0).normal(size=(n, d))
    length = float(np.sqrt(d))
    own, peer = (make(length) for make in KERNELS[kernel])
    k = min(K, p // 2)

    def ours() -> Any:
        basis = ritz.Nystrom(own, p)
        return ritz.decompose(ritz.laplacian(), basis, X, k=k, random_state=0).values

    def theirs() -> Any:
        try:
            peer.fit(X, p=p, k=k)
        except np.linalg.LinAlgError as error:
            raise PeerError(error) from error
        return peer.eigenvalues

    return ours, theirs


def name_of(kernel: str, n: int, p: int, d: int) -> str:
    return f"fit, {kernel}, n={n:,}, p={p}, d={d}"


def case(kernel: str, n: int, p: int, d: int, repeats: int, warm: bool = True) -> Comparison:
    name = name_of(kernel, n, p, d)
    return compare(name, *fits(kernel, n, p, d), repeats, warm=warm, enough=0.0 if TINY else 1.0)


def cases() -> list[Comparison]:
    n, p, repeats = (500, 30, 1) if TINY else (10_000, 300, 3)
    return [case(kernel, n, p, 10, repeats) for kernel in KERNELS]


def large(repeats: int = 1) -> list[Comparison]:
    """Run n = 20,000, p = 1,000, d = 10, once each: klap takes one to two minutes."""
    n, p = (1000, 100) if TINY else (20_000, 1000)
    return [case(kernel, n, p, 10, repeats, warm=False) for kernel in ("Gaussian", "exponential")]


def grid() -> list[dict[str, object]]:
    """Run a grid of sizes, to see where ours is slower and where klap ends with an error."""
    sizes, functions = (1000, 10_000, 100_000), (30, 100, 300, 1000)
    if TINY:
        sizes, functions = (1000,), (30,)
    results: list[dict[str, object]] = []
    for kernel, n, p, d in product(KERNELS, sizes, functions, (3, 20)):
        if p < n and n * p**2 <= 2e10:
            # Once where klap takes up to a minute.
            long = n * p**2 > 5e9
            try:
                compared = case(kernel, n, p, d, 1 if long or TINY else 3, warm=not long)
            except PeerError as error:
                name = name_of(kernel, n, p, d)
                print(f"{name:<44} klap failed: {error}", flush=True)
                results.append({"case": name, "failed": str(error)})
                continue
            print(compared, flush=True)
            results.append(compared.record())
    return results


def eigenvalues() -> list[str]:
    """Return the first eight eigenvalues that each finds for normal rows: 0, d times 1, then 2."""
    lines = []
    for kernel, d in product(KERNELS, (3, 20)):
        for who, fit in zip(("ours", "klap"), fits(kernel, 1000, 30, d), strict=True):
            values = " ".join(f"{value:6.2f}" for value in np.sort(fit())[:8])
            lines.append(f"{kernel + f', d={d}, {who}':<28} {values}")
    return lines


if __name__ == "__main__":
    print("First eight eigenvalues, n = 1,000, p = 30")
    print("\n".join(eigenvalues()), flush=True)
    for comparison in cases():
        print(comparison, flush=True)
    if "--full" in sys.argv[1:]:
        for comparison in large():
            print(comparison, flush=True)
        grid()
