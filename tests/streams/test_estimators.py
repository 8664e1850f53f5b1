"""A fit to rows from any source equals the fit to the array, with the same centers."""

from functools import cache

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import torch

import ritz
from tests.streams.conftest import FORMATS, GRADIENTS, LABELS, NAMES, VALUES, N, X, write

FIXED = {
    "kernel": "gaussian",
    "length_scale": 1.0,
    # So few that they do not magnify rounding errors, which chunks and tensors change.
    "n_centers": 30,
    "regularization": 1e-6,
    "random_state": 0,
}
Y = X + np.random.default_rng(1).normal(size=X.shape)
MODELS = {
    "embedding": lambda: ritz.SpectralEmbedding(3, operator="laplacian", **FIXED),
    "along neighbors": lambda: ritz.SpectralEmbedding(2, operator="neighbors", **FIXED),
    "in standard units": lambda: ritz.SpectralEmbedding(2, scale="standard", **FIXED),
    "clustering": lambda: ritz.SpectralClustering(2, **FIXED),
    "modes": lambda: ritz.DiffusionModes(2, **FIXED),
}


def batches(array=X, parts=7):
    return np.array_split(array, parts)


SOURCES = {kind: lambda folder, kind=kind: ritz.open(*write(folder, kind)) for kind in FORMATS} | {
    "batches": lambda folder: ritz.Batches(batches()),
    "iterator": lambda folder: iter(batches()),
    "generator": lambda folder: (part for part in batches()),
    "dask": lambda folder: da.from_array(X, chunks=(400, 2)),
    "torch": lambda folder: torch.tensor(X),
    "map": lambda folder: np.load(write(folder, "npy")[0], mmap_mode="r"),
}


@cache
def in_memory(name):
    return MODELS[name]().fit(X)


def values(model):
    """What a model says of the rows."""
    rows = named(model)
    return model.transform(rows) if hasattr(model, "transform") else model.predict(rows)


def named(model):
    """The rows with the names of columns that a model was fitted with."""
    return pd.DataFrame(X, columns=NAMES) if hasattr(model, "feature_names_in_") else X


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["embedding", "clustering"])
def test_a_fit_to_any_source_is_that_to_the_array(tmp_path, name, source):
    model = MODELS[name]().fit(SOURCES[source](tmp_path))
    expected = in_memory(name)
    np.testing.assert_allclose(model.spectrum_.values, expected.spectrum_.values, rtol=1e-10)
    np.testing.assert_allclose(values(model), values(expected), atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_takes_files_and_iterators(tmp_path, name):
    for source in ("csv.gz", "generator"):
        model = MODELS[name]().fit(SOURCES[source](tmp_path))
        np.testing.assert_allclose(values(model), values(in_memory(name)), atol=1e-10)


def test_what_is_auto_is_chosen_as_in_memory(parquet):
    table = ritz.open(parquet, NAMES)
    model, expected = (ritz.SpectralEmbedding(2, random_state=0).fit(d) for d in (table, X))
    assert model.kernel_ == expected.kernel_
    assert model.n_centers_ == expected.n_centers_
    assert str(model.operator_) == str(expected.operator_)
    np.testing.assert_allclose(values(model), values(expected), atol=1e-10)
    assert model.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("name", MODELS)
def test_values_at_a_stream_are_those_at_the_array(parquet, name):
    model, table = in_memory(name), ritz.open(parquet, NAMES)
    found = model.transform(table) if hasattr(model, "transform") else model.predict(table)
    np.testing.assert_allclose(found, values(model), atol=1e-12)


def test_scores_and_parts_are_those_of_arrays(parquet):
    expected, table = in_memory("embedding"), ritz.open(parquet, NAMES)
    assert expected.score(table) == pytest.approx(expected.score(X), abs=1e-10)
    model = MODELS["embedding"]().partial_fit(ritz.open(parquet, NAMES))
    np.testing.assert_allclose(values(model), values(expected), atol=1e-10)
    model.partial_fit(iter(batches(Y)))
    sums = MODELS["embedding"]().set_params(keep_sums=True).fit(X).sums_
    whole = MODELS["embedding"]().fit_sums(
        sums + ritz.assemble(sums.form, sums.left, Y, first_row=N, n_folds=expected.n_folds)
    )
    assert model.sums_.n_rows == 2 * N
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)


def test_rows_kept_by_partial_fit_come_before_those_of_a_stream():
    model = MODELS["embedding"]().partial_fit(X[:300]).partial_fit(ritz.Batches([X[300:]]))
    np.testing.assert_allclose(model.transform(X), in_memory("embedding").transform(X), atol=1e-10)


@pytest.mark.parametrize("source", ["batches", "iterator", "columns", "dask"])
def test_two_views(tmp_path, source):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "pairs.parquet"
    columns = {f"x{j}": X[:, j] for j in range(2)} | {f"y{j}": Y[:, j] for j in range(2)}
    pq.write_table(pa.table(columns), path, row_group_size=400)
    pairs = list(zip(batches(), batches(Y), strict=True))
    data = {
        "batches": lambda: (ritz.Batches(pairs, views=2),),
        "iterator": lambda: (iter(pairs),),
        "columns": lambda: (ritz.open(path, columns=[["x0", "x1"], ["y0", "y1"]]),),
        "dask": lambda: tuple(da.from_array(view, chunks=(400, 2)) for view in (X, Y)),
    }[source]
    options = {"n_centers": 30, "random_state": 0}
    expected = ritz.SingularEmbedding(2, **options).fit(X, Y)
    model = ritz.SingularEmbedding(2, **options).fit(*data())
    assert model.length_scale_ == expected.length_scale_
    # Sections as wide as those chosen magnify rounding errors, which chunks change.
    options["length_scale"] = 1.0
    expected = ritz.SingularEmbedding(2, **options).fit(X, Y)
    model = ritz.SingularEmbedding(2, **options).fit(*data())
    assert model.regularization_ == expected.regularization_
    np.testing.assert_allclose(model.singular_values_, expected.singular_values_, rtol=1e-10)
    columns = ["x0", "x1"]
    rows = pd.DataFrame(X, columns=columns) if source == "columns" else X
    np.testing.assert_allclose(model.transform(rows), expected.transform(X), atol=1e-10)
    assert model.score(*data()) == pytest.approx(expected.score(X, Y), abs=1e-10)


@pytest.mark.parametrize("solver", ["qr", "sums"])
@pytest.mark.parametrize("kind", ["parquet", "csv", "views"])
def test_values_and_gradients_are_columns(tmp_path, solver, kind):
    options = {"solver": solver, "n_centers": 60, "random_state": 0, "length_scale": 1.0}
    options |= {"gradient_weight": 1.0, "regularization": 1e-8}
    expected = ritz.HermiteRegressor(**options).fit(X[:400], VALUES[:400], gradient=GRADIENTS[:400])
    if kind == "views":
        targets = np.column_stack([VALUES, GRADIENTS])[:400]
        model = ritz.HermiteRegressor(**options).fit(iter([(X[:400], targets)]))
        rows = ritz.Batches([X])
    else:
        path, names = write(tmp_path, kind)
        whole = ritz.open(path, names)
        rows = whole
        model = ritz.HermiteRegressor(**options)
        first = tmp_path / f"first.{kind}"
        # Only some rows are fitted, in a file of their own.
        import pyarrow as pa
        import pyarrow.parquet as pq

        from tests.streams.conftest import table

        if kind == "parquet":
            pq.write_table(table().slice(0, 400), first, row_group_size=90)
        else:
            pa.csv.write_csv(table().slice(0, 400), first)
        model.fit(ritz.open(first, names), "y", gradient=["da", "db"])
        assert model.score(whole, "y") == pytest.approx(expected.score(X, VALUES), abs=1e-10)
    np.testing.assert_allclose(model.predict(rows), expected.predict(X), atol=1e-10)
    np.testing.assert_allclose(
        model.predict_gradient(rows), expected.predict_gradient(X), atol=1e-10
    )


def test_labels_are_a_column(parquet):
    options = {"n_components": 10, "n_centers": 60, "random_state": 0}
    expected = ritz.LaplacianClassifier(**options).fit(X, LABELS)
    table = ritz.open(parquet, NAMES)
    for model in (
        ritz.LaplacianClassifier(**options).fit(table, "label"),
        ritz.LaplacianClassifier(**options).fit(ritz.Batches(batches()), LABELS),
    ):
        np.testing.assert_allclose(model.predict_proba(table), expected.predict_proba(X), atol=1e-8)
    targets = np.where(LABELS < 0, np.nan, X[:, 0])
    expected = ritz.LaplacianRegressor(**options).fit(X, targets)
    model = ritz.LaplacianRegressor(**options).fit(ritz.Batches(batches()), targets)
    np.testing.assert_allclose(model.predict(table), expected.predict(X), atol=1e-8)


def test_a_spectrum_takes_streams(parquet):
    spectrum, table = in_memory("embedding").spectrum_, ritz.open(parquet, NAMES)
    np.testing.assert_allclose(spectrum(table), spectrum(X), atol=1e-12)
    np.testing.assert_allclose(spectrum.gradient(table), spectrum.gradient(X), atol=1e-12)


def test_an_iterator_is_summed_directly_where_functions_are_fixed(monkeypatch):
    sums = MODELS["embedding"]().set_params(keep_sums=True).fit(X).sums_
    monkeypatch.setenv("RITZ_SPOOL_BYTES", "1")
    found = ritz.assemble(sums.form, sums.left, iter(batches()), n_folds=8)
    np.testing.assert_allclose(found.mean().L, sums.mean().L, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match=r"1e-09 GB after 215 rows.*RITZ_SPOOL_BYTES.*TMPDIR"):
        MODELS["embedding"]().fit(iter(batches()))


def test_an_iterator_is_read_once():
    stream = ritz.Batches(iter(batches()))
    assert stream.dimensions == (2,)
    assert sum(len(block) for block in stream.blocks()) == N
    with pytest.raises(ValueError, match=r"read once only.*ritz\.Batches\(function\)"):
        next(stream.blocks())


def test_one_pass_draws_all_samples_of_a_fit():
    passes = []

    def source():
        passes.append(0)
        return iter(batches())

    stream = ritz.Batches(source)
    assert stream.dimensions == (2,)
    passes.clear()
    MODELS["along neighbors"]().fit(stream)
    # The order of the first rows, all samples, and the sums.
    assert len(passes) == 3


def test_npy_files_are_written_block_by_block(tmp_path):
    model = ritz.SpectralEmbedding(2, operator="laplacian", random_state=0).fit(X)
    parts = ritz.Batches([X[:700], X[700:701], X[701:]])
    assert model.transform_to(parts, tmp_path / "out.npy") == N
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), model.transform(X), atol=1e-12)
    mapped = np.load(tmp_path / "out.npy", mmap_mode="r")
    assert (mapped.shape, mapped.dtype, mapped.flags.c_contiguous) == ((N, 2), np.float64, True)


def test_npy_files_hold_no_other_columns(tmp_path):
    path, columns = write(tmp_path, "parquet")
    rows = ritz.open(path, columns)
    model = ritz.SpectralEmbedding(2, operator="laplacian", random_state=0).fit(rows)
    with pytest.raises(ValueError, match=r"'keep' parameter .* \.npy"):
        model.transform_to(rows, tmp_path / "out.npy", keep=["id"])
    assert not (tmp_path / "out.npy").exists()
