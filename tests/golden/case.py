"""What a golden case is: a small seeded problem, and the numbers that describe its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 1e-9
Results = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """How a problem is computed; neither setting may change the result beyond rounding.

    Parameters
    ----------
    reverse
        Whether the rows of the data come in reversed order.
    n_jobs
        The number of threads.
    """

    reverse: bool = False
    n_jobs: int = 1

    def rows(self, array):
        """Return an array with one entry for each row of the data, in the order of this trial."""
        return array[::-1].copy() if self.reverse else array


@dataclass(frozen=True)
class Case:
    """A problem and how closely its numbers have to be met.

    Parameters
    ----------
    name
        The name in the file of golden results.
    compute
        A function of a trial that returns named arrays. Integers are compared exactly.
    tolerance
        The largest difference, relative to the largest entry of an array.
    loose
        Tolerances of single arrays.
    reason
        Why a tolerance is not the usual one.
    """

    name: str
    compute: Callable[[Trial], Results]
    tolerance: float = TOLERANCE
    reason: str = ""
    loose: dict[str, float] = field(default_factory=dict)

    def run(self, trial=Trial()):  # noqa: B008  (a frozen value)
        """Return the results as arrays, with an empty one in place of None."""
        found = self.compute(trial)
        return {key: np.asarray([] if v is None else v) for key, v in found.items()}

    def allowed(self, key):
        """Return the tolerance of one array."""
        return self.loose.get(key, self.tolerance)


def difference(now, then):
    """Return the largest difference of two arrays relative to the largest entry, or infinity."""
    if now.shape != then.shape or (now.dtype.kind == "f") != (then.dtype.kind == "f"):
        return np.inf
    if now.dtype.kind != "f":
        return 0.0 if np.array_equal(now, then) else np.inf
    finite = np.isfinite(then)
    if not np.array_equal(now[~finite], then[~finite], equal_nan=True):
        return np.inf
    now, then = now[finite], then[finite]
    if not now.size:
        return 0.0
    return float(np.abs(now - then).max() / (np.abs(then).max() or 1.0))


def described(found, points, *, slopes=True):
    """Describe a spectrum or singular spectrum by numbers that do not depend on signs.

    Parameters
    ----------
    found
        The spectrum.
    points
        Points (m, d) at which to evaluate the functions; a pair for two views.
    slopes
        Whether to evaluate gradients as well.
    """
    result = {
        "values": found.ritz_values,
        "rank": found.rank,
        "n_rows": found.n_rows,
    }
    if not hasattr(found, "left"):
        return result | evaluated(found, points, "functions", slopes)
    left, right = points if isinstance(points, tuple) else (points, points)
    return (
        result
        | evaluated(found.left, left, "left functions", slopes)
        | evaluated(found.right, right, "right functions", slopes)
    )


def evaluated(functions, points, name, slopes=True):
    """Return the absolute values of functions, and the lengths of their gradients."""
    result = {name: np.abs(functions(points))}
    if slopes and functions.differentiable:
        result[f"slopes of {name}"] = np.linalg.norm(functions.gradient(points), axis=1)
    return result


def in_groups(found, points):
    """Describe a spectrum with repeated eigenvalues: functions by squares summed over groups."""
    squares = found(points) ** 2
    sums = [squares[:, found.groups == g].sum(axis=1) for g in np.unique(found.groups)]
    kept = described(found, points, slopes=False)
    del kept["functions"]
    return kept | {"squares": np.stack(sums, axis=1)}


def attributes(model, *names):
    """Return fitted attributes, dictionaries as their keys and values."""
    result = {}
    for name in names:
        value = getattr(model, name)
        if isinstance(value, dict):
            result[f"{name} keys"] = np.array(list(value), dtype=float)
            value = np.array(list(value.values()))
        result[name] = value
    return result


def named(families, loose=None):
    """Return the cases of families of functions, each named by its family and its own name.

    Parameters
    ----------
    families
        For each family a dictionary of functions of a trial.
    loose
        For some cases, by name, the fields that say which tolerance they have, and why.
    """
    functions = {
        f"{family}: {name}": compute
        for family, members in families.items()
        for name, compute in members.items()
    }
    loose = loose or {}
    assert set(loose) <= set(functions), set(loose) - set(functions)
    return [Case(name, compute, **loose.get(name, {})) for name, compute in functions.items()]
