"""Level lines of sixteen eigenfunctions on two half-moons (Figure 1).

There are two bases: the paper's exponential sections at random centers, and narrower Gaussian
sections at centers chosen by pivoted Cholesky. On moons of width zero the eigenfunctions would be
cosines along each arc, with eigenvalues 0, 0, 1, 1, 4, 4, ... In a record, "shares" is the fraction
of each function's square that such cosines explain, and "sides" the fraction on its main moon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import ritz
from paper import Array
from paper.drawing import draw_levels, rounded
from paper.records import Record
from paper.runner import Runner, seeds

BASES = {
    "exponential": (ritz.Exponential(1.0), "uniform"),
    "gaussian": (ritz.Gaussian(0.25), "rpcholesky"),
}
TITLES = {
    "exponential": "Exponential sections of length 1, random centers (the paper's)",
    "gaussian": "Gaussian sections of length 0.25, centers by pivoted Cholesky",
}


@dataclass(frozen=True)
class Config:
    """Numbers of samples, sections and eigenfunctions, and resolution of the picture."""

    n: int = 100_000
    p: int = 200
    k: int = 16
    resolution: int = 120
    seed: int = 0


# The paper's size takes seconds only.
QUICK = FULL = Config()


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each basis, with eigenvalues, shares, and functions on a grid."""
    (seed,) = seeds(config.seed, 1)
    shared = {"n": config.n, "p": config.p, "k": config.k, "resolution": config.resolution}
    return runner.map(moons, [{"basis": name, "seed": seed, **shared} for name in BASES])


def moons(basis: str, n: int, p: int, k: int, resolution: int, seed: int) -> list[Record]:
    """Decompose the Laplacian on half-moons with one basis."""
    cloud = ritz.datasets.half_moons(n, random_state=seed)
    kernel, centers = BASES[basis]
    start = perf_counter()
    recipe = ritz.Nystrom(kernel, n_centers=p, centers=centers)
    found = ritz.decompose(
        ritz.laplacian(), recipe, cloud.X, k=k, random_state=seed, n_jobs=1, progress=False
    )
    spectrum = cast(ritz.Spectrum, found)
    seconds = perf_counter() - start
    x, y, near = grid(cloud.X, resolution)
    points = np.column_stack([axis[near] for axis in np.meshgrid(x, y)])
    functions = spectrum(cloud.X)
    right = (functions[cloud.labels == 1] ** 2).sum(axis=0) / (functions**2).sum(axis=0)
    return [
        {
            "basis": basis,
            "values": spectrum.ritz_values,
            "shares": shares(functions, cosines(cloud, k)),
            "sides": np.maximum(right, 1 - right),
            "x": rounded(x),
            "y": rounded(y),
            "near": np.flatnonzero(near),
            "heights": rounded(spectrum(points).T),
            "seconds": seconds,
        }
    ]


def cosines(cloud: ritz.datasets.Cloud, k: int) -> Array:
    """Return the values (n, k) of k cosines along the arcs, half of them on each moon."""
    right = np.asarray(cloud.labels, dtype=np.float64)[:, None]
    x, y = (cloud.X - right * [0, 1]).T
    # Half circles around (0, 0) and (0, 1). Noise moves some points beyond their ends.
    arc = np.arctan2(y, np.abs(x)).reshape(-1, 1) + np.pi / 2
    waves = np.cos(arc * np.arange(-(-k // 2)))
    return np.hstack([waves * right, waves * (1 - right)])


def shares(functions: Array, others: Array) -> Array:
    """Return the fraction of each function's square that combinations of others explain."""
    fitted = others @ np.linalg.lstsq(others, functions, rcond=None)[0]
    return np.asarray((fitted**2).sum(axis=0) / (functions**2).sum(axis=0))


def grid(X: Array, resolution: int, neighbors: int = 5) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return a grid that covers the samples, and a mask of its points close to samples."""
    some = X[:4000]
    low, high = np.quantile(some, [0.002, 0.998], axis=0)
    step = float((high - low).max()) / resolution
    x, y = (np.arange(a - 6 * step, b + 6 * step, step) for a, b in zip(low, high, strict=True))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    # Functions are not determined far from all samples.
    distances = np.asarray(cKDTree(some).query(points, k=neighbors)[0])
    return x, y, distances[..., -1] < 0.04 * float((high - low).max())


def plot(records: Sequence[Record]) -> Figure:
    """Draw the eigenfunctions of each basis in a block of four by four."""
    figure = Figure(figsize=(13, 9.4), layout="constrained")
    blocks: Any = figure.subfigures(1, len(records))
    for block, record in zip(blocks, records, strict=True):
        block.suptitle(TITLES[record["basis"]], fontsize=11)
        x, y = record["x"], record["y"]
        columns = 4
        panels = block.subplots(
            -(-len(record["values"]) // columns), columns, sharex=True, sharey=True
        )
        for j, panel in enumerate(panels.flat):
            height = np.full(len(x) * len(y), np.nan)
            height[record["near"]] = record["heights"][j]
            draw_levels(panel, x, y, height.reshape(len(y), len(x)))
            panel.set_title(rf"$\lambda_{{{j}}}$ = {record['values'][j]:.3g}", fontsize=9)
            panel.tick_params(labelsize=7)
        block.supxlabel("$x_1$", fontsize=9)
        block.supylabel("$x_2$", fontsize=9)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the first eigenvalues of each basis, and the shares of its functions."""
    return [
        {
            "basis": record["basis"],
            "eigenvalues 1 to 5": ", ".join(f"{value:.3g}" for value in record["values"][1:6]),
            "share of cosines, mean": float(np.mean(record["shares"])),
            "least": min(record["shares"]),
            "on one moon, second half": float(
                np.mean(record["sides"][len(record["sides"]) // 2 :])
            ),
        }
        for record in records
    ]
