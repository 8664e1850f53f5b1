"""Data of other kinds give what arrays give."""

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import ritz

X = np.random.default_rng(0).normal(size=(1000, 2))
WEIGHT = np.random.default_rng(1).integers(0, 4, size=1000).astype(float)
BASIS = ritz.Nystrom(ritz.Gaussian(1.0), 40)


def spectrum(data, form=None, **options):
    return ritz.decompose(form or ritz.laplacian(), BASIS, data, k=6, random_state=0, **options)


def write(path, kind):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "w": WEIGHT, "unused": np.arange(1000)})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=300)
    elif kind == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    return path


@pytest.mark.parametrize("chunks", [(1000, 2), (137, 2), (300, 1)])
def test_dask_arrays(chunks):
    lazy = da.from_array(X, chunks=chunks)
    np.testing.assert_allclose(spectrum(lazy).ritz_values, spectrum(X).ritz_values, atol=1e-12)
    weighted = spectrum(lazy, sample_weight=WEIGHT)
    expected = spectrum(X, sample_weight=WEIGHT)
    np.testing.assert_allclose(weighted.ritz_values, expected.ritz_values, atol=1e-12)


def test_two_dask_views():
    Y = X + 0.1
    pair = tuple(da.from_array(view, chunks=(250, 2)) for view in (X, Y))
    found = spectrum(pair, ritz.cross())
    np.testing.assert_allclose(
        found.ritz_values, spectrum((X, Y), ritz.cross()).ritz_values, atol=1e-10
    )
    with pytest.raises(TypeError, match=r"'Y'.*dask array like the other"):
        spectrum((pair[0], Y), ritz.cross())


def test_dask_chunks_of_unknown_size_name_the_remedy():
    lazy = da.from_array(X, chunks=(250, 2))
    unknown = lazy[lazy[:, 0] > 0]
    with pytest.raises(ValueError, match=r"unknown.*compute_chunk_sizes\(\)"):
        spectrum(unknown)
    known = unknown.compute_chunk_sizes()
    expected = spectrum(X[X[:, 0] > 0])
    # Other chunks round otherwise, and a Gaussian basis makes 1e-6 of that at its rank cut.
    np.testing.assert_allclose(
        spectrum(known).ritz_values, expected.ritz_values, rtol=3e-6, atol=1e-12
    )


def test_forms_that_need_all_rows_say_so():
    lazy = da.from_array(X, chunks=(250, 2))
    with pytest.raises(TypeError, match=r"X must be an array.*DaskStream"):
        spectrum(lazy, ritz.graph(ritz.Gaussian(1.0)))


@pytest.mark.parametrize(
    "form",
    [
        ritz.neighbors(5, weights="uniform"),
        ritz.laplacian("pca", dimension=1),
        ritz.laplacian(density_correction=1.0),
    ],
    ids=str,
)
def test_forms_that_need_a_sample_take_it_from_any_stream(form):
    # Energies along neighbors are differences of large sums, and this basis is nearly singular.
    near = {"rtol": 1e-5} if "neighbors" in str(form) else {"atol": 1e-10}
    lazy = da.from_array(X, chunks=(250, 2))
    truth = spectrum(X, form)
    np.testing.assert_allclose(spectrum(lazy, form).ritz_values, truth.ritz_values, **near)
    batches = ritz.Batches(np.array_split(X, 7))
    np.testing.assert_allclose(spectrum(batches, form).ritz_values, truth.ritz_values, **near)


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_files(tmp_path, kind):
    path = write(tmp_path / f"rows.{kind}", kind)
    table = ritz.Table(path, ["a", "b"])
    assert table.format == kind
    np.testing.assert_allclose(spectrum(table).ritz_values, spectrum(X).ritz_values, atol=1e-12)
    weighted = ritz.Table(path, ["a", "b"], weight="w", format=kind)
    expected = spectrum(X, sample_weight=WEIGHT)
    np.testing.assert_allclose(spectrum(weighted).ritz_values, expected.ritz_values, atol=1e-12)


def test_all_columns_are_the_default_and_missing_ones_are_named(tmp_path):
    path = write(tmp_path / "rows.parquet", "parquet")
    assert ritz.Table(path).dimensions == (4,)
    assert ritz.Table(path, weight="w").columns == ("a", "b", "unused")
    with pytest.raises(ValueError, match=r"'columns'.*'a', 'b'.*'c'"):
        ritz.Table(path, ["a", "c"])


def test_missing_numbers_in_files_are_errors(tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1.0, None, 2.0], "b": [0.0, 1.0, 2.0]}), path)
    with pytest.raises(ValueError, match=r"Column 'a' of .*rows.parquet .*a null in row 1\."):
        spectrum(ritz.Table(path))


class Tensor:
    """What torch tensors offer, gradients and devices included."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def test_tensors():
    found = spectrum(Tensor(X))
    np.testing.assert_array_equal(found.ritz_values, spectrum(X).ritz_values)
    np.testing.assert_array_equal(found(Tensor(X[:5])), found(X[:5]))


def test_batches_may_come_in_the_same_memory():
    def source():
        memory = np.empty((100, 2))
        for part in np.split(X, 10):
            memory[...] = part
            yield memory

    functions = ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0).left
    whole = ritz.assemble(ritz.laplacian(), functions, X)
    found = ritz.assemble(ritz.laplacian(), functions, ritz.Batches(source))
    np.testing.assert_array_equal(found.L, whole.L)


def test_the_folds_of_centers_do_not_depend_on_blocks_or_threads(monkeypatch):
    """Rows that repeat lie in several folds, and the center is in the last of them."""
    rows = np.repeat(np.random.default_rng(0).integers(0, 5, size=(40, 2)), 100, axis=0)
    basis, options = ritz.Nystrom(ritz.Gaussian(1.0), 10), {"random_state": 0, "n_jobs": 1}
    whole = ritz.assemble(ritz.laplacian(), basis, rows, **options)
    monkeypatch.setattr("ritz.streams.stream.CHUNK_ROWS", 7)
    parts = ritz.assemble(ritz.laplacian(), basis, rows, **options)
    np.testing.assert_array_equal(parts.homes, whole.homes)
