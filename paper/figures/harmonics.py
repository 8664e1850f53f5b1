"""Learned and true spherical harmonics in R^3; the fourth kind is out of reach (Figure 2).

On the sphere the sections (1 + x.y)^3 span the harmonics of kinds 0 to 3, sixteen functions. The
eigenfunctions of a repeated eigenvalue are not unique, so eigenspaces are compared, by the sine of
the largest angle between the learned and the true one.

The ambient energy also includes derivatives normal to the sphere. These are determined by the
kernel, as sections at centers on the sphere extend a harmonic h of kind s to g_s(r) h. The ambient
eigenvalue is s (s + 1) + (g_s' / g_s)^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import subspace_angles
from scipy.special import eval_legendre

import ritz
from paper import Array
from paper.drawing import rounded
from paper.records import Record
from paper.runner import Runner, seeds

KINDS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Config:
    """Numbers of samples and sections, degrees of the kernel, and resolution of the picture."""

    n: int = 10_000
    p: int = 100
    degrees: tuple[int, ...] = (3, 4)
    resolution: int = 37
    seed: int = 0


QUICK = Config()
FULL = Config(n=1_000_000)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each degree, energy and kind, with eigenvalues, angle and functions."""
    (seed,) = seeds(config.seed, 1)
    shared = {"n": config.n, "p": config.p, "resolution": config.resolution, "seed": seed}
    tasks = [
        {"degree": degree, "energy": energy, **shared}
        for degree in config.degrees
        for energy in ("ambient", "tangential")
    ]
    return runner.map(harmonics, tasks)


def harmonics(degree: int, energy: str, n: int, p: int, resolution: int, seed: int) -> list[Record]:
    """Learn harmonics with sections (1 + x.y)^degree and compare each kind with the truth."""
    problem = ritz.datasets.sphere(3)
    form = ritz.laplacian(problem.tangent if energy == "tangential" else None)
    basis = ritz.Nystrom(ritz.Polynomial(degree), n_centers=p)
    X = problem.sample(n, random_state=seed)
    size = (degree + 1) ** 2
    found = ritz.decompose(form, basis, X, k=size, random_state=seed, n_jobs=1, progress=False)
    spectrum = cast(ritz.Spectrum, found)
    nodes, roots = quadrature(degree + KINDS[-1])
    learned, true = spectrum(nodes) * roots, problem.eigenfunctions(nodes, 25) * roots
    seen = sphere_grid(resolution)
    records = []
    for kind in KINDS:
        space = slice(kind**2, (kind + 1) ** 2)
        # A kind above the degree has no eigenspace, and is compared with all learned functions.
        own = space if kind <= degree else slice(0, size)
        middle = kind**2 + kind
        combination = np.linalg.lstsq(learned[:, own], true[:, middle], rcond=None)[0]
        records.append(
            {
                "degree": degree,
                "energy": energy,
                "kind": kind,
                "true": kind * (kind + 1.0),
                "ambient": ambient(kind, degree),
                "values": spectrum.ritz_values[space],
                "sine": float(np.sin(subspace_angles(true[:, space], learned[:, own]).max())),
                "truth": rounded(problem.eigenfunctions(seen, middle + 1)[:, -1]),
                "nearest": rounded(spectrum(seen)[:, own] @ combination),
                "found": rounded(spectrum(seen)[:, min(kind**2, size - 1)]),
            }
        )
    return records


def ambient(kind: int, degree: int) -> float | None:
    """Return the ambient eigenvalue of a kind, with sections (1 + x.y)^degree and infinite n."""
    if kind > degree:
        return None
    t, w = np.polynomial.legendre.leggauss(degree + kind + 1)
    w = w * eval_legendre(kind, t)
    size = w @ (1 + t) ** degree
    slope = w @ (degree * t * (1 + t) ** (degree - 1))
    return float(kind * (kind + 1) + (slope / size) ** 2)


def quadrature(degree: int) -> tuple[Array, Array]:
    """Return nodes, and square roots of weights, that integrate polynomials exactly."""
    z, weight = np.polynomial.legendre.leggauss(degree // 2 + 1)
    longitude = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    points = on_sphere(*np.meshgrid(longitude, np.arcsin(z)))
    weights = np.repeat(weight / 2 / len(longitude), len(longitude))
    return points, np.sqrt(weights)[:, None]


def sphere_grid(resolution: int) -> Array:
    """Return the points (2 resolution^2, 3) of a picture, in rows of equal latitude."""
    return on_sphere(*np.meshgrid(*axes(resolution)))


def axes(resolution: int) -> tuple[Array, Array]:
    """Return the longitudes and latitudes of a picture."""
    half = np.pi / 2
    return np.linspace(-np.pi, np.pi, 2 * resolution), np.linspace(-half, half, resolution)


def on_sphere(longitude: Array, latitude: Array) -> Array:
    """Return the points (n, 3) of given longitudes and latitudes."""
    flat = np.cos(latitude)
    X = np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=-1)
    return X.reshape(-1, 3)


def plot(records: Sequence[Record]) -> Figure:
    """Draw true harmonics, their best approximations, learned eigenfunctions, and eigenvalues."""
    low, high = min(r["degree"] for r in records), max(r["degree"] for r in records)
    of = {(r["degree"], r["energy"], r["kind"]): r for r in records}
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[3.1, 1])
    left, right = parts
    panels = left.subplots(3, len(KINDS), subplot_kw={"projection": "mollweide"})
    for column, kind in zip(panels.T, KINDS, strict=True):
        record = of[low, "tangential", kind]
        as_found = record if kind <= low else of[high, "tangential", kind]
        drawn = (
            (record["truth"], f"true, of kind {kind}"),
            (record["nearest"], f"its nearest, degree {low} (sine {record['sine']:.1g})"),
            (as_found["found"], f"as found, degree {as_found['degree']}"),
        )
        for panel, (heights, title) in zip(column, drawn, strict=True):
            draw(panel, heights)
            panel.set_title(title, fontsize=9)
    left.supxlabel("longitude", fontsize=9)
    left.supylabel("latitude", fontsize=9)
    draw_values(right.subplots(), [r for r in records if r["degree"] == low])
    return figure


def draw(panel: Any, heights: Sequence[float]) -> None:
    """Draw a function on the sphere, in colors from blue to red with black level lines."""
    resolution = round((len(heights) / 2) ** 0.5)
    x, y = axes(resolution)
    height = np.reshape(heights, (resolution, 2 * resolution))
    levels = np.linspace(-3, 3, 14)
    panel.contourf(x, y, height, levels=levels, cmap="RdBu_r", extend="both")
    panel.contour(x, y, height, levels=levels, colors="black", linewidths=0.4)
    panel.set_xticks([])
    panel.set_yticks([])


def draw_values(panel: Any, records: Sequence[Record]) -> None:
    """Draw the learned eigenvalues against their number, with lines at the true ones."""
    for energy, marker in (("ambient", "x"), ("tangential", "o")):
        mine = [r for r in records if r["energy"] == energy and r["values"]]
        number = np.concatenate([np.arange(len(r["values"])) + r["kind"] ** 2 for r in mine])
        panel.plot(number, np.concatenate([r["values"] for r in mine]), marker, ms=4, label=energy)
    for record in mine:
        ends = np.array([record["kind"] ** 2 - 0.4, (record["kind"] + 1) ** 2 - 0.6])
        label = "true" if record is mine[0] else None
        panel.plot(ends, [record["true"]] * 2, color="black", lw=1, zorder=0, label=label)
    panel.set_xlabel("number of the eigenvalue")
    panel.set_ylabel("eigenvalue")
    panel.legend(title=f"energy, degree {mine[0]['degree']}", fontsize=8, title_fontsize=8)


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the eigenvalues and angles of each kind."""
    return [
        {
            "degree": record["degree"],
            "energy": record["energy"],
            "kind": record["kind"],
            "true": record["true"],
            "at infinite n": record["ambient" if record["energy"] == "ambient" else "true"],
            "learned, mean": float(np.mean(record["values"])),
            "sine of angle": record["sine"],
        }
        for record in records
        if record["values"]
    ]
