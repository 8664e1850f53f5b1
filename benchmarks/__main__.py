"""`make bench` and `make bench-full`: print tables of ratios, and write benchmarks/results.json."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import centers, digits, embedding, floor, klap_fit, memory, scaling, transform
from benchmarks.compare import Comparison


def over_floor(comparison: Comparison) -> str:
    ratio = 1 / comparison.ratios()
    low, high = np.quantile(ratio, [0.25, 0.75])
    return (
        f"{comparison.case:<48} ours {np.median(comparison.ours):7.3f} s   floor "
        f"{np.median(comparison.theirs):7.3f} s   over floor {np.median(ratio):.2f} "
        f"({low:.2f} to {high:.2f} in half of {len(ratio)} runs)"
    )


def show(title: str, results: list[Any], line: Callable[[Any], str] = str) -> list[Any]:
    print(f"\n{title}")
    for result in results:
        print(line(result), flush=True)
    return [r.record() if isinstance(r, Comparison) else r for r in results]


def main(full: bool) -> None:
    results: dict[str, Any] = {"python": platform.python_version(), "numpy": np.__version__}
    results["floor"] = show(
        "Over the floor: the bare products and one solve",
        floor.cases(5 if full else 3, full),
        over_floor,
    )
    results["float32"] = show(
        "float32 (ratio: the time of float64 over it)", floor.single(6 if full else 3)
    )
    results["klap"] = show(
        "Against klap 0.0.2 (ratio: its time over ours)", klap_fit.cases(5 if full else 3)
    )
    results["transform"] = show(
        "Eigenfunctions at new points (ratio: the other's time over ours)", transform.cases(5)
    )
    results["memory"] = show(
        "Peak memory, Gaussian kernel, p = 300, d = 10", memory.cases(), memory.line
    )
    if full:
        results["klap large"] = show("Against klap, n = 20,000, p = 1,000", klap_fit.large())
        print("\nAgainst klap, over a grid")
        results["klap grid"] = klap_fit.grid(full)
        results["scaling"] = show(
            "From 10^5 to 10^7 rows of a file, p = 100", scaling.cases(), scaling.line
        )
        results["embedding"] = show(
            "scikit-learn's SpectralEmbedding over ours",
            embedding.cases((1000, 3000, 10_000), repeats=1),
            embedding.line,
        )
        found = centers.errors()
        show("Relative error of eigenvalues, by choice of centers", centers.lines(found))
        results["centers"] = {" / ".join(map(str, key)): value for key, value in found.items()}
        results["digits"] = {"probe": digits.probe(), "few labels": digits.few_labels()}
        show("Digits, linear probe", digits.lines(results["digits"]["probe"]))
        show("Digits, ten labels a class", digits.lines(results["digits"]["few labels"]))
    path = Path(__file__).parent / "results.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nwritten to {path.name}")


if __name__ == "__main__":
    main("--full" in sys.argv[1:])
