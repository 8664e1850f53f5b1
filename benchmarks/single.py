"""What float32 does to eigenvalues, with and without the check that keeps it away."""

from __future__ import annotations

import sys
from unittest.mock import patch

import numpy as np

import ritz

CASES = {
    "Gaussian(2), d=10, p=1000": (ritz.Gaussian(2.0), 10, 1000),
    "Gaussian(3), d=10, p=1000": (ritz.Gaussian(3.0), 10, 1000),
    "Gaussian(5), d=10, p=1000": (ritz.Gaussian(5.0), 10, 1000),
    "Exponential(3), d=10, p=1000": (ritz.Exponential(3.0), 10, 1000),
    "Matern(3/2, 3), d=10, p=1000": (ritz.Matern(1.5, 3.0), 10, 1000),
    "Matern(5/2, 3), d=10, p=1000": (ritz.Matern(2.5, 3.0), 10, 1000),
    "Matern(3/2, 1), d=2, p=300": (ritz.Matern(1.5, 1.0), 2, 300),
    "Exponential(1), d=2, p=300": (ritz.Exponential(1.0), 2, 300),
    "Gaussian(1), d=3, p=300": (ritz.Gaussian(1.0), 3, 300),
}


def main() -> None:
    rng = np.random.default_rng(0)
    for name, (kernel, d, p) in CASES.items():
        X = rng.normal(size=(20_000, d)).astype(np.float32)
        basis = ritz.Nystrom(kernel, p)
        double = ritz.decompose(ritz.laplacian(), basis, X.astype(np.float64), random_state=0)
        kept = ritz.assemble(ritz.laplacian(), basis, X, random_state=0).rounding > 1e-10
        module = sys.modules["ritz.assembly.assemble"]
        with patch.object(module, "single_will_do", return_value=True):
            single = ritz.decompose(ritz.laplacian(), basis, X, random_state=0)
        gap = np.abs(single.values[1:] / double.values[1:] - 1).max()
        print(f"{name:<32} {'float32' if kept else 'float64'}   in float32: {gap:.1e}", flush=True)


if __name__ == "__main__":
    main()
