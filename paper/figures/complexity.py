"""Time and memory of graph and kernel Laplacians against n, p and d, with fitted exponents (table).

The graph Laplacian is the paper's, with n by n weights on the span of p sections. The kernel
Laplacian is `ritz.decompose`. Each task runs alone with one thread. An exponent is the slope of a
line through the larger sizes (three of four, four of five) on logarithmic scales. It is compared
with that of the counts in the paper: n^2 (d + p) + n p^2 and n p (d + p) operations, n^2 and n p
stored numbers.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper import Array
from paper.baselines import Weights, graph_inverses
from paper.records import Record
from paper.runner import Runner, seeds

AXES = ("n", "p", "d")
K = 16


@dataclass(frozen=True)
class Config:
    """For each method the point (n, p, d) around which one size varies, the sizes, and repeats."""

    graph: tuple[int, int, int] = (2000, 100, 10)
    kernel: tuple[int, int, int] = (20_000, 100, 10)
    graph_n: tuple[int, ...] = (500, 1000, 2000, 4000)
    # Larger than one block of rows, so that memory has reached its limit.
    kernel_n: tuple[int, ...] = (160_000, 320_000, 640_000, 1_280_000)
    p: tuple[int, ...] = (50, 100, 200, 400, 800)
    d: tuple[int, ...] = (8, 32, 128, 512)
    repeats: int = 3
    seed: int = 0


QUICK = Config()
FULL = Config(
    graph_n=(500, 1000, 2000, 4000, 8000),
    kernel_n=(160_000, 320_000, 640_000, 1_280_000, 2_560_000),
    p=(50, 100, 200, 400, 800, 1600),
    d=(8, 32, 128, 512, 2048),
    repeats=5,
)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each method and size, with seconds and megabytes."""
    (seed,) = seeds(config.seed, 1)
    tasks = []
    for method in METHODS:
        point = dict(zip(AXES, getattr(config, method), strict=True))
        sizes = {"n": getattr(config, f"{method}_n"), "p": config.p, "d": config.d}
        for axis in AXES:
            for size in sizes[axis]:
                task = {"method": method, "axis": axis, **point, axis: size}
                tasks.append({**task, "repeats": config.repeats, "seed": seed})
    # Tasks run one at a time, as tasks that run side by side would slow each other down.
    return replace(runner, n_jobs=1, backend="threading").map(measure, tasks)


def measure(
    method: str, axis: str, n: int, p: int, d: int, repeats: int, seed: int
) -> list[Record]:
    """Measure one method at one size: the shortest of several times, and peak memory."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    # A length scale that grows with the diameter of the samples.
    kernel = ritz.Gaussian(float(np.sqrt(2 * d)))
    solve = METHODS[method]
    times = []
    # The first run, which fills caches, is not counted.
    for _ in range(repeats + 1):
        start = perf_counter()
        solve(X, kernel, p, seed)
        times.append(perf_counter() - start)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    solve(X, kernel, p, seed)
    megabytes = (tracemalloc.get_traced_memory()[1] - before) / 1e6
    tracemalloc.stop()
    sizes = {"n": n, "p": p, "d": d}
    seconds = min(times[1:])
    return [{"method": method, "axis": axis, **sizes, "seconds": seconds, "megabytes": megabytes}]


def graph(X: Array, kernel: ritz.Kernel, p: int, seed: int) -> None:
    """Decompose the graph Laplacian on the span of p kernel sections."""
    sections = ritz.KernelSections(kernel, X[:p])
    list(graph_inverses(Weights.of(kernel, X), sections, X, [p], K))


def galerkin(X: Array, kernel: ritz.Kernel, p: int, seed: int) -> None:
    """Decompose the Laplacian on the span of p kernel sections."""
    basis = ritz.Nystrom(kernel, n_centers=p)
    ritz.decompose(ritz.laplacian(), basis, X, k=K, random_state=seed, n_jobs=1, progress=False)


METHODS: dict[str, Callable[[Array, ritz.Kernel, int, int], None]] = {
    "graph": graph,
    "kernel": galerkin,
}


def counted(method: str, what: str, n: int, p: int, d: int) -> float:
    """Return the paper's count of operations ("seconds") or stored numbers ("megabytes")."""
    if method == "graph":
        return n**2 * (d + p) + n * p**2 if what == "seconds" else n**2
    return n * p * (d + p) if what == "seconds" else n * p


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of log cost against log size over the larger sizes: 3 of 4, 4 of 5."""
    half = len(sizes) // 2
    slope = np.polyfit(np.log(sizes[half - 1 :]), np.log(costs[half - 1 :]), 1)[0]
    return round(float(slope), 2) + 0.0


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return measured and counted exponents of time and memory for each method and axis."""
    rows = []
    for method, axis in dict.fromkeys((r["method"], r["axis"]) for r in records):
        mine = [r for r in records if (r["method"], r["axis"]) == (method, axis)]
        sizes = [r[axis] for r in mine]
        row: Record = {"method": method, "against": axis}
        for name, what in (("time", "seconds"), ("memory", "megabytes")):
            counts = [counted(method, what, r["n"], r["p"], r["d"]) for r in mine]
            row[name] = exponent(sizes, [r[what] for r in mine])
            row[f"{name}, counted"] = exponent(sizes, counts)
        rows.append(row)
    return rows


def plot(records: Sequence[Record]) -> Figure:
    """Draw time and memory against n, p and d, with the fitted exponents."""
    figure = Figure(figsize=(14, 7.5), layout="constrained")
    panels = figure.subplots(2, len(AXES), sharex="col", sharey="row")
    rows = {(row["method"], row["against"]): row for row in numbers(records)}
    for line, (name, what) in zip(
        panels, (("time", "seconds"), ("memory", "megabytes")), strict=True
    ):
        for panel, axis in zip(line, AXES, strict=True):
            for method, marker in zip(METHODS, "so", strict=True):
                mine = [r for r in records if (r["method"], r["axis"]) == (method, axis)]
                point = ", ".join(f"{a} = {mine[0][a]:,}" for a in AXES if a != axis)
                slope = rows[method, axis][name]
                panel.loglog(
                    [r[axis] for r in mine],
                    [r[what] for r in mine],
                    f"{marker}-",
                    label=f"{method}: exponent {slope:.2f} ({point})",
                )
            panel.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
        line[0].set_ylabel(f"{name} ({what})")
    for panel, axis in zip(panels[-1], AXES, strict=True):
        panel.set_xlabel(axis)
        sizes = sorted({r[axis] for r in records if r["axis"] == axis})
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8, rotation=30)
        panel.minorticks_off()
    return figure
