"""A constant fitted with Gaussian sections, without and with gradients (Hermite regression).

The samples are points on [-1, 1] with values 1 and gradients 0, without noise. Gaussian sections do
not span the constant, and the penalty shrinks their approximation of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper.records import Record
from paper.runner import Runner, seeds

# For each method, whether gradients are given, and whether the constant is in the span.
WAYS = {
    "values": (False, False),
    "values and gradients": (True, False),
    "constant in the span": (False, True),
}
COLORS = dict(zip(WAYS, ("C1", "C0", "black"), strict=True))


@dataclass(frozen=True)
class Config:
    """Samples, sections, length scales, the one that is drawn, penalty, trials, plotted points."""

    n: int = 1000
    p: int = 100
    lengths: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    shown: float = 0.2
    penalty: float = 1e-3
    trials: int = 10
    points: int = 401
    seed: int = 0


# The paper's size takes seconds only.
QUICK = FULL = Config()


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record of the error for each trial, length scale and method."""
    shared = {"n": config.n, "p": config.p, "penalty": config.penalty}
    tasks = [
        # The picture needs the curves of one trial.
        {
            "way": way,
            "length": length,
            "seed": seed,
            "points": config.points,
            "curve": length == config.shown and trial == 0,
            **shared,
        }
        for trial, seed in enumerate(seeds(config.seed, config.trials))
        for length in config.lengths
        for way in WAYS
    ]
    return runner.map(constant, tasks)


def constant(
    way: str, length: float, n: int, p: int, penalty: float, points: int, seed: int, curve: bool
) -> list[Record]:
    """Fit the constant 1 by one method."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 1))
    gradients, in_span = WAYS[way]
    model = ritz.HermiteRegressor(
        # With a given kernel x is not rescaled, so a gradient weight of 1 is the paper's loss.
        ritz.Gaussian(length),
        gradient_weight=1.0,
        regularization=penalty,
        centers=X[:p],
        constant=in_span,
        n_jobs=1,
    ).fit(X, np.ones(n), gradient=np.zeros((n, 1)) if gradients else None)
    x = np.linspace(-1, 1, points)
    missed = model.predict(x[:, None]) - 1
    record = {
        "way": way,
        "length": length,
        "largest": float(np.abs(missed).max()),
        "rms": float(np.sqrt((missed**2).mean())),
    }
    return [{**record, "x": x, "missed": missed} if curve else record]


def plot(records: Sequence[Record]) -> Figure:
    """Draw the error of one trial, its absolute value, and the largest at each length scale."""
    figure = Figure(figsize=(13, 3.8), layout="constrained")
    plain, size, lengths = figure.subplots(1, 3)
    curves = {record["way"]: record for record in records if "missed" in record}
    for way, color in COLORS.items():
        x, missed = curves[way]["x"], np.array(curves[way]["missed"])
        plain.plot(x, missed, color=color, lw=1.2, label=way)
        # A logarithmic scale cannot show zero.
        if missed.any():
            size.semilogy(x, np.abs(missed), color=color, lw=1.0, label=way)
        rows = [row for row in numbers(records) if row["way"] == way and row["largest, median"]]
        if rows:
            middle, low, high = (
                np.array([row[f"largest, {name}"] for row in rows])
                for name in ("median", "least", "most")
            )
            bars = (middle - low, high - middle)
            at = [row["length"] for row in rows]
            lengths.errorbar(at, middle, bars, fmt="o-", color=color, capsize=3, label=way)
    shown = f"length scale {curves['values']['length']:g}, one draw"
    plain.set(xlabel="x", ylabel="f(x) - 1", title=shown)
    size.set(xlabel="x", ylabel="|f(x) - 1|", title=shown, ylim=(1e-9, 1e-2))
    lengths.set(xlabel="length scale", ylabel="largest |f(x) - 1|", xscale="log", yscale="log")
    lengths.set_title("all draws: median, least and most")
    plain.legend(fontsize=9)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the errors of each method at each length scale over the trials."""
    rows = []
    for length, way in dict.fromkeys((record["length"], record["way"]) for record in records):
        mine = [r for r in records if (r["length"], r["way"]) == (length, way)]
        largest = [record["largest"] for record in mine]
        rows.append(
            {
                "length": length,
                "way": way,
                "largest, median": float(np.median(largest)),
                "largest, least": min(largest),
                "largest, most": max(largest),
                "RMS, median": float(np.median([record["rms"] for record in mine])),
            }
        )
    return rows
