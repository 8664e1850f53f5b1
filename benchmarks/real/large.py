"""An embedding along neighbors of 70,000 rows: time, memory, Ctrl-C, and one new row.

`python -m benchmarks.real.large` takes a few minutes. Rows are noisy images of points in six
dimensions, in ten clusters, and each fit has a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

import ritz
from benchmarks.process import run_alone

ROWS, COLUMNS, COMPONENTS = 70_000, 50, 20
# Moments at which fits are interrupted, as shares of the time of a whole fit.
MOMENTS = (0.1, 0.3, 0.5, 0.7, 0.9)
NAME = "benchmarks.real.large"


def rows(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers, bend = 3 * rng.normal(size=(10, 6)), rng.normal(size=(6, COLUMNS))
    rng = np.random.default_rng(seed)
    points = centers[rng.integers(10, size=n)] + rng.normal(size=(n, 6))
    return np.sin(points @ bend / 3) + 0.05 * rng.normal(size=(n, COLUMNS))


def fit(n: int) -> dict[str, Any]:
    """Fit with defaults and look at single rows; memory is the peak resident set of the process."""
    X, new = rows(n), rows(200, seed=1)
    start, used = time.perf_counter(), time.process_time()
    model = ritz.SpectralEmbedding(COMPONENTS, random_state=0).fit(X)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    together = model.transform(new)
    single = []
    for j in range(len(new)):
        start = time.perf_counter()
        alone = model.transform(new[j : j + 1])
        single.append(time.perf_counter() - start)
        assert np.array_equal(alone[0], together[j]), j
    return {
        "operator": str(model.operator_),
        "centers": model.n_centers_,
        "seconds": seconds,
        "processor_seconds": used,
        "megabytes": peak,
        "milliseconds_of_a_row": 1e3 * float(np.median(single)),
        "components": model.eigenvalues_.tolist(),
    }


def interrupted(n: int, after: float) -> float:
    """Return the seconds that a fit runs on after Ctrl-C, sent so many seconds after its start."""
    command = [sys.executable, "-W", "ignore", "-m", NAME, "--rows", str(n), "--interrupted"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        answer = process.stdout.readline()
    return float(answer) - sent


def wait_for_interrupt(n: int) -> None:
    X = rows(n)
    print("ready", flush=True)
    try:
        while True:
            ritz.SpectralEmbedding(COMPONENTS, random_state=0).fit(X)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--fit", action="store_true", help="only one fit, in this process")
    parser.add_argument("--interrupted", action="store_true", help="fit until Ctrl-C")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.interrupted:
        wait_for_interrupt(given.rows)
        return
    if given.fit:
        print(json.dumps(fit(given.rows)))
        return
    found = run_alone(NAME, "--rows", given.rows, "--fit")
    print(
        f"{given.rows:,} rows of {COLUMNS} columns, {found['operator']}, "
        f"{found['centers']} centers: {found['seconds']:.1f} s "
        f"({found['processor_seconds']:.1f} s of processors), {found['megabytes']:,.0f} MB resident"
    )
    print(
        f"one new row: {found['milliseconds_of_a_row']:.2f} ms, the same to the last bit among 200"
    )
    for share in MOMENTS:
        after = share * found["seconds"]
        stopped = interrupted(given.rows, after)
        print(f"Ctrl-C after {after:.1f} s: stops in {stopped:.2f} s", flush=True)


if __name__ == "__main__":
    main()
