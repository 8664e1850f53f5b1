r"""The variance of gradient estimates along one random direction, by dimension (appendix).

For U uniform on the sphere of R^d, <v, U>^2 / |v|^2 has the law Beta(1/2, (d - 1)/2), so

.. math:: |v|^2 = d \, E\langle v, U\rangle^2, \qquad
    \operatorname{Var}(d \langle v, U\rangle^2) = \frac{2 (d - 1)}{d + 2} |v|^4.

The factor is d and the relative variance is below 2 in every dimension. The effect on a spectrum is
measured on N(0, I_d), whose first d eigenvalues after the constant's are 1. To first order, their
RMS error from n samples is sqrt((d + 1) / n) with full gradients and sqrt(2 d / n) with one
direction per sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import gammaln

import ritz
from paper import Array
from paper.records import Record
from paper.runner import Runner, seeds


@dataclass(frozen=True)
class Config:
    """Dimensions, directions per batch, batches, samples for the spectrum, and trials."""

    dimensions: tuple[int, ...] = (2, 3, 5, 10, 20, 50, 100)
    directions: int = 2000
    batches: int = 100
    n: int = 5000
    trials: int = 20
    seed: int = 0


QUICK = Config()
FULL = Config(dimensions=(2, 3, 5, 10, 20, 50, 100, 200, 500), batches=300, n=50_000)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each dimension, with factor, relative variance and errors."""
    shared = {"directions": config.directions, "batches": config.batches}
    tasks = [
        {"d": d, "n": config.n, "trials": config.trials, "seed": seed, **shared}
        for d, seed in zip(
            config.dimensions, seeds(config.seed, len(config.dimensions)), strict=True
        )
    ]
    return runner.map(variance, tasks)


def variance(d: int, directions: int, batches: int, n: int, trials: int, seed: int) -> list[Record]:
    """Estimate the squared norm of a unit vector, and a spectrum, along random directions."""
    rng = np.random.default_rng(seed)
    gradient = uniform(1, d, rng)[0]
    squares = [(uniform(directions, d, rng) @ gradient) ** 2 for _ in range(batches)]
    means = [square.mean() for square in squares]
    relative = [square.var(ddof=1) / np.mean(means) ** 2 for square in squares]
    errors = np.array([spectrum_errors(d, n, rng) for _ in range(trials)])
    return [
        {
            "d": d,
            "n": n,
            "factor": 1 / np.mean(means),
            "relative_variance": np.mean(relative),
            "standard_error": np.std(relative, ddof=1) / np.sqrt(batches),
            "full_gradients": np.sqrt((errors[:, 0] ** 2).mean()),
            "one_direction": np.sqrt((errors[:, 1] ** 2).mean()),
        }
    ]


def uniform(n: int, d: int, rng: np.random.Generator) -> Array:
    """Return n unit vectors (n, d), uniform on the sphere."""
    U = rng.standard_normal((n, d))
    return np.asarray(U / np.linalg.norm(U, axis=1, keepdims=True))


def spectrum_errors(d: int, n: int, rng: np.random.Generator) -> list[float]:
    """Return RMS errors of d eigenvalues on N(0, I), with full gradients and one direction."""
    X = rng.standard_normal((n, d))
    forms = (ritz.laplacian(), ritz.directional(uniform(n, d, rng)) * float(d))
    # Sections of degree one and the constant span all affine functions.
    basis = ritz.KernelSections(ritz.Polynomial(1), np.eye(d))
    spectra = [
        ritz.decompose(form, basis, X, k=d + 1, random_state=0, n_jobs=1, progress=False)
        for form in forms
    ]
    return [float(np.sqrt(((spectrum.ritz_values[1:] - 1) ** 2).mean())) for spectrum in spectra]


def exact_variance(d: Any) -> Any:
    """Return the relative variance 2 (d - 1) / (d + 2) along one direction."""
    return 2 * (d - 1) / (d + 2)


def paper_factor(d: Any) -> Any:
    """Return pi / 16 vol(S^(d-2)), the factor in the paper's appendix."""
    return np.pi / 16 * 2 * np.exp((d - 1) / 2 * np.log(np.pi) - gammaln((d - 1) / 2))


def plot(records: Sequence[Record]) -> Figure:
    """Draw the factor, the relative variance and the errors of spectra, with their formulas."""
    d = np.array([record["d"] for record in records])
    line = np.geomspace(d.min(), d.max(), 200)
    figure = Figure(figsize=(13, 4), layout="constrained")
    factor, relative, spectra = figure.subplots(1, 3)
    factor.loglog(d, [record["factor"] for record in records], "o", label="measured")
    factor.loglog(line, line, color="black", lw=1, label="d")
    factor.loglog(line, paper_factor(line), "--", color="C3", label=r"$\pi/16$ vol$(S^{d-2})$")
    factor.set(xlabel="dimension d", ylabel=r"factor $1 / E\langle v, U\rangle^2$")
    factor.set_ylim(0.1, 10 * d.max())
    relative.errorbar(
        d,
        [record["relative_variance"] for record in records],
        [2 * record["standard_error"] for record in records],
        fmt="o",
        capsize=3,
        label="measured, 2 standard errors",
    )
    relative.plot(line, exact_variance(line), color="black", lw=1, label="2 (d - 1) / (d + 2)")
    relative.axhline(2, color="gray", lw=1, ls=":", label="2")
    relative.set(xlabel="dimension d", ylabel="relative variance", xscale="log", ylim=(0, 2.4))
    n = records[0]["n"]
    for name, formula, text, color in (
        ("full_gradients", line + 1, "(d + 1) / n", "C0"),
        ("one_direction", 2 * line, "2 d / n", "C1"),
    ):
        label = name.replace("_", " ")
        spectra.loglog(d, [record[name] for record in records], "o", color=color, label=label)
        spectra.loglog(line, np.sqrt(formula / n), color=color, lw=1, label=rf"$\sqrt{{{text}}}$")
    spectra.set(xlabel="dimension d", ylabel=f"RMS error of d eigenvalues, n = {n:,}")
    for panel in (factor, relative, spectra):
        panel.legend(fontsize=8)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return measured and exact values for each dimension."""
    return [
        {
            "d": record["d"],
            "factor": record["factor"],
            "relative variance": record["relative_variance"],
            "exact": exact_variance(record["d"]),
            "error, full gradients": record["full_gradients"],
            "one direction": record["one_direction"],
            "their ratio": record["one_direction"] / record["full_gradients"],
            "exact ratio": float(np.sqrt(2 * record["d"] / (record["d"] + 1))),
        }
        for record in records
    ]
