"""Missing entries and dates: refused by name, or unknown where NaN means that."""

import datetime as dt

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.validation import as_numeric
from tests.bad_input import D, N, X, Y, raises

ROW, COLUMN = 18, 1
BASIS = ritz.Monomials(2)
TARGET = X[:, 0] + X[:, 1] ** 2
GRADIENT = np.column_stack([np.ones(N), 2 * X[:, 1]])


def masked(array):
    """Mask an entry, and hide a number behind the mask that would ruin any result."""
    place = (ROW, COLUMN)[: array.ndim]
    data, mask = array.copy(), np.zeros(array.shape, dtype=bool)
    data[place], mask[place] = 10**9, True
    return np.ma.masked_array(data, mask=mask)


def with_entry(entry):
    def changed(array):
        result = array.astype(object)
        result[(ROW, COLUMN)[: array.ndim]] = entry
        return result

    return changed


MISSING = {
    "masked": masked,
    "masked rows in a list": lambda array: list(masked(array)),
    "None": with_entry(None),
    "NA": with_entry(pd.NA),
    "NaT": with_entry(np.datetime64("NaT")),
    "NaT of pandas": with_entry(pd.NaT),
}
DATES = {
    "dates": lambda array: (1e3 * array).astype("datetime64[D]"),
    "missing dates": lambda array: np.where(array > 0, np.datetime64("NaT"), np.datetime64("2024")),
    "spans": lambda array: (1e3 * array).astype("timedelta64[s]"),
    "date objects": with_entry(np.datetime64("2024-05-01")),
    "timestamps": with_entry(pd.Timestamp("2024-05-01")),
}
each_missing = pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
each_bad = pytest.mark.parametrize(
    "bad", [*MISSING.values(), *DATES.values()], ids=[*MISSING, *DATES]
)

ESTIMATORS = {
    "SpectralEmbedding": (ritz.SpectralEmbedding(2, basis=BASIS), None),
    "SpectralClustering": (ritz.SpectralClustering(2, basis=BASIS), None),
    "DiffusionModes": (ritz.DiffusionModes(2, basis=BASIS), None),
    "SingularEmbedding": (ritz.SingularEmbedding(2, basis=BASIS), Y),
    "LaplacianRegressor": (ritz.LaplacianRegressor(basis=BASIS), TARGET),
    "LaplacianClassifier": (ritz.LaplacianClassifier(basis=BASIS), (TARGET > 0).astype(int)),
    "HermiteRegressor": (ritz.HermiteRegressor(length_scale=1.0, n_centers=20), TARGET),
}


def fitted(name, rows=X, **options):
    model, y = ESTIMATORS[name]
    return model.set_params(random_state=0).fit(rows, y, **options)


@each_bad
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_estimator_reads_missing_rows_or_dates(name, bad):
    with raises("'X'", "must be"):
        fitted(name, bad(X))
    model = fitted(name)
    for method in ("transform", "predict", "predict_proba", "predict_gradient"):
        if hasattr(model, method):
            with raises("'X'", "must be"):
                getattr(model, method)(bad(X))


@each_missing
def test_the_first_missing_entry_is_named(missing):
    with raises("'X'", "missing", f"row {ROW}, column {COLUMN}"):
        fitted("SpectralEmbedding", missing(X))
    with raises("'X'", "missing", f"row {ROW}, column {COLUMN}"):
        ritz.decompose(ritz.laplacian(), BASIS, missing(X), 2)


CATEGORIES = {
    "text": lambda column: column,
    "category": pd.Categorical,
    "interval": lambda column: pd.cut(X[:, 0], 3),
    "text with gaps": lambda column: np.where(X[:, 0] > 0, column, None),
}


@pytest.mark.parametrize("kind", CATEGORIES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_categories_are_named_with_the_remedy(name, kind):
    frame = pd.DataFrame(
        {"a": X[:, 0], "island": CATEGORIES[kind](np.array(["x", "y"] * (N // 2)))}
    )
    with raises("'X'", "column 'island'", "OneHotEncoder in a ColumnTransformer"):
        fitted(name, frame)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_gaps_are_named_with_the_remedy(name):
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.loc[ROW, "b"] = np.nan
    for data in (frame, frame.convert_dtypes()):
        with raises("'X'", f"row {ROW}, column 'b'", "sklearn.impute.SimpleImputer"):
            fitted(name, data)


@pytest.mark.parametrize("column", [pd.NA, pd.Timestamp("2024-05-01")], ids=["NA", "date"])
def test_a_column_of_a_frame_without_numbers_is_named_or_refused(column):
    frame = pd.DataFrame(X, columns=["a", "b"]).astype({"b": object})
    frame.loc[ROW, "b"] = column
    words = ("row 18, column 'b'",) if column is pd.NA else ("dates",)
    with raises("'X'", *words):
        fitted("SpectralEmbedding", frame)
    with raises("'X'", "dates"):
        fitted("SpectralEmbedding", pd.DataFrame({"a": X[:, 0], "b": pd.Timestamp("2024")}))


@pytest.mark.parametrize(
    "entry", [dt.datetime(2024, 5, 1), dt.date(2024, 5, 1), dt.timedelta(1), dt.time(1)], ids=repr
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_no_column_of_a_frame_holds_dates(frame, entry):
    data = frame({"a": X[:, 0], "b": [entry] * N})
    with raises("'X'", "dates"):
        fitted("SpectralEmbedding", data)
    with raises("'X'", "dates"):
        ritz.assemble(ritz.laplacian(), BASIS, data)
    with raises("'batch 0'", "dates"):
        ritz.assemble(ritz.laplacian(), BASIS, ritz.Batches([data]))


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "double[pyarrow]"])
def test_columns_of_nullable_numbers_are_not_searched_entry_by_entry(dtype, monkeypatch):
    data = pd.DataFrame((X > 0), columns=["a", "b"]).astype(dtype)
    expected = as_numeric(X > 0, "X")
    monkeypatch.setattr("ritz.reading.is_missing", None)
    np.testing.assert_array_equal(as_numeric(data, "X"), expected)
    data.loc[ROW, "b"] = pd.NA
    with raises("'X'", f"row {ROW}, column 'b'"):
        as_numeric(data, "X", allow_missing=False)


@each_bad
def test_weights_are_known(bad):
    weight = np.abs(X[:, 0])
    for name in ESTIMATORS:
        with raises("'sample_weight'"):
            fitted(name, sample_weight=bad(weight))
    with raises("'sample_weight'"):
        ritz.assemble(ritz.laplacian(), BASIS, X, sample_weight=bad(weight))
    with raises("'gradient_sample_weight'"):
        fitted("HermiteRegressor", gradient=GRADIENT, gradient_sample_weight=bad(weight))


@each_missing
def test_groups_are_known(missing):
    for labels in (np.arange(N) // 5, np.array([f"run {i // 5}" for i in range(N)])):
        with raises("'groups'", "missing", f"row {ROW}"):
            ritz.assemble(ritz.laplacian(), BASIS, X, groups=missing(labels))
    with raises("'groups'", "missing", "row 3"):
        groups = np.where(np.arange(N) == 3, np.nan, 1.0)
        ritz.assemble(ritz.laplacian(), BASIS, X, groups=groups)


@each_bad
def test_streams_hold_numbers(bad):
    laplacian = ritz.laplacian()
    for stream, name in (
        (bad(X), "X"),
        (ritz.Batches([X, bad(X)]), "batch 1"),
        (ritz.Batches([(X, bad(np.abs(X[:, 0])))], weighted=True), "weights of batch 0"),
    ):
        with raises(f"'{name}'"):
            ritz.assemble(laplacian, BASIS, stream)
    with raises("'Y'"):
        ritz.assemble(ritz.cross(), BASIS, (X, bad(Y)))


def test_chunks_of_dask_arrays_hold_numbers():
    chunks = [da.from_array(X[:100], chunks=50), da.from_array(masked(X[100:]), chunks=100)]
    with raises("'X'", "missing", f"row {100 + ROW}, column {COLUMN}"):
        ritz.assemble(ritz.laplacian(), BASIS, da.concatenate(chunks))
    with raises("'X'", "missing", f"row {100 + ROW}, column {COLUMN}"):
        fitted("SpectralEmbedding", da.concatenate(chunks))
    with raises("'sample_weight'", "missing", f"row {ROW}"):
        weight = da.from_array(masked(np.abs(X[:, 0])), chunks=100)
        ritz.assemble(ritz.laplacian(), BASIS, X, sample_weight=weight)
    dates = da.from_array(DATES["dates"](X), chunks=100)
    with raises("'X'", "dates"):
        ritz.assemble(ritz.laplacian(), BASIS, dates)


def test_estimators_read_dask_arrays_three_times():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return rows

    lazy = da.from_array(X, chunks=N).map_blocks(counted, meta=np.empty((0, 0)))
    found = fitted("SpectralEmbedding", lazy).eigenvalues_.copy()
    # For the sample, the first rows and the sums.
    assert calls == [N] * 3
    np.testing.assert_array_equal(found, fitted("SpectralEmbedding").eigenvalues_)


def test_columns_of_files_hold_numbers(tmp_path):
    def assemble(**columns):
        pq.write_table(pa.table({"a": X[:, 0], **columns}), tmp_path / "rows.parquet")
        return ritz.assemble(ritz.laplacian(), BASIS, ritz.Table(tmp_path / "rows.parquet"))

    with raises("Column 'b'", "date32", "row 0"):
        assemble(b=pa.array(DATES["dates"](X[:, 0])))
    with raises("Column 'b'", "string", "numbers"):
        assemble(b=pa.array(["x"] * N))
    with raises("Column 'b'", "null", f"row {ROW}"):
        assemble(b=pa.array([None if i == ROW else True for i in range(N)]))
    with raises("Column 'b'", "null", f"row {ROW}"):
        assemble(b=pa.array([None if i == ROW else i for i in range(N)]))


@each_bad
def test_points_and_fields_hold_numbers(bad):
    spectrum = ritz.decompose(ritz.laplacian(), BASIS, X, 3)
    pair = ritz.decompose(ritz.cross(), BASIS, (X, Y), 3)
    for call, name in (
        (lambda: spectrum(bad(X)), "X"),
        (lambda: spectrum.gradient(bad(X)), "X"),
        (lambda: ritz.diffusion_map(spectrum, bad(X), 1.0), "X"),
        (lambda: ritz.heat_kernel(spectrum, X, bad(X), 1.0), "Y"),
        (lambda: pair(X, bad(Y)), "Y"),
        (lambda: ritz.Gaussian()(X, bad(X)), "Y"),
        (lambda: ritz.KernelSections(ritz.Gaussian(), bad(X)), "centers"),
        (lambda: ritz.directional(bad(X)), "U"),
        (lambda: ritz.potential(bad(X[:, 0])), "V"),
        (lambda: ritz.gevd(bad(np.eye(N)), np.eye(N), 2), "L"),
        (lambda: ritz.HermiteRegressor(centers=bad(X)).fit(X, TARGET), "centers"),
    ):
        with raises(f"'{name}'"):
            call()


@each_missing
def test_missing_targets_are_unknown_ones(missing):
    known = np.arange(N) != ROW
    unknown = np.where(known, TARGET, np.nan)
    for name in ("LaplacianRegressor", "HermiteRegressor"):
        model = ESTIMATORS[name][0].set_params(random_state=0)
        expected = model.fit(X, unknown).predict(X)
        np.testing.assert_array_equal(model.fit(X, missing(TARGET)).predict(X), expected)
    regressor = ritz.LaplacianRegressor(basis=BASIS, random_state=0).fit(X, TARGET)
    assert regressor.score(X, missing(TARGET)) == regressor.score(X[known], TARGET[known])
    labels = (TARGET > 0).astype(int)
    classifier = ritz.LaplacianClassifier(basis=BASIS, random_state=0)
    expected = classifier.fit(X, np.where(known, labels, -1)).predict_proba(X)
    np.testing.assert_array_equal(classifier.fit(X, missing(labels)).predict_proba(X), expected)
    assert classifier.score(X, missing(labels)) == classifier.score(X[known], labels[known])


@each_missing
def test_missing_gradients_are_unknown_ones(missing):
    model = ESTIMATORS["HermiteRegressor"][0].set_params(random_state=0)
    unknown = GRADIENT.copy()
    unknown[ROW, COLUMN] = np.nan
    expected = model.fit(X, TARGET, gradient=unknown).predict(X)
    found = model.fit(X, TARGET, gradient=missing(GRADIENT)).predict(X)
    np.testing.assert_array_equal(found, expected)
    with raises("directions"):
        model.fit(X, TARGET, gradient=TARGET, directions=missing(X))


@pytest.mark.parametrize("dates", DATES.values(), ids=DATES)
def test_dates_are_no_targets(dates):
    for name in ("LaplacianRegressor", "HermiteRegressor", "SingularEmbedding"):
        with raises("'y'", "numbers"):
            ESTIMATORS[name][0].fit(X, dates(TARGET))
    with raises("'gradient'", "numbers"):
        ESTIMATORS["HermiteRegressor"][0].fit(X, TARGET, gradient=dates(GRADIENT))


@pytest.mark.parametrize("name", ["HermiteRegressor", "LaplacianRegressor"])
def test_a_masked_target_is_not_scored(name):
    model, y = fitted(name), masked(TARGET)
    known = ~np.ma.getmaskarray(y)
    assert model.score(X, y) == model.score(X[known], TARGET[known])


def test_masked_arrays_without_a_masked_entry_are_arrays():
    plain = np.ma.masked_array(X, mask=np.zeros((N, D), dtype=bool))
    expected = fitted("SpectralEmbedding").eigenvalues_.copy()
    np.testing.assert_array_equal(fitted("SpectralEmbedding", plain).eigenvalues_, expected)
