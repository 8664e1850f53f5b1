"""Regression on values and gradients: ours against SMT's and GPyTorch's, on seven functions.

`make bench-hermite` runs each peer for n = 30, 100, ... in a process of its own, until a fit takes
longer than LIMIT seconds or fails. It prints times and errors, and writes benchmarks/hermite.json.
The designs differ much where points are few: at n = 30 and 100 the numbers are medians over five
and three designs. `python -m benchmarks.hermite 1000 3000` runs those sizes again for all that came
that far, `python -m benchmarks.hermite 1000 ritz` for one of them. `python -m benchmarks.hermite
--paired` compares ours with a peer on many designs, where the medians are close.

It needs smt, gpytorch and torch.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from benchmarks.hermite_peers import PEERS, Fitted
from benchmarks.surfaces import SURFACES, Surface
from ritz.atomic import write_atomically

LIMIT = 60.0
SIZES = (30, 100, 300, 1000, 3000)
DESIGNS = {30: 5, 100: 3}
RESULTS = Path("benchmarks/hermite.json")
GPYTORCH = "GPyTorch RBFKernelGrad"
# Surface, n, peer and designs where a peer's median is smaller than ours. The designs from 100 on
# played no part in any choice of ours.
CLOSE_CASES = [
    ("Hartmann-6", 30, "SMT GEKPLS", range(40)),
    ("wing weight", 30, GPYTORCH, range(200, 230)),
    ("Hartmann-6", 100, "SMT GEKPLS", range(20)),
    ("Rosenbrock, d = 10", 100, GPYTORCH, range(8)),
    ("Rosenbrock, d = 2", 100, GPYTORCH, range(20)),
    ("Hartmann-6", 300, GPYTORCH, range(100, 103)),
]

Case = dict[str, Any]


def errors(fitted: Fitted, surface: Surface) -> tuple[float, float]:
    """Return the relative RMSE of values and of gradients at 1000 new points.

    Values relative to their standard deviation; gradients, in units of the box, relative to
    their root mean square.
    """
    Z = surface.latin_hypercube(1000, seed=1)
    y, widths = surface.value(Z), surface.bounds[:, 1] - surface.bounds[:, 0]
    G = surface.gradient(Z) * widths
    missed = fitted.predict_gradient(Z) * widths - G
    value = np.sqrt(np.mean((fitted.predict(Z) - y) ** 2)) / y.std()
    return float(value), float(np.sqrt(np.mean(missed**2) / np.mean(G**2)))


def measure(peer: str, surface: Surface, n: int) -> Case:
    """Fit one peer to n points of Sobol sequences; return the medians over those it could fit."""
    found, failed = [], []
    for seed in range(DESIGNS.get(n, 1)):
        try:
            found.append(measure_design(peer, surface, n, seed))
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")
    if len(failed) > len(found):
        return {"failed": failed[0]}
    names = ("seconds", "value_error", "gradient_error")
    medians = dict(zip(names, map(float, np.median(found, axis=0)), strict=True))
    return {**medians, **({"designs_failed": len(failed)} if failed else {})}


def measure_design(
    peer: str, surface: Surface, n: int, seed: int, limit: float = LIMIT
) -> tuple[float, float, float]:
    """Fit once and return seconds and errors.

    The system ends the process if the fit takes longer than the limit in seconds; 0 means none.
    """
    X = surface.sobol(n, seed=seed)
    y, gradient = surface.value(X), surface.gradient(X)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        start = time.perf_counter()
        fitted = PEERS[peer](X, y, gradient, surface.bounds)
        seconds = time.perf_counter() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return seconds, *errors(fitted, surface)


def run(peer: str, surface: Surface, n: int) -> Case:
    """Measure in a process of its own, unless that takes too long or fails."""
    command = [sys.executable, "-m", "benchmarks.hermite", peer, surface.name, str(n)]
    case: Case = {"surface": surface.name, "peer": peer, "n": n}
    # Imports and predictions come on top of the limit of each fit.
    patience = DESIGNS.get(n, 1) * (LIMIT + 60)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return case
    if done.returncode == -signal.SIGALRM:
        return case
    if done.returncode:
        return {**case, "failed": (done.stderr.splitlines() or ["killed"])[-1]}
    return {**case, **json.loads(done.stdout.splitlines()[-1])}


def ends(case: Case) -> bool:
    """Return whether a peer stops here."""
    return float(case.get("seconds", np.inf)) > LIMIT


def cases(
    surfaces: tuple[Surface, ...], sizes: tuple[int, ...], peers: set[str], known: list[Case]
) -> list[Case]:
    """Run each peer on each surface, larger and larger, until it is too slow.

    Cases known before are kept, or measured again if size and peer are among those wanted.
    """
    results: list[Case] = []
    for surface in surfaces:
        for peer in PEERS:
            own = {c["n"]: c for c in known if (c["surface"], c["peer"]) == (surface.name, peer)}
            wanted = sizes if peer in peers else ()
            for n in sorted({*own, *wanted}):
                results.append(run(peer, surface, n) if n in wanted else own[n])
                print(line(results[-1]), flush=True)
                if ends(results[-1]):
                    break
    return results


def line(case: Case) -> str:
    start = f"{case['surface']:<20} n = {case['n']:>5}  {case['peer']:<24}"
    if "failed" in case:
        return f"{start} {case['failed']}"
    if "seconds" not in case:
        return f"{start} longer than {LIMIT:.0f} s"
    return (
        f"{start} {case['seconds']:8.2f} s   error of values {case['value_error']:.1e}, "
        f"of gradients {case['gradient_error']:.1e}"
    )


def ratios(surface: Surface, n: int, peer: str, designs: range) -> np.ndarray:
    """Return our errors over the peer's (designs, 2), of values and of gradients."""
    found = []
    for seed in designs:
        ours = measure_design("ritz", surface, n, seed, limit=0.0)[1:]
        try:
            theirs = measure_design(peer, surface, n, seed, limit=0.0)[1:]
        except Exception as error:
            print(f"    design {seed}: {peer} fails ({type(error).__name__})", flush=True)
            continue
        found.append(np.divide(ours, theirs))
    return np.array(found)


def summary(ratio: np.ndarray) -> str:
    """Return the geometric mean of ratios (designs,), its 95% interval, how many are below 1."""
    logs = np.log(ratio)
    reach = t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    low, middle, high = np.exp(logs.mean() + reach * np.array([-1, 0, 1]))
    return f"{middle:.3f} ({low:.3f} to {high:.3f}), smaller on {(ratio < 1).sum()} of {len(ratio)}"


def paired() -> None:
    """Compare ours and a peer on the same designs, which removes the spread between designs."""
    named = {surface.name: surface for surface in SURFACES}
    for name, n, peer, designs in CLOSE_CASES:
        print(f"{name}, n = {n}, designs from {designs.start} on, ours over {peer}'s:")
        found = ratios(named[name], n, peer, designs)
        for what, column in zip(("values", "gradients"), found.T, strict=True):
            print(f"    {what}: {summary(column)}", flush=True)


def main(arguments: list[str]) -> None:
    named = {surface.name: surface for surface in SURFACES}
    if arguments == ["--paired"]:
        paired()
    elif len(arguments) == 3 and arguments[0] in PEERS and arguments[1] in named:
        print(json.dumps(measure(arguments[0], named[arguments[1]], int(arguments[2]))))
    else:
        peers = set(arguments) & set(PEERS)
        sizes = tuple(int(n) for n in arguments if n not in peers)
        known = json.loads(RESULTS.read_text()) if arguments else []
        found = cases(tuple(SURFACES), sizes or SIZES, peers or set(PEERS), known)
        with write_atomically(RESULTS) as file:
            file.write(json.dumps(found, indent=1).encode() + b"\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
