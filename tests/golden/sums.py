"""Golden cases of sums that are kept, added and subtracted, and of every stream."""

import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import dask.array
import numpy as np
import pyarrow
import pyarrow.parquet

import ritz
from tests.golden.case import described, named
from tests.golden.data import points, weights
from tests.golden.operators import GAUSSIAN, X, given, uneven
from tests.golden.routes import LAPLACIAN, MANY, VIEWS


def merged(form, basis, t):
    """Add the sums of three parts of the data, and subtract one of them."""
    options = {"random_state": 0, "n_jobs": t.n_jobs}
    first, second, third = (t.rows(part) for part in np.split(MANY[:900], [500, 700]))
    a = ritz.assemble(form, basis, first, **options)
    b, c = (ritz.assemble(form, a.left, part, **options) for part in (second, third))
    whole = a + b + c
    result = {"counts": whole.count, "weights": whole.weight}
    for name, sums in {"added": whole, "subtracted": whole - b, "folds": a.of(range(5))}.items():
        found = described(ritz.decompose_sums(sums, 5), points(2), slopes=False)
        result |= {f"{name}: {key}": value for key, value in found.items()}
    return result


def merged_views(t):
    """Add the sums of two parts of two views."""
    parts = [tuple(t.rows(view[rows]) for view in VIEWS) for rows in (slice(200), slice(200, 300))]
    basis = (given(GAUSSIAN, p=9), ritz.Monomials(2))
    a = ritz.assemble(ritz.cross(), basis, parts[0], random_state=0)
    b = ritz.assemble(ritz.cross(), (a.left, a.right), parts[1])
    return described(ritz.decompose_sums(a + b, 4, regularization=1e-3), points(2))


def sums_of(form, basis, t):
    """Keep the sums of a pass, and decompose them twice."""
    sums = ritz.assemble(form, basis, t.rows(X), random_state=0, n_jobs=t.n_jobs)
    result = {"counts": sums.count, "weights": sums.weight}
    result |= described(ritz.decompose_sums(sums, 6), points(2))
    smooth = ritz.decompose_sums(sums, 3, regularization=1e-4)
    return result | {"regularized": smooth.ritz_values, "regularized errors": smooth.errors}


def streamed(kind, t):
    """Read the same rows from one of the streams."""
    rows, w = t.rows(MANY[:2000]), t.rows(weights(2000))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        data, options = rows, {}
        if kind == "batches":
            data = ritz.Batches(np.array_split(rows, 7))
        elif kind == "weighted batches":
            parts = zip(np.array_split(rows, 7), np.array_split(w, 7), strict=True)
            data = ritz.Batches(list(parts), weighted=True)
        elif kind == "memmap":
            np.save(path, rows)
            data = np.load(f"{path}.npy", mmap_mode="r")
        elif kind == "dask":
            data = dask.array.from_array(rows, chunks=(700, 2))
        elif kind in ("table", "weighted table"):
            table = pyarrow.table({"a": rows[:, 0], "b": rows[:, 1], "w": w})
            pyarrow.parquet.write_table(table, path, row_group_size=600)
            weight = "w" if kind == "weighted table" else None
            data = ritz.Table(path, columns=["a", "b"], weight=weight)
        elif kind == "weighted array":
            options = {"sample_weight": w}
        basis = ritz.Nystrom(ritz.Gaussian(0.4), 20)
        found = ritz.decompose(LAPLACIAN, basis, data, 6, random_state=0, **options)
        with warnings.catch_warnings():
            # Points without names, for functions of named columns.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return described(found, points(2))


def pairs_in_batches(t):
    """Read two views in batches."""
    views = [np.array_split(t.rows(view), 5) for view in VIEWS]
    data = ritz.Batches(list(zip(*views, strict=True)), views=2)
    found = ritz.decompose(ritz.pairs(), given(GAUSSIAN), data, 5, random_state=0)
    return described(found, points(2))


def cases():
    """Yield all cases of this module."""
    for name, basis in {"gaussian": given(GAUSSIAN), "monomials": ritz.Monomials(3)}.items():
        yield f"merged, {name}", partial(merged, LAPLACIAN, basis)
        yield (
            f"merged, indefinite, {name}",
            partial(merged, LAPLACIAN + ritz.potential(uneven), basis),
        )
        yield f"sums, {name}", partial(sums_of, LAPLACIAN, basis)
    yield "merged views", merged_views
    yield "sums, neighbors", partial(sums_of, ritz.neighbors(5, weights="uniform"), given(GAUSSIAN))
    for kind in ("array", "batches", "memmap", "dask", "table"):
        yield f"stream, {kind}", partial(streamed, kind)
    for kind in ("array", "batches", "table"):
        yield f"stream, weighted {kind}", partial(streamed, f"weighted {kind}")
    yield "stream, pairs", pairs_in_batches


CASES = named({"sums": dict(cases())})
