"""The rates of the paper's theorems, measured on spheres with polynomials and sections.

Theorem 1: the inverse restricted to fixed functions is estimated at the rate n^(-1/2).
Theorem 2 bounds the inverse on the complement of the span of p random sections. It states no rate,
as its variance term is p^(-1/2) times a norm that grows with p. The smallest possible error is the
next inverse eigenvalue.
Theorem 3: with polynomials of a degree that grows with n, the whole error falls at least as fast as
n^(-d / 2(d + 1)).

Errors are operator norms in L2 of the sphere, on functions of mean zero. For polynomials they are
exact: polynomials have known coefficients in spherical harmonics, and on their complement the norm
is the next inverse eigenvalue. For sections, `within` is the norm on harmonics up to a degree, and
the norm on all functions is between `within` and the square root of `within`^2 + `beyond`^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper import Array
from paper.curves import Curves, colors, plain_ticks, slope, split
from paper.records import Record
from paper.runner import Runner, seeds

KERNELS = {"exponential": ritz.Exponential(1.0), "gaussian": ritz.Gaussian(1.0)}


@dataclass(frozen=True)
class Config:
    """Samples, degrees and sections.

    Parameters
    ----------
    dimensions, rows, degrees
        Dimensions of the ambient space, numbers of samples, and degrees of the polynomials.
    sizes
        Numbers p of random sections.
    heights
        Number of latitudes of the quadrature for sections, each with twice as many longitudes.
    highest
        Highest degree of the harmonics for sections. There must be more harmonics than sections.
    """

    dimensions: tuple[int, ...] = (3, 4)
    rows: tuple[int, ...] = (316, 1000, 3162, 10_000)
    degrees: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    sizes: tuple[int, ...] = (10, 32, 100, 316)
    heights: int = 70
    highest: int = 20
    trials: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.highest + 1) ** 2 <= max(self.sizes) + 1:
            raise ValueError(
                f"The 'highest' parameter must satisfy (highest + 1)^2 > {max(self.sizes) + 1} "
                f"functions. Got {self.highest} instead."
            )


QUICK = Config()
FULL = Config(
    rows=(316, 1000, 3162, 10_000, 31_623, 100_000),
    degrees=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
    sizes=(10, 18, 32, 56, 100, 178, 316, 562),
    heights=140,
    highest=26,
    trials=30,
)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return records of the errors of estimation (Theorems 1 and 3) and projection (2)."""
    trials = range(config.trials)
    estimates = [
        {
            "n": n,
            "d": d,
            "degree": s,
            "trial": trial,
            "seed": seeds(config.seed, trial + 1, n, d)[-1],
        }
        for n, d, s, trial in product(config.rows, config.dimensions, config.degrees, trials)
        # An estimate needs more samples than functions.
        if n >= 2 * harmonics_up_to(d, s)
    ]
    shared = {"heights": config.heights, "highest": config.highest, "sizes": config.sizes}
    projections = [
        {"kernel": kernel, "trial": trial, "seed": seed, **shared}
        for kernel in KERNELS
        for trial, seed in enumerate(seeds(config.seed, config.trials, 3))
    ]
    return runner.map(estimation, estimates) + runner.map(projection, projections)


def harmonics_up_to(d: int, degree: int) -> int:
    """Return the dimension of the polynomials up to a degree on the sphere of R^d."""
    return comb(d + degree - 1, degree) + comb(d + degree - 2, degree - 1)


def estimation(n: int, d: int, degree: int, trial: int, seed: int) -> list[Record]:
    r"""Return the norm of the error of the inverse on polynomials and on their complement."""
    problem = ritz.datasets.sphere(d)
    X = problem.sample(n, seed)
    p = harmonics_up_to(d, degree)
    form = ritz.laplacian(problem.tangent)
    sums = ritz.assemble(
        form, ritz.Monomials(degree), X, random_state=seed, n_jobs=1, progress=False
    )
    spectrum = cast(ritz.Spectrum, ritz.decompose_sums(sums, p, fewer=True))
    truth = problem.eigenvalues(p + 1)
    points = problem.sample(4 * p, seed + 1)
    inverse = inverse_matrix(spectrum, points, problem.eigenfunctions(points, p))
    within = float(np.linalg.norm(inverse - np.diag(1 / truth[1:p]), 2))
    place = {"part": "estimation", "n": n, "d": d, "degree": degree, "trial": trial}
    return [{**place, "within": within, "beyond": float(1 / truth[p])}]


def inverse_matrix(spectrum: ritz.Spectrum, points: Array, harmonics: Array) -> Array:
    r"""Return :math:`\sum_j \hat\lambda_j^{-1} \hat f_j \otimes \hat f_j` over harmonics.

    Polynomials are combinations of harmonics, so their values at sufficiently many points give
    their coefficients. The constant is left out on both sides.

    Parameters
    ----------
    spectrum
        Eigenvalues and eigenfunctions, which are polynomials up to some degree.
    points, harmonics
        Points (m, d), and the values (m, p) of all harmonics up to that degree.
    """
    C = np.linalg.lstsq(harmonics, spectrum(points), rcond=None)[0][1:, 1:]
    return np.asarray((C / spectrum.ritz_values[1:]) @ C.T)


def projection(
    kernel: str, trial: int, seed: int, heights: int, highest: int, sizes: Sequence[int]
) -> list[Record]:
    r"""Return the norm of :math:`(I - \Pi_F) L^{-1}` for the first p of random sections.

    It is at least :math:`\lambda_{p + 2}^{-1}`, as the span has p functions and the constant.
    """
    problem = ritz.datasets.sphere(3)
    X, root = quadrature(heights)
    k = harmonics_up_to(3, highest)
    inverse = root * problem.eigenfunctions(X, k)[:, 1:] / problem.eigenvalues(k)[1:]
    sections = ritz.KernelSections(KERNELS[kernel], problem.sample(max(sizes), seed))
    # Column 0 is the constant, and columns up to p span the constant and the first p sections.
    Q = np.linalg.qr(root * np.column_stack([np.ones(len(X)), sections(X)]))[0]
    place = {"part": "projection", "d": 3, "kernel": kernel, "trial": trial}
    beyond = 1 / ((highest + 1) * (highest + 2))
    errors = []
    for p in sizes:
        rest = inverse - Q[:, : 1 + p] @ (Q[:, : 1 + p].T @ inverse)
        norm = float(np.linalg.norm(rest.T @ rest, 2)) ** 0.5
        errors.append({**place, "p": p, "within": norm, "beyond": beyond})
    return errors


def quadrature(heights: int) -> tuple[Array, Array]:
    """Return points (m, 3) on the sphere, and roots (m, 1) of weights whose sum is 1.

    Gauss points upwards, equal angles around: products of harmonics are exact up to a degree of
    2 heights - 1 in all.
    """
    z, weight = np.polynomial.legendre.leggauss(heights)
    angle = np.pi * np.arange(2 * heights) / heights
    z, angle = np.repeat(z, 2 * heights), np.tile(angle, heights)
    radius = np.sqrt(1 - z**2)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])
    return X, np.sqrt(np.repeat(weight, 2 * heights) / (4 * heights))[:, None]


def means(records: Sequence[Record], part: str, *names: str) -> list[Record]:
    """Return root mean squares over trials of the error on the span, and of the whole error."""
    chosen = [record for record in records if record["part"] == part]
    places = sorted({tuple(record[name] for name in names) for record in chosen})
    rows = []
    for place in places:
        group = [r for r in chosen if tuple(r[name] for name in names) == place]
        within = float(np.sqrt(np.mean([r["within"] ** 2 for r in group])))
        row = {**dict(zip(names, place, strict=True)), "within": within}
        # The two parts act on orthogonal spaces, so the norm of both is the larger one.
        rows.append({**row, "whole": max(within, group[0]["beyond"])})
    return rows


def envelope(rows: Sequence[Record]) -> list[Record]:
    """Return the row of the best degree for each n."""
    return [min(group, key=lambda row: row["whole"]) for group in split(rows, "n").values()]


def plot(records: Sequence[Record]) -> Figure:
    """Draw the errors for each theorem, and a dashed line for its rate or a lower bound."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplots(1, 3)
    rows = split(means(records, "estimation", "d", "degree", "n"), "d")
    first = split(rows[min(rows)], "degree")
    draw(panels[0], first, "within", "n", "degree {}", -0.5)
    panels[0].set(title=f"Theorem 1: given polynomials, d = {min(rows)}")
    sections = split(means(records, "projection", "kernel", "p"), "kernel")
    draw(panels[1], sections, "within", "p", "{}", None)
    sizes = sorted({row["p"] for curve in sections.values() for row in curve})
    panels[1].plot(
        sizes, [smallest_error(p) for p in sizes], "k--", lw=0.8, label="least of p functions"
    )
    panels[1].set(title="Theorem 2: p random sections, d = 3")
    best = {d: envelope(group) for d, group in rows.items()}
    draw(panels[2], best, "whole", "n", "d = {}, best degree", -min(rows) / (2 * min(rows) + 2))
    for i, curve in enumerate(best.values()):
        for row in curve:
            # Labels of the first dimension are above its curve, those of the second below.
            place = {"xytext": (0, 5 - 15 * i), "textcoords": "offset points"}
            panels[2].annotate(row["degree"], (row["n"], row["whole"]), fontsize=7, **place)
    panels[2].set(title="Theorem 3: polynomials of growing degree")
    for panel in panels:
        panel.set(ylabel="error of the inverse, operator norm")
        panel.legend(fontsize=8)
    return figure


def smallest_error(p: int) -> float:
    """Return the smallest norm for any p functions and the constant, on the sphere of R^3."""
    return float(1 / ritz.datasets.sphere(3).eigenvalues(p + 2)[-1])


def draw(panel: Any, curves: Curves, y: str, x: str, label: str, rate: float | None) -> None:
    """Draw curves on logarithmic axes, and a dashed line of a given slope below them."""
    for color, (value, curve) in zip(colors(len(curves)), curves.items(), strict=True):
        heights = [row[y] for row in curve]
        panel.plot(
            [row[x] for row in curve], heights, "o-", color=color, ms=3, label=label.format(value)
        )
    if rate is not None:
        ends = np.array([f(row[x] for c in curves.values() for row in c) for f in (min, max)])
        height = 0.7 * min(curve[0][y] for curve in curves.values())
        line = height * (ends / ends[0]) ** rate
        panel.plot(ends, line, "k--", lw=0.8, label=f"slope {rate:.3g}")
    panel.set(xscale="log", yscale="log", xlabel=x)
    plain_ticks(panel)
    panel.grid(alpha=0.3, which="both", lw=0.4)


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the rate that each theorem states, if any, and the measured slope."""
    rows = means(records, "estimation", "d", "degree", "n")
    table = []
    for d, group in split(rows, "d").items():
        for degree, curve in split(group, "degree").items():
            if len(curve) > 1:
                place = {"theorem": 1, "d": d, "functions": f"degree {degree}"}
                table.append({**place, "stated": -0.5, "measured": slope(curve, "within")})
    for kernel, curve in split(means(records, "projection", "kernel", "p"), "kernel").items():
        place = {"theorem": 2, "d": 3, "functions": kernel}
        stated = "no rate: p^(-1/2) times a norm that grows with p"
        table.append({**place, "stated": stated, "measured": slope(curve, "within", "p")})
    for d, group in split(rows, "d").items():
        place = {"theorem": 3, "d": d, "functions": "best degree"}
        table.append(
            {**place, "stated": -d / (2 * d + 2), "measured": slope(envelope(group), "whole")}
        )
    return table
