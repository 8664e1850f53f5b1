"""What a fit will take, before it is begun."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ritz.assembly import Sums, assemble
from ritz.assembly.assemble import PILOT_ROWS, REFERENCE_ROWS
from ritz.assembly.laplacian import LaplacianAssembler
from ritz.bases import Centered, Nystrom
from ritz.forms import Form, laplacian, neighbors
from ritz.forms.form import require_form
from ritz.forms.neighbors import Neighbors
from ritz.kernels import Gaussian
from ritz.selection.candidates import auto_n_centers
from ritz.selection.choice import NEIGHBOR_DEFAULTS, Defaults
from ritz.selection.steps import CENTERS, COMPARED_ROWS
from ritz.spectrum import decompose_sums
from ritz.streams import Batches, Stream, as_stream
from ritz.streams.batches import Once
from ritz.streams.stream import rows_per_chunk
from ritz.validation import Array, as_choice, as_count, as_n_folds, parameter_error

# Seconds that are spent on measuring how fast this machine is.
CALIBRATION_SECONDS = 1.0
# Functions up to which a problem is solved as a measurement; time grows as their number cubed.
MEASURED_FUNCTIONS = 200
# Bytes of the rows that are made up for the measurement.
CALIBRATION_BYTES = 256_000_000
REREADABLE = "a number of rows, an array, or a stream that can be read again"


@dataclass(frozen=True)
class Plan:
    """What a fit takes.

    Attributes
    ----------
    n_rows, dimension, n_centers, operator
        The size of the data, the number of functions and the name of the operator.
    passes
        How often the rows are read: once for all samples that choices look at, and once for the
        sums.
    flops
        Floating point operations of the sums.
    bytes_read
        Bytes of the rows as float64 numbers, over all passes.
    memory
        Bytes that the sums, a block of rows and the samples take at once. The imported libraries,
        200 to 300 MB, and an array of all rows, where X is one, come on top.
    seconds
        The time of the passes and of the solution, from a measurement of a second on this machine;
        of a stream, with the time that its first block takes to read.
    """

    n_rows: int
    dimension: int
    n_centers: int
    operator: str
    passes: int
    flops: float
    bytes_read: float
    memory: float
    seconds: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.operator} on {self.n_rows:,} rows of {self.dimension} columns, "
                f"{self.n_centers:,} centers",
                f"{'passes over the rows':<24}{self.passes:>12}",
                f"{'operations':<24}{self.flops:>12.2g}",
                f"{'bytes read':<24}{readable(self.bytes_read, 'B'):>12}",
                f"{'memory besides libraries':<24}{readable(self.memory, 'B'):>12}",
                f"{'time':<24}{duration(self.seconds):>12}",
            ]
        )


def plan(
    X: Any,
    d: int | None = None,
    operator: Any = "laplacian",
    n_centers: Any = "auto",
    *,
    n_components: int = 8,
    n_neighbors: int = 15,
    n_folds: int = 8,
    n_jobs: int | None = None,
) -> Plan:
    """Say what a fit will take: passes, operations, bytes, memory and seconds.

    It measures for a second how fast this machine adds up sums for random rows. Comparisons of
    kernels, which "auto" makes on 2,000 rows whatever n is, come on top.

    Parameters
    ----------
    X
        The number of rows n, or the rows: an array (n, d) or a stream.
    d
        The number of columns, where X is a number.
    operator
        "laplacian", "neighbors", or a form of one array, such as `ritz.laplacian()`. Where the
        operator of an estimator is "auto", as by default, a look at the rows decides between the
        two; neighbors takes longer and has more centers.
    n_centers
        The number of kernel sections. "auto" counts the most that `ritz.SpectralEmbedding` takes:
        its comparison of candidates may find that fewer do for its functions.
    n_components
        The number of functions wanted, the constant not counted; there are at least as many
        centers.
    n_neighbors, n_folds, n_jobs
        As in `ritz.SpectralEmbedding`.

    Examples
    --------
    >>> import ritz
    >>> found = ritz.plan(10**6, 10, n_centers=200)
    >>> found.passes
    2
    """
    if isinstance(operator, str):
        name = as_choice(operator, "operator", ("laplacian", "neighbors"), "a form")
        form: Form = laplacian() if name == "laplacian" else neighbors(n_neighbors)
    else:
        require_form(operator)
        form = operator
    if form.views > 1 or any(form.row_arrays()):
        what = "a form of one array, without arrays for each row"
        raise parameter_error("operator", what, form)
    n_folds = as_n_folds(n_folds)
    n, d, seconds_of_reading = size_of(X, d)
    k = as_count(n_components, "n_components")
    if isinstance(n_centers, str):
        as_choice(n_centers, "n_centers", ("auto",), "a positive integer")
        p = max(k, most_centers(form, n))
    else:
        p = as_count(n_centers, "n_centers")
    p = min(p, n)
    if k > p:
        raise parameter_error("n_components", f"at most the {p} centers", k)
    per_row, seconds_of_solution, functions = calibrate(form, d, p, k, n_folds, n_jobs)
    reference = REFERENCE_ROWS if form.needs_reference else 0
    samples = 8 * d * (reference + max(p, PILOT_ROWS) + COMPARED_ROWS)
    matrices = 8 * (1 + p) ** 2 * (2 * n_folds + 13)
    passes = 2
    return Plan(
        n_rows=n,
        dimension=d,
        n_centers=p,
        operator=str(form),
        passes=passes,
        flops=float(n) * operations(form, functions, d),
        bytes_read=8.0 * n * d * passes,
        memory=float(2 * 8 * min(n, rows_per_chunk(d)) * d + samples + matrices),
        seconds=n * per_row + passes * seconds_of_reading + seconds_of_solution,
    )


def most_centers(form: Form, n_rows: int) -> int:
    """Return the most centers that "auto" takes for a form on as many distinct rows."""
    defaults = NEIGHBOR_DEFAULTS if isinstance(form, Neighbors) else Defaults()
    most = auto_n_centers(
        n_rows, defaults.centers_per_root, defaults.most_centers, defaults.centers_share
    )
    # So many are compared on a sample, whatever the number of rows.
    return max(most, CENTERS[-1])


def size_of(X: Any, d: int | None) -> tuple[int, int, float]:
    """Return the numbers of rows and columns, and the seconds that a pass over a stream takes."""
    if isinstance(X, int | np.integer) and not isinstance(X, bool):
        if d is None:
            raise parameter_error("d", "the number of columns where X is that of rows", "None")
        return as_count(X, "X"), as_count(d, "d"), 0.0
    if isinstance(X, Iterator):
        raise parameter_error("X", REREADABLE, type(X).__name__)
    if isinstance(X, Batches) and isinstance(X.source, Once):
        raise parameter_error("X", REREADABLE, "Batches of an iterator")
    stream = as_stream(X)
    if d is not None and as_count(d, "d") != stream.dimensions[0]:
        raise parameter_error("d", f"None or {stream.dimensions[0]}, as X has", d)
    n, seconds = stream.n_rows, 0.0
    if isinstance(X, Stream):
        start = perf_counter()
        first = next(stream.blocks(), None)
        seconds = perf_counter() - start
        if first is None:
            raise parameter_error("X", "rows", "none")
        if n is None:
            start = perf_counter()
            n = sum(map(len, stream.blocks()))
            return n, stream.dimensions[0], perf_counter() - start
        seconds *= n / len(first)
    assert n is not None
    return n, stream.dimensions[0], seconds


def calibrate(
    form: Form, d: int, p: int, k: int, n_folds: int, n_jobs: int | None
) -> tuple[float, float, Centered]:
    """Measure the seconds that a row takes in the sums, and those that the solution takes.

    Then follow functions like those that were measured.
    """
    rng = np.random.default_rng(0)
    kernel = Gaussian(float(np.sqrt(d)))
    rows = max(4000, 2 * p, REFERENCE_ROWS if form.needs_reference else 0)
    first = rng.normal(size=(rows, d))

    def sums(basis: Any, X: Array) -> Sums:
        options: dict[str, Any] = {
            "n_folds": n_folds,
            "random_state": 0,
            "n_jobs": n_jobs,
            "progress": False,
        }
        return assemble(form, basis, X, **options)

    # What is fixed once, such as centers and the reference sample, is not measured.
    functions = sums(Nystrom(kernel, p), first).left
    X, spent = first, 0.0
    while True:
        start = perf_counter()
        sums(functions, X)
        seconds = perf_counter() - start
        spent += seconds
        if spent >= CALIBRATION_SECONDS / 2 or 16 * len(X) * d > CALIBRATION_BYTES:
            break
        X = rng.normal(size=(2 * len(X), d))
    some = min(p, max(k, MEASURED_FUNCTIONS))
    small = sums(Nystrom(kernel, some), first)
    start = perf_counter()
    decompose_sums(small, min(1 + k, some), fewer=True, n_jobs=n_jobs)
    return seconds / len(X), (perf_counter() - start) * (p / some) ** 3, functions


def operations(form: Form, functions: Centered, d: int) -> float:
    """Return the floating point operations of the sums for each row, those of products alone."""
    p = functions.size
    sections = 2.0 * d * (p + (REFERENCE_ROWS if form.needs_reference else 0))
    if LaplacianAssembler.applies(form, functions, functions):
        return sections + 3.0 * p * p
    return sections + p * p * (1.0 + 2.0 * form.width(d))


def readable(number: float, unit: str) -> str:
    """Return a number with a unit of a thousand, a million, ... of them."""
    for prefix in ("", "k", "M", "G", "T"):
        if number < 1000 or prefix == "T":
            return f"{number:.3g} {prefix}{unit}"
        number /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """Return seconds in words."""
    if seconds < 120:
        return f"{seconds:.2g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
