"""The paper's figure: a constant from Gaussian sections, without and with its gradients.

1,000 points on [-1, 1], the sections of 100 of them, no noise. Gaussian sections do not span the
constant, and the penalty pulls down what they make of it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ritz

Array = NDArray[np.float64]
ROWS, CENTERS = 1000, 100
LENGTHS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SHOWN = 0.2
PENALTY = 1e-3
GRID = np.linspace(-1, 1, 2001)
PICTURE = Path(__file__).parents[1] / "docs" / "hermite_constant.png"


def curves(length: float) -> dict[str, Array]:
    """Return what each way of fitting the constant 1 misses on the grid."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(ROWS, 1))
    y, t = np.ones(ROWS), np.zeros((ROWS, 1))
    ways = {
        "values": (None, False),
        "values and gradients": (t, False),
        "constant in the span": (None, True),
    }
    return {
        name: ritz.HermiteRegressor(
            # A kernel of its own keeps the units of x: weight 1 is the paper's loss.
            ritz.Gaussian(length),
            gradient_weight=1.0,
            regularization=PENALTY,
            centers=X[:CENTERS],
            constant=constant,
        )
        .fit(X, y, gradient=gradient)
        .predict(GRID[:, None])
        - 1
        for name, (gradient, constant) in ways.items()
    }


def draw(missed: dict[str, Array]) -> None:
    """Write the picture: the curves less one, and their sizes on a logarithmic scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
    for (name, curve), color in zip(missed.items(), ("C1", "C0", "black"), strict=True):
        left.plot(GRID, curve, color=color, lw=1.2, label=name)
        if curve.any():
            right.semilogy(GRID, np.abs(curve), color=color, lw=1.0, label=name)
    for panel, what in ((left, "f(x) - 1"), (right, "|f(x) - 1|")):
        panel.set_xlabel("x")
        panel.set_ylabel(what)
    right.set_ylim(1e-9, 1e-2)
    left.legend(fontsize=9)
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    print(f"largest and RMS error on [-1, 1]; penalty {PENALTY:g}, weight of gradients 1")
    for length in LENGTHS:
        missed = curves(length)
        numbers = "   ".join(
            f"{name} {np.abs(curve).max():.1e} {np.sqrt((curve**2).mean()):.1e}"
            for name, curve in missed.items()
        )
        print(f"length {length:<5} {numbers}")
        if length == SHOWN:
            draw(missed)


if __name__ == "__main__":
    # Values that do not vary say nothing of gradients, and their audit errs.
    main()
