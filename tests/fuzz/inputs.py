"""Values of arguments, by kind: equal ones of another type, extreme ones, and bad ones."""

import tempfile
from dataclasses import dataclass, field

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

import ritz


@dataclass(frozen=True)
class Kind:
    """What an argument may be; each table maps a label to a function of the value.

    Parameters
    ----------
    same
        Values that mean the same: the result must not change.
    extreme
        Unusual values: the call may answer or refuse them.
    bad
        Values that the call must refuse.
    """

    same: dict = field(default_factory=dict)
    extreme: dict = field(default_factory=dict)
    bad: dict = field(default_factory=dict)

    def without(self, *labels):
        tables = (self.same, self.extreme, self.bad)
        return Kind(*[{k: v for k, v in t.items() if k not in labels} for t in tables])

    def __or__(self, other):
        return Kind(self.same | other.same, self.extreme | other.extreme, self.bad | other.bad)


@dataclass(frozen=True)
class Constant:
    """A value that takes the place of any other."""

    value: object

    def __call__(self, _):
        return self.value


def constants(*values):
    return {short(value): Constant(value) for value in values}


def short(value):
    text = repr(value) if not isinstance(value, type) and not callable(value) else str(value)
    return text if len(text) < 40 else f"{text[:20]}...{len(text)} characters"


def with_entry(entry, kind=np.array):
    """Return a function that puts an entry into the middle of an array."""

    def put(value):
        array = np.array(value, dtype=object if entry is None else None)
        array.flat[array.size // 2] = entry
        return kind(array)

    return put


def memory_map(X):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, X.dtype, "w+", shape=X.shape)
    mapped[:] = X
    return mapped


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def masked(X):
    return np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == X.size // 2)


def frame_with_na(X):
    frame = pd.DataFrame(X).astype("Float64")
    frame.iloc[len(X) // 2, 0] = pd.NA
    return frame


def polars_with_null(X):
    columns = {f"c{j}": X[:, j].tolist() for j in range(X.shape[1])}
    columns["c0"][len(X) // 2] = None
    return pl.DataFrame(columns)


def dates(array):
    return np.full(np.shape(array), np.datetime64("2020-01-01T00:00:00", "ns"))


def distinct_integers(X):
    return 2**53 + np.arange(X.size, dtype=np.int64).reshape(X.shape) ** 2


def one_changed(value):
    def change(X):
        X = X.copy()
        X[0] = value
        return X

    return change


NO_ARRAY = constants("words", 3.0, 1j, {}, object())
POINTS = Kind(
    same={
        "list": lambda X: X.tolist(),
        "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
        "polars": lambda X: pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}),
        "Fortran order": np.asfortranarray,
        "negative strides": lambda X: X[::-1].copy()[::-1],
        "every second": lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
        "read-only": read_only,
        "memory map": memory_map,
        "big-endian": lambda X: X.astype(">f8"),
        "objects": lambda X: X.astype(object),
        "masked array, no mask": np.ma.masked_array,
    },
    extreme={
        **{f"times {f:g}": lambda X, f=f: X * f for f in (1e30, 1e100, 1e160, 1e200, 1e300)},
        **{f"times {f:g}": lambda X, f=f: X * f for f in (1e-30, 1e-100, 1e-200, 1e-310)},
        "plus 1e8": lambda X: X + 1e8,
        "zeros": np.zeros_like,
        "constant column": lambda X: np.hstack([X[:, :-1], np.ones((len(X), 1))]),
        "rounded": np.round,
        "column scales": lambda X: X * np.logspace(-12, 12, X.shape[1]),
        "one far row": one_changed(1e40),
        "above 2^53": distinct_integers,
        "booleans": lambda X: X > 0,
        "bytes": lambda X: (20 * np.abs(X)).astype(np.uint8),
        "float16": lambda X: X.astype(np.float16),
        "float32": lambda X: X.astype(np.float32),
        "one row": lambda X: X[:1],
        "sparse": scipy.sparse.csr_matrix,
    },
    bad={
        "NaN": with_entry(np.nan),
        "inf": with_entry(np.inf),
        "-inf": with_entry(-np.inf),
        "None inside": with_entry(None),
        "masked": masked,
        "pandas NA": frame_with_na,
        "polars null": polars_with_null,
        "dates": dates,
        "NaT": lambda X: np.full(X.shape, np.datetime64("NaT", "ns")),
        "words": lambda X: np.full(X.shape, "a"),
        "complex": lambda X: X + 1j,
        "ragged": lambda X: [[1.0], [1.0, 2.0]],
        "one axis": lambda X: X[:, 0],
        "three axes": lambda X: X[:, :, None],
        "no columns": lambda X: X[:, :0],
        **NO_ARRAY,
        **constants(None),
    },
)
MORE_COLUMNS = Kind(bad={"one more column": lambda X: np.hstack([X, X[:, :1]])})
# Points whose number of columns is fixed by another argument.
FIXED_POINTS = POINTS | MORE_COLUMNS
# Rows that a fit needs at least two of.
ROWS = POINTS.without("one row") | Kind(
    extreme={
        "two rows": lambda X: X[:2],
        "three rows": lambda X: X[:3],
        "each row thrice": lambda X: X[np.arange(len(X)) // 3],
        "twenty columns": lambda X: np.tile(X, 20)[:, :20] * np.arange(1, 21),
    },
    bad={"no rows": lambda X: X[:0], "one row": lambda X: X[:1]},
)
ROWS_OF_ONE = POINTS | Kind(bad={"no rows": lambda X: X[:0]})
SERIES = {
    "list": lambda v: v.tolist(),
    "series": pd.Series,
    "polars": lambda v: pl.Series(values=v),
    "negative strides": lambda v: v[::-1].copy()[::-1],
    "read-only": read_only,
}
BAD_SERIES = {
    "inf": with_entry(np.inf),
    "None inside": with_entry(None),
    "masked": masked,
    "dates": dates,
    "words": lambda v: np.full(v.shape, "a"),
    "complex": lambda v: v + 1j,
    "one more": lambda v: np.append(v, v[:1], axis=0),
    "two more axes": lambda v: v[..., None, None],
    **NO_ARRAY,
}
WEIGHTS = Kind(
    same=SERIES,
    extreme={
        "some zeros": lambda w: w * (np.arange(len(w)) % 2),
        "one alone": lambda w: w * (np.arange(len(w)) == 0),
        **{f"times {f:g}": lambda w, f=f: w * f for f in (1e100, 1e200, 1e300, 1e-200, 1e-310)},
        "wide": lambda w: np.logspace(-150, 150, len(w)),
    },
    bad=BAD_SERIES
    | {"NaN": with_entry(np.nan), "negative": lambda w: -w, "zeros": lambda w: 0 * w},
).without("3.0")
GROUPS = Kind(
    same=SERIES | {"integers": lambda g: g.astype(np.int64)},
    extreme={
        "words": lambda g: g.astype(str),
        "one": np.zeros_like,
        "own": lambda g: 1.0 * np.arange(len(g)),
    },
    bad={"one more": lambda g: np.append(g, 0), "two axes": lambda g: g[:, None], **NO_ARRAY},
)
TARGETS = Kind(
    same=SERIES,
    extreme={
        "NaN": with_entry(np.nan),
        "masked": masked,
        "constant": np.ones_like,
        **{f"times {f:g}": lambda y, f=f: y * f for f in (1e100, 1e200, 1e300, 1e-200)},
        "plus 1e8": lambda y: y + 1e8,
    },
    bad={k: v for k, v in BAD_SERIES.items() if k not in ("None inside", "masked")},
)
LABELS = Kind(
    same=SERIES,
    extreme={"one class": np.zeros_like, "own": lambda y: np.arange(len(y))},
    bad=BAD_SERIES,
).without("None inside", "words", "masked", "inf", "dates")
BAD_NUMBERS = constants(np.nan, np.inf, "words", 1j, object(), [1.0, 2.0], np.arange(3.0), {})
NUMBER = Kind(
    same={"NumPy": np.float64, "no axes": np.array},
    extreme=constants(0.0, 1e-300, 1e-100, 1e30, 1e100, 1e300, 10**400, np.float32(1.5)),
    bad=BAD_NUMBERS | constants(None),
)
NONNEGATIVE = NUMBER | Kind(bad=constants(-1.0, -1e-300))
POSITIVE = NONNEGATIVE.without("0.0") | Kind(bad=constants(0.0))
LENGTHS = POSITIVE.without("[1.0, 2.0]", "array([0., 1., 2.])")
# A count that sizes the result itself.
SIZE = Kind(
    same={"NumPy": np.int64, "float": float},
    extreme=constants(1),
    bad=BAD_NUMBERS | constants(None, 0, -1, 1.5, True),
)
COUNT = SIZE | Kind(extreme=constants(10**7, 10**9, 10**18, 10**400))
SEED = Kind(same={"NumPy": np.int64}, bad=constants(-1, 1.5, "words", object(), np.nan))
JOBS = Kind(same=constants(1, 2, None), bad=constants(0, 1.5, "words", object()))
CHOICE = Kind(bad=constants("no such", 3, None, object(), np.array(["a", "b"]), ["a"], {}, int))
OBJECT = Kind(bad=constants("no such", 3, None, object(), np.zeros((3, 3)), int))
FUNCTION = OBJECT.without("<class 'int'>")
AUTO = Kind(extreme=constants("auto"), bad=constants("no such"))
ANY = Kind()
FILE = Kind(bad=constants(3, [], object(), np.zeros(2)))


def optional(kind):
    """Return a kind that also takes None."""
    return kind.without("None") | Kind(extreme=constants(None))


# An argument's name tells its kind in the whole package.
KINDS = {
    **dict.fromkeys(["X", "Y"], ROWS),
    "points": FIXED_POINTS,
    "centers": POINTS.without("one row"),
    "sample_weight": optional(WEIGHTS),
    "groups": optional(GROUPS),
    "y": TARGETS,
    **dict.fromkeys(["k", "n_folds", "n_centers", "n_neighbors", "degree", "n_components"], COUNT),
    **dict.fromkeys(
        ["n_features", "n_modes", "max_clusters", "batch_size", "evaluate_every", "n_points"], COUNT
    ),
    **dict.fromkeys(["n", "dimension", "n_circles", "n_steps", "columns"], SIZE),
    **dict.fromkeys(["inputs", "outputs", "copies"], SIZE),
    **dict.fromkeys(["alpha", "factor", "scale", "kT", "dt", "learning_rate"], POSITIVE),
    "lag": optional(SIZE).without("1") | Kind(bad=constants(10**7, 10**400)),
    **dict.fromkeys(["regularization", "offset", "t", "noise", "validation_fraction"], NONNEGATIVE),
    **dict.fromkeys(["operator", "order", "kind", "family", "solver", "regularizer"], CHOICE),
    **dict.fromkeys(["form", "basis", "kernel", "spectrum", "sums", "profiles", "module"], OBJECT),
    **dict.fromkeys(["H", "weights", "callables", "augment"], FUNCTION),
    "length_scale": LENGTHS,
    "random_state": SEED,
    "n_jobs": JOBS,
    "keep_sums": CHOICE,
    "patience": optional(COUNT),
    "verbose": ANY,
    "path": Kind(bad=constants("values.txt")),
    "keep": Kind(bad=constants(["no such"])),
    "n_directions": optional(SIZE),
    **dict.fromkeys(["optimizer", "schedule", "gradients"], FUNCTION.without("None")),
}


def as_batches(X):
    cut = len(X) // 3
    return ritz.Batches([X[:cut], X[cut:cut], X[cut:]])


def as_dask(X):
    return dask.array.from_array(X, chunks=(max(1, len(X) // 3), X.shape[1]))


def as_file(X, suffix, folder):
    """Write rows to a table and return its path."""
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    path = f"{folder}/rows.{suffix}"
    getattr(frame, {"csv": "to_csv", "parquet": "to_parquet", "feather": "to_feather"}[suffix])(
        path, **({"index": False, "float_format": "%.17g"} if suffix == "csv" else {})
    )
    return path
