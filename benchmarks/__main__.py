"""Run the benchmarks, print tables, and write benchmarks/results.json.

`python -m benchmarks` runs the quick ones, with `--full` all that need no other packages than the
extra `bench`; `--list` lists them all, and `--tiny` shrinks them to see that they work.
"""

from __future__ import annotations

import argparse
import ast
import json
import platform
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compare import Comparison
from ritz.atomic import write_atomically

FOLDER = Path(__file__).parent
NAMES = (
    "goals",
    "floor",
    "solve",
    "klap_fit",
    "embedding",
    "scaling",
    "transform",
    "centers",
    "neighbors",
    "digits",
    "augmented",
    "hermite",
    "hermite_large",
    "hermite_coverage",
    "audit",
    "imports",
    "atoms",
    "real",
    "selection",
    "checkpoints",
    "dask",
    "huge",
)


def description(name: str) -> str:
    """Return the first line of a benchmark's docstring, without importing what it needs."""
    path = FOLDER / f"{name}.py"
    if not path.exists():
        path = FOLDER / name / "__main__.py"
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstring.splitlines()[0]


def show(title: str, results: list[Any], line: Callable[[Any], str] = str) -> list[Any]:
    """Print results under a title, and return them as values of JSON."""
    print(f"\n{title}")
    for result in results:
        print(line(result), flush=True)
    return [r.record() if isinstance(r, Comparison) else r for r in results]


def main(full: bool) -> None:
    from benchmarks import embedding, floor, goals, klap_fit, scaling, transform

    results: dict[str, Any] = {"python": platform.python_version(), "numpy": np.__version__}
    floors = floor.cases(full)
    results["floor"] = show("Over the floor: the bare products and one solve", floors, floor.line)
    results["klap"] = show("Against klap 0.0.2 (ratio: its time over ours)", klap_fit.cases())
    klaps = klap_fit.large()
    results["klap large"] = show("Against klap, n = 20,000, p = 1,000", klaps)
    embeddings = embedding.cases() if full else goals.against_sklearn()
    results["embedding"] = show(
        "scikit-learn's SpectralEmbedding over ours", embeddings, embedding.line
    )
    results["transform"] = show(
        "Eigenfunctions at new points (ratio: the other's time over ours)", transform.cases()
    )
    results["scaling"] = show("More rows of a file", scaling.cases(full), scaling.line)
    if full:
        run_slow(results)
    table = goals.table(floors[: len(goals.FLOOR_GOALS)], klaps, embeddings)
    show("Goals", table)
    results["goals"] = goals.records(table)
    path = FOLDER / "results.json"
    with write_atomically(path) as file:
        file.write(json.dumps(results, indent=2).encode() + b"\n")
    print(f"\nwritten to {path.name}")


def run_slow(results: dict[str, Any]) -> None:
    """Add the results of the benchmarks that take long."""
    from benchmarks import centers, digits, klap_fit, solve

    results["solve"] = show("Sums and solve", solve.cases(), solve.line)
    print("\nAgainst klap, over a grid")
    results["klap grid"] = klap_fit.grid()
    found = centers.errors()
    show("Relative error of eigenvalues, by choice of centers", centers.lines(found))
    results["centers"] = {" / ".join(map(str, key)): value for key, value in found.items()}
    show("The automatic number of centers", centers.automatic())
    results["digits"] = {"probe": digits.probe(), "few labels": digits.few_labels()}
    show("Digits, linear probe", digits.lines(results["digits"]["probe"]))
    show("Digits, ten labels a class", digits.lines(results["digits"]["few labels"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the slow ones, too")
    parser.add_argument("--list", action="store_true", help="name all, and what they measure")
    parser.add_argument("--tiny", action="store_true", help="sizes that show only that they work")
    given = parser.parse_args()
    if given.list:
        for name in NAMES:
            print(f"python -m benchmarks.{name:<16} {description(name)}")
    else:
        warnings.simplefilter("ignore")
        main(given.full)
