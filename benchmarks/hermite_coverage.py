"""How many values lie within 95% intervals of `return_std`, ours and scikit-learn's.

    python -m benchmarks.hermite_coverage [problem ...]

The rule was chosen with the first table's problems in sight; those of the second played no part.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import ritz
from benchmarks.surfaces import BRANIN, HARTMANN, WING_WEIGHT, Array, rosenbrock_value

DESIGNS = 3


class Problem(NamedTuple):
    """A function of the columns of X, also of complex ones, on a box (d, 2)."""

    bounds: Any
    value: Callable[[Any], Any]

    def draw(self, n: int, seed: int) -> Array:
        """Return n uniform points (n, d) of the box."""
        low, high = np.array(self.bounds, dtype=float).T
        return np.asarray(np.random.default_rng(seed).uniform(low, high, size=(n, len(low))))

    def gradient(self, X: Array) -> Array:
        """Return the gradient (n, d) by complex steps, which are exact to rounding."""
        widths = np.ptp(np.array(self.bounds, dtype=float), axis=1)
        steps = 1e-20 * widths
        along = [
            np.imag(self.value((X + 1j * step * unit).T)) / step
            for step, unit in zip(steps, np.eye(X.shape[1]), strict=True)
        ]
        return np.column_stack(along)


def franke(x: Any) -> Any:
    a, b = 9 * x[0], 9 * x[1]
    hills = 0.75 * np.exp(-((a - 2) ** 2 + (b - 2) ** 2) / 4)
    hills += 0.75 * np.exp(-((a + 1) ** 2) / 49 - (b + 1) / 10)
    hills += 0.5 * np.exp(-((a - 7) ** 2 + (b - 3) ** 2) / 4)
    return hills - 0.2 * np.exp(-((a - 4) ** 2) - (b - 7) ** 2)


def borehole(x: Any) -> Any:
    """Flow of water through a borehole in m^3 a year (Morris, Mitchell and Ylvisaker, 1993)."""
    rw, r, upper, upper_head, lower, lower_head, length, conductivity = x
    log = np.log(r / rw)
    below = log * (1 + 2 * length * upper / (log * rw**2 * conductivity) + upper / lower)
    return 2 * np.pi * upper * (upper_head - lower_head) / below


def circuit(x: Any) -> Any:
    """Midpoint voltage of an amplifier without output transformer (Ben-Ari and Steinberg, 2007)."""
    b1, b2, f, c1, c2, gain = x
    scaled = gain * (c2 + 9)
    voltage = (12 * b2 / (b1 + b2) + 0.74) * scaled + 11.35 * f + 0.74 * f * scaled / c1
    return voltage / (scaled + f)


def piston(x: Any) -> Any:
    """Cycle time of a piston in seconds (Ben-Ari and Steinberg, 2007)."""
    mass, area, volume, spring, pressure, ambient, filling = x
    force = pressure * area + 19.62 * mass - spring * volume / area
    warm = pressure * volume * ambient / filling
    v = area / (2 * spring) * (np.sqrt(force**2 + 4 * spring * warm) - force)
    return 2 * np.pi * np.sqrt(mass / (spring + area**2 * warm / v**2))


def ishigami(x: Any) -> Any:
    return np.sin(x[0]) + 7 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])


def cantilever(x: Any) -> Any:
    """Deflection of a beam of width, height and length x, at its loaded end, in meters."""
    width, height, length = x
    return 12 / width / height**3 * length**3 * 50e3 / 600e9


def friedman(x: Any) -> Any:
    first = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2
    return first + 10 * x[3] + 5 * x[4]


def saddle(x: Any) -> Any:
    return np.sin(x[0]) * x[1]


def waves(x: Any) -> Any:
    factors = [1 + np.sin(np.pi * column) / (1 + i) for i, column in enumerate(x)]
    return np.prod(factors, axis=0)


def branin(x: Any) -> Any:
    return BRANIN.value(x.T)


PROBLEMS = {
    "Franke": Problem([(0, 1)] * 2, franke),
    "Branin": Problem(BRANIN.bounds, branin),
    "borehole": Problem(
        [
            (0.05, 0.15),
            (100, 50000),
            (63070, 115600),
            (990, 1110),
            (63.1, 116),
            (700, 820),
            (1120, 1680),
            (9855, 12045),
        ],
        borehole,
    ),
    "circuit": Problem(
        [(50, 150), (25, 70), (0.5, 3), (1.2, 2.5), (0.25, 1.2), (50, 300)], circuit
    ),
    "piston": Problem(
        [
            (30, 60),
            (0.005, 0.02),
            (0.002, 0.01),
            (1000, 5000),
            (90000, 110000),
            (290, 296),
            (340, 360),
        ],
        piston,
    ),
    "wing weight": Problem(WING_WEIGHT.bounds, lambda x: WING_WEIGHT.value(x.T)),
    "Ishigami": Problem([(-np.pi, np.pi)] * 3, ishigami),
    "cantilever": Problem([(0.01, 0.05), (0.3, 0.65), (0.5, 1)], cantilever),
    "Friedman": Problem([(0, 1)] * 5, friedman),
    "sin(x) y": Problem([(-2, 2)] * 2, saddle),
    "Rosenbrock": Problem([(-2, 2)] * 4, lambda x: rosenbrock_value(x.T)),
    "Hartmann-6": Problem(HARTMANN.bounds, lambda x: HARTMANN.value(x.T)),
    "waves": Problem([(-1, 1)] * 5, waves),
}


class Case(NamedTuple):
    """Rows of a problem, with noise relative to the standard deviations of what is observed."""

    problem: str
    n: int
    gradients: bool = False
    noise: float = 0.0


CHOSEN_ON = (
    Case("Franke", 100),
    Case("Franke", 400),
    Case("Franke", 60, True),
    Case("Franke", 200, False, 0.1),
    Case("Branin", 60),
    Case("Branin", 200, True),
    Case("Branin", 100, True, 0.02),
    Case("borehole", 100),
    Case("borehole", 300),
    Case("circuit", 100),
    Case("circuit", 400),
    Case("piston", 300),
    Case("piston", 200, False, 0.1),
    Case("wing weight", 200),
    Case("Friedman", 200),
    Case("Friedman", 200, False, 0.1),
    Case("Friedman", 100, True),
    Case("sin(x) y", 300),
    Case("sin(x) y", 200, True, 0.1),
    Case("cantilever", 400),
    Case("Ishigami", 200, True, 0.05),
    Case("Ishigami", 200, True),
    Case("Ishigami", 400, True),
    Case("Ishigami", 800, True),
    Case("Ishigami", 8000, True),
)
SET_ASIDE = (
    Case("Rosenbrock", 200),
    Case("Rosenbrock", 60, True),
    Case("Rosenbrock", 200, False, 0.1),
    Case("Rosenbrock", 200, True, 0.05),
    Case("Hartmann-6", 300),
    Case("Hartmann-6", 60, True),
    Case("waves", 300),
    Case("waves", 100, True),
    Case("waves", 100, True, 0.05),
)


def coverage(fitted: Any, Z: Array, f: Array) -> tuple[float, float, float]:
    """Return the share within 1.96 deviations, mean deviation / rms error, and that error."""
    value, deviation = fitted.predict(Z, return_std=True)
    rms = float(np.sqrt(np.mean((value - f) ** 2)))
    inside = float(np.mean(np.abs(value - f) <= 1.96 * deviation))
    return inside, float(deviation.mean()) / rms, rms / float(f.std())


class Process:
    """scikit-learn's Gaussian process: one length a column, and noise where there is some."""

    def __init__(self, X: Array, y: Array, noise: float) -> None:
        self.low, self.widths = X.min(axis=0), np.ptp(X, axis=0)
        kernel = ConstantKernel(1.0, (1e-3, 1e6)) * RBF(np.ones(X.shape[1]), (1e-2, 1e3))
        if noise:
            kernel = kernel + WhiteKernel(1e-2, (1e-8, 1.0))
        self.model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        self.model.fit((X - self.low) / self.widths, y)
        self.noise = self.model.kernel_.k2.noise_level * y.var() if noise else 0.0

    def predict(self, X: Array, return_std: bool) -> tuple[Array, Array]:
        value, deviation = self.model.predict((X - self.low) / self.widths, return_std=return_std)
        # Without the noise of a new observation, as ours.
        return value, np.sqrt(np.maximum(deviation**2 - self.noise, 0.0))


def measure(case: Case, seed: int) -> list[tuple[float, float, float]]:
    """Return the coverages of ours and, for values alone, of scikit-learn's."""
    problem = PROBLEMS[case.problem]
    X, Z = problem.draw(case.n, seed), problem.draw(1000, seed + 1000)
    y, f = (np.real(problem.value(points.T)) for points in (X, Z))
    rng = np.random.default_rng(seed + 100)
    y = y + case.noise * y.std() * rng.standard_normal(len(y))
    t = None
    if case.gradients:
        t = problem.gradient(X)
        t += case.noise * t.std(axis=0) * rng.standard_normal(t.shape)
    found = [coverage(ritz.HermiteRegressor(random_state=0).fit(X, y, t), Z, f)]
    if t is None:
        found.append(coverage(Process(X, y, case.noise), Z, f))
    return found


def row(case: Case) -> str:
    """Return a line of the table: medians over designs, and the least and most covered."""
    designs = 1 if case.n > 500 else DESIGNS
    found = np.array([measure(case, seed) for seed in range(designs)])
    cells = []
    for ours in found.transpose(1, 0, 2):
        inside = 100 * ours[:, 0]
        span = f" ({inside.min():.0f} to {inside.max():.0f})" if designs > 1 else ""
        ratio, rms = np.median(ours[:, 1:], axis=0)
        cells.append(f"{np.median(inside):.0f}%{span} | {ratio:.2f} | {rms:.0e}")
    cells += [" | | "] * (2 - len(cells))
    kind = "values, gradients" if case.gradients else "values"
    return f"| {case.problem} | {case.n} | {kind} | {case.noise:g} | " + " | ".join(cells) + " |"


def main(wanted: list[str]) -> None:
    for title, cases in (("In sight of the choice", CHOSEN_ON), ("Set aside", SET_ASIDE)):
        print(f"\n{title}:\n")
        both = " | ".join(f"{who}: within 95% | std / rms | rms" for who in ("ritz", "sklearn"))
        print(f"| problem | n | data | noise | {both} |\n|---|---|---|---|---|---|---|---|---|---|")
        for case in cases:
            if not wanted or case.problem in wanted:
                print(row(case), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
