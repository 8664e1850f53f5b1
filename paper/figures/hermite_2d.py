"""Learned and true Hermite polynomials for Gaussian samples in the plane (appendix).

Sections (1 + x.y)^3 span the ten polynomials of degree up to three. The Hermite polynomials of
degree s have the eigenvalue s, so they are determined up to a rotation. In a record, "turned" has
the learned functions after the rotation that brings them closest to the canonical polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import orthogonal_procrustes

import ritz
from paper import Array
from paper.drawing import draw_levels, rounded
from paper.records import Record
from paper.runner import Runner, seeds

DEGREE = 3
ENDS = [0, 1, 3, 6, 10]
WIDTH = 2.5


@dataclass(frozen=True)
class Config:
    """Numbers of samples and sections, and resolution of the pictures."""

    n: int = 100_000
    p: int = 50
    resolution: int = 41
    seed: int = 0


QUICK = Config()
FULL = Config(n=1_000_000)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each degree, with eigenvalues, distance and functions."""
    (seed,) = seeds(config.seed, 1)
    shared = {"n": config.n, "p": config.p, "resolution": config.resolution}
    return runner.map(polynomials, [{"seed": seed, **shared}])


def polynomials(n: int, p: int, resolution: int, seed: int) -> list[Record]:
    """Learn Hermite polynomials and compare those of each degree with the true ones."""
    X = ritz.datasets.gaussian(2).sample(n, random_state=seed)
    basis = ritz.Nystrom(ritz.Polynomial(DEGREE), n_centers=p)
    found = ritz.decompose(
        ritz.laplacian(), basis, X, k=ENDS[-1], random_state=seed, n_jobs=1, progress=False
    )
    spectrum = cast(ritz.Spectrum, found)
    nodes, roots = quadrature(DEGREE + 1)
    learned, true = spectrum(nodes) * roots, hermite(nodes) * roots
    grid = np.stack(np.meshgrid(*axes(resolution)), axis=-1).reshape(-1, 2)
    records = []
    for degree, (start, stop) in enumerate(pairwise(ENDS)):
        own = slice(start, stop)
        rotation = orthogonal_procrustes(learned[:, own], true[:, own])[0]
        error = np.linalg.norm(learned[:, own] @ rotation - true[:, own])
        records.append(
            {
                "degree": degree,
                "values": spectrum.ritz_values[own],
                "distance": float(error / np.sqrt(stop - start)),
                "learned": rounded(spectrum(grid)[:, own].T),
                "turned": rounded((spectrum(grid)[:, own] @ rotation).T),
                "true": rounded(hermite(grid)[:, own].T),
            }
        )
    return records


def hermite(X: Array) -> Array:
    """Return the values (n, 10) of the Hermite polynomials of degree up to three."""
    return ritz.datasets.gaussian(2).eigenfunctions(X, ENDS[-1])


def quadrature(size: int) -> tuple[Array, Array]:
    """Return nodes, and square roots of weights, exact for polynomials under N(0, I)."""
    x, w = np.polynomial.hermite_e.hermegauss(size)
    points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    return points, np.sqrt(np.outer(w, w).reshape(-1, 1) / w.sum() ** 2)


def axes(resolution: int) -> tuple[Array, Array]:
    """Return the two axes of the pictures."""
    line = np.linspace(-WIDTH, WIDTH, resolution)
    return line, line


def plot(records: Sequence[Record]) -> Figure:
    """Draw the learned functions, before and after rotation, and the true ones."""
    rows = (("learned", "as found"), ("turned", "turned"), ("true", "true"))
    shown = [(r, j) for r in records[1:] for j in range(len(r["values"]))]
    figure = Figure(figsize=(13, 5.1), layout="constrained")
    panels = figure.subplots(len(rows), len(shown), sharex=True, sharey=True)
    for line, (kind, name) in zip(panels, rows, strict=True):
        for panel, (record, j) in zip(line, shown, strict=True):
            resolution = round(len(record[kind][j]) ** 0.5)
            height = np.reshape(record[kind][j], (resolution, resolution))
            draw_levels(panel, *axes(resolution), height)
            value = record["degree"] if kind == "true" else record["values"][j]
            if kind != "turned":
                panel.set_title(rf"$\lambda$ = {value:.3g}", fontsize=9)
            panel.tick_params(labelsize=7)
        line[0].set_ylabel(f"{name}\n$x_2$", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("$x_1$", fontsize=9)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the eigenvalues of each degree and the RMS distance of functions to the truth."""
    return [
        {
            "degree": record["degree"],
            "eigenvalues": ", ".join(f"{value:.3f}" for value in record["values"]),
            "distance of functions, RMS": record["distance"],
        }
        for record in records
    ]
