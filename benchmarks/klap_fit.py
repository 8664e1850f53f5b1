"""A whole decomposition against klap's `fit`, over sizes and kernels.

`python -m benchmarks.klap_fit` runs the smallest of all with and without a pause before each run:
after one, the machine has to fetch code and data from memory again. Then it prints what both found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import product
from typing import Any

import klap
import numpy as np

import ritz
from benchmarks.compare import MOST, Comparison, PeerError, compare

K = 16
KERNELS = {
    "Gaussian": (
        ritz.Gaussian,
        lambda length: klap.GaussianKernel(sigma=2**0.5 * length),
    ),
    "exponential": (ritz.Exponential, lambda length: klap.ExponentialKernel(sigma=length)),
    "polynomial": (lambda length: ritz.Polynomial(3), lambda length: klap.PolynomialKernel(d=3)),
}


def fits(kernel: str, n: int, p: int, d: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a fit of ours and one of klap's, to the same normal rows; both return eigenvalues."""
    logging.getLogger("klap").setLevel(logging.WARNING)
    X = np.random.default_rng(0).normal(size=(n, d))
    length = float(np.sqrt(d))
    kernels = tuple(make(length) for make in KERNELS[kernel])
    k = min(K, p // 2)

    def ours() -> Any:
        basis = ritz.Nystrom(kernels[0], p)
        return ritz.decompose(ritz.laplacian(), basis, X, k=k, random_state=0).values

    def theirs() -> Any:
        try:
            kernels[1].fit(X, p=p, k=k)
        except np.linalg.LinAlgError as error:
            raise PeerError(error) from error
        return kernels[1].eigenvalues

    return ours, theirs


def name_of(kernel: str, n: int, p: int, d: int) -> str:
    return f"fit, {kernel}, n={n:,}, p={p}, d={d}"


def case(
    kernel: str, n: int, p: int, d: int, repeats: int, warm: bool = True, pause: float = 0.3
) -> Comparison:
    name = name_of(kernel, n, p, d)
    return compare(name, *fits(kernel, n, p, d), repeats, warm=warm, enough=1.0, pause=pause)


def cases(repeats: int) -> list[Comparison]:
    return [case(kernel, 10_000, 300, 10, repeats) for kernel in KERNELS]


def large() -> list[Comparison]:
    """Run n = 20,000, p = 1,000, d = 10, once each: klap takes minutes."""
    return [case(kernel, 20_000, 1000, 10, 1, warm=False) for kernel in ("Gaussian", "exponential")]


def grid(full: bool) -> list[dict[str, object]]:
    """Run a grid of sizes, to see where ours is slower, and where klap ends with an error."""
    sizes = (1000, 10_000, 100_000) if full else (1000, 10_000)
    functions = (30, 100, 300, 1000) if full else (30, 300)
    results: list[dict[str, object]] = []
    for kernel, n, p, d in product(KERNELS, sizes, functions, (3, 20)):
        if p < n and n * p**2 <= 2e10:
            # Once where klap takes up to a minute, and more often where it does not.
            long = n * p**2 > 5e9
            try:
                compared = case(kernel, n, p, d, 1 if long else 3, warm=not long)
            except PeerError as error:
                name = name_of(kernel, n, p, d)
                print(f"{name:<44} klap failed: {error}", flush=True)
                results.append({"case": name, "failed": str(error)})
                continue
            print(compared, flush=True)
            results.append(compared.record())
    return results


def main() -> None:
    for pause, kernel, d in product((0.3, 0.0), KERNELS, (3, 20)):
        r = case(kernel, 1000, 30, d, MOST, pause=pause).record()
        ours, theirs = 1e3 * r["ours_seconds"], 1e3 * r["theirs_seconds"]
        print(
            f"{r['case']}, after {pause} s: ours {ours:.1f} ms, theirs {theirs:.1f} ms, ratio "
            f"{r['ratio']:.2f} ({r['ratio_low']:.2f} to {r['ratio_high']:.2f})",
            flush=True,
        )
    # Of normal rows: 0, then 1 d times, then 2.
    for kernel, d in product(KERNELS, (3, 20)):
        for who, fit in zip(("ours", "klap"), fits(kernel, 1000, 30, d), strict=True):
            print(f"{kernel}, d={d}, {who}: {np.round(np.sort(fit())[:8], 2)}")


if __name__ == "__main__":
    main()
