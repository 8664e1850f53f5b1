"""Passes killed by SIGKILL at random moments, and resumed: how far sums are from undisturbed ones.

python -m benchmarks.checkpoints --kills 20
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import ritz
from ritz.assembly import checkpoint
from ritz.rows import Block
from ritz.streams import as_stream
from ritz.streams.stream import Stream

ROOT = Path(__file__).parents[1]
# Rows of a block, how many there are, and the pause after each, so that most kills hit the pass.
BLOCK_ROWS, N_BLOCKS, PAUSE = 200, 30, 0.01
N = BLOCK_ROWS * N_BLOCKS
X = np.random.default_rng(0).normal(size=(N, 3))
Y = X @ np.random.default_rng(1).normal(size=(3, 2)) + np.random.default_rng(2).normal(size=(N, 2))
WEIGHT = np.random.default_rng(3).integers(0, 3, size=N).astype(float)
GROUPS = np.arange(N) // 50
# Rows that repeat, whose folds depend on their place.
COUNTS = np.random.default_rng(4).poisson(3.0, size=(N, 3)).astype(float)
SECTIONS = ritz.Nystrom(ritz.Gaussian(1.5), 60)
# The operator, the basis and the data of each problem: both assemblers, weights, groups, two views.
PROBLEMS: dict[str, Any] = {
    "laplacian": (ritz.laplacian(), SECTIONS, as_stream(X, 1, WEIGHT)),
    "matern": (ritz.laplacian(), ritz.Nystrom(ritz.Matern(2.5, 1.5), 60), as_stream(X)),
    "counts": (ritz.laplacian(), SECTIONS, as_stream(COUNTS)),
    "neighbors": (ritz.neighbors(5), SECTIONS, as_stream(X, 1, WEIGHT, GROUPS)),
    "cross": (ritz.cross(), (SECTIONS, ritz.Monomials(3)), as_stream((X, Y), 2, WEIGHT)),
}


@dataclass(frozen=True, eq=False)
class Slowly(Stream):
    """Another stream in small blocks, with a pause after each, after which it says where it is."""

    stream: Any
    pause: float = 0.0

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(self.stream.dimensions)

    @property
    def n_rows(self) -> int | None:
        return N

    def blocks(self) -> Iterator[Block]:
        whole = self.stream.whole("rows are cut into blocks")
        for start in range(0, N, BLOCK_ROWS):
            time.sleep(self.pause)
            yield whole.take(np.arange(start, start + BLOCK_ROWS))
            if self.pause:
                print(start, flush=True)


def sums_of(name: str, path: str | None = None, pause: float = 0.0) -> ritz.Sums:
    """Return the sums of a problem, with a checkpoint if a path is given."""
    form, basis, stream = PROBLEMS[name]
    rows = Slowly(stream, pause)
    # A pass cuts rows into blocks of its own size.
    with patch("ritz.streams.stream.CHUNK_ROWS", BLOCK_ROWS):
        return ritz.assemble(form, basis, rows, random_state=0, checkpoint=path)


def difference(a: ritz.Sums, b: ritz.Sums) -> float:
    """Return the largest difference of two sums, relative to the largest number; inf if rows do."""
    if not np.array_equal(a.count, b.count):
        return float("inf")
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("L", "Phi", "Psi", "weight")]
    return max(
        float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), np.finfo(float).tiny))
        for first, second in pairs
        for ours, theirs in zip(first, second, strict=True)
    )


def started(name: str, path: Path, pause: float) -> subprocess.Popen[str]:
    """Start a pass in a process of its own."""
    source = str(Path(ritz.__file__).parents[1])
    known = os.environ | {"PYTHONPATH": os.pathsep.join([source, str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.checkpoints", "--run", name]
    options = ["--path", str(path), "--pause", str(pause)]
    return subprocess.Popen(
        [*command, *options], cwd=ROOT, env=known, stdout=subprocess.PIPE, text=True
    )


def killed(name: str, path: Path, rng: np.random.Generator, kills: int) -> int:
    """Start a pass and kill it at a random moment, some times; return how many were at work."""
    hit = 0
    for _ in range(kills):
        process = started(name, path, PAUSE)
        assert process.stdout is not None
        # Wait until the functions are fixed, then for some blocks and a part of one.
        while not path.exists() and process.stdout.readline():
            pass
        for _ in range(int(rng.integers(N_BLOCKS))):
            process.stdout.readline()
        time.sleep(float(rng.uniform(0.0, 2 * PAUSE)))
        hit += process.poll() is None
        process.kill()
        process.wait()
        process.stdout.close()
    return hit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="how many in each problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", choices=PROBLEMS, help="one pass, as a process of its own")
    parser.add_argument("--path")
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    if options.run:
        # Written after each block, so that kills hit files that are being written, too.
        checkpoint.CHECKPOINT_SECONDS, checkpoint.WRITING_SHARE = 0.0, 1e9  # type: ignore[misc]
        sums_of(options.run, options.path, options.pause)
        return
    rng = np.random.default_rng(options.seed)
    print(f"{'problem':<12}{'kills':>7}{'at work':>9}{'resumed':>9}{'largest difference':>20}")
    for name in PROBLEMS:
        whole, worst, hits, resumed = sums_of(name), 0.0, 0, 0
        for _ in range(options.kills):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "fit.ritz"
                hits += killed(name, path, rng, 1)
                resumed += path.exists()
                worst = max(worst, difference(sums_of(name, str(path)), whole))
        print(f"{name:<12}{options.kills:>7}{hits:>9}{resumed:>9}{worst:>20.2g}")


if __name__ == "__main__":
    main()
