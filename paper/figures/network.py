"""Spherical harmonics by networks: the paper's, and a smaller one with a better optimizer.

The paper's network has 200, 200, 2000 and 200 hidden units and 16 outputs. It is trained on 5,000
batches of 1,000 samples by gradient descent with momentum 1/2 and a learning rate of 1e-3, which is
divided by 3 after each third of the training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper import Array
from paper.records import Record
from paper.runner import Runner, seeds

# With zero offsets, the sums are those of the functions without centering.
from ritz.bases import Centered

NEEDS = ("torch",)
# The number of harmonics of degree up to three, with the constant.
FIRST = 16


@dataclass(frozen=True)
class Config:
    """Networks and training.

    Parameters
    ----------
    networks
        Which networks to train, of "ours" and "paper".
    n_rows
        The number of samples on the sphere.
    steps, paper_steps
        The number of batches of each network.
    """

    networks: tuple[str, ...] = ("ours",)
    n_rows: int = 100_000
    steps: int = 600
    paper_steps: int = 5000
    seed: int = 0


QUICK = Config()
FULL = Config(networks=("ours", "paper"))


def model(name: str, steps: int, seed: int) -> Any:
    """Return the unfitted estimator of a network."""
    import torch

    from ritz.neural import SpectralNetwork, mlp

    form = ritz.laplacian(tangent=ritz.datasets.sphere(3).tangent)
    if name == "ours":
        return SpectralNetwork(
            lambda: mlp(3, (128, 128), FIRST - 1),
            form,
            FIRST - 1,
            n_steps=steps,
            batch_size=500,
            evaluate_every=50,
            random_state=seed,
        )
    return SpectralNetwork(
        lambda: mlp(3, (200, 200, 2000, 200), FIRST, torch.nn.ReLU, first_scale=1.0),
        form,
        FIRST,
        n_steps=steps,
        batch_size=1000,
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.5),
        schedule=lambda progress: 3.0 ** -int(3 * progress),
        evaluate_every=50,
        patience=None,
        random_state=seed,
    )


def fit(name: str, steps: int, n_rows: int, seed: int) -> list[Record]:
    """Train one network and return its eigenvalues before and after Rayleigh-Ritz."""
    problem = ritz.datasets.sphere(3)
    X = problem.sample(n_rows, random_state=seed)
    start = perf_counter()
    network = model(name, steps, seed).fit(X)
    seconds = perf_counter() - start
    values = network.spectrum_.values[:FIRST]
    truth = problem.eigenvalues(FIRST)
    before = by_components(network, X)[: FIRST - 1]
    errors = network.spectrum_.errors
    return [
        {
            "network": name,
            "truth": truth.tolist(),
            "values": values.tolist(),
            "errors": None if errors is None else errors[:FIRST].tolist(),
            "before": [0.0, *before.tolist()],
            "worst": float(np.abs(values[1:] / truth[1 : len(values)] - 1).max()),
            "worst_before": float(np.abs(before / truth[1:] - 1).max()),
            "mu": network.mu_,
            "held_out": [list(pair) for pair in network.held_out_losses_],
            "n_steps": network.n_steps_,
            "n_parameters": sum(p.numel() for p in network.module_.parameters()),
            "fit_seconds": seconds,
        }
    ]


def by_components(network: Any, X: Array) -> Array:
    """Return eigenvalues from the principal components of the outputs, ascending.

    At the minimum of the loss, a component of variance s has the eigenvalue mu (1 - s).
    """
    from ritz.neural import Network

    basis = Network(network.module_, columns=X.shape[1])
    functions = Centered(basis, np.zeros(len(basis)))
    sums = ritz.assemble(ritz.laplacian(), functions, X[:20_000], n_folds=1, progress=False)
    Phi = sums.mean().Phi
    covariance = Phi[1:, 1:] - np.outer(Phi[0, 1:], Phi[0, 1:])
    return np.asarray(network.mu_ * (1 - np.linalg.eigvalsh(covariance)[::-1]))


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each network."""
    steps = {"ours": config.steps, "paper": config.paper_steps}
    (seed,) = seeds(config.seed, 1)
    tasks = [
        {"name": name, "steps": steps[name], "n_rows": config.n_rows, "seed": seed}
        for name in config.networks
    ]
    return runner.map(fit, tasks)


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the size, number of steps and largest relative errors of each network."""
    names = ("network", "n_parameters", "n_steps", "worst_before", "worst", "fit_seconds")
    return [{name: record[name] for name in names} for record in records]


def plot(records: Sequence[Record]) -> Figure:
    """Draw the eigenvalues before and after Rayleigh-Ritz, and the loss on held-out rows."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, record in enumerate(records):
        color, n = f"C{place}", len(record["values"])
        index = np.arange(n)
        left.plot(index, record["values"], "o", color=color, ms=5, label=record["network"])
        left.plot(index, record["before"][:n], "x", color=color, ms=5, alpha=0.6)
        steps, losses = np.array(record["held_out"]).T
        right.plot(steps / steps[-1], losses / losses[0], color=color, label=record["network"])
    truth = records[0]["truth"]
    left.step(np.arange(len(truth)), truth, where="mid", color="black", lw=0.8, label="truth")
    left.plot([], [], "x", color="gray", label="before Rayleigh-Ritz")
    left.set(xlabel="number", ylabel="eigenvalue", ylim=(-1, 1.6 * truth[-1]))
    right.set(xlabel="share of the steps", ylabel="loss on held-out rows, first = 1")
    for panel in (left, right):
        panel.legend(frameon=False, fontsize=9)
        panel.spines[["top", "right"]].set_visible(False)
    return figure
