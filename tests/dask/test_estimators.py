"""Estimators on dask collections: fitted where the chunks are, and lazy where they transform."""

import operator

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.streams.reduction import Chunk, reduce_chunks, require_finished

X = np.random.default_rng(0).normal(size=(6000, 2))
MOONS = ritz.datasets.half_moons(1500, random_state=0).X
WIDE = X * [1.0, 500.0]
NAMES = ["height", "width"]


def lazy(array, rows=1000):
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def assert_lazily_equal(found, rows, expected):
    """Compare a lazy result of one row for each row of `rows`."""
    assert found.chunks[0] == rows.chunks[0]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.compute(), expected, atol=1e-8)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_any_scheduler(scheduler):
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), lazy(X, 3000), k=4)
        expected = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, k=4)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
        bad = lazy(np.where(np.arange(6000)[:, None] == 3100, np.nan, X), 3000)
        with pytest.raises(ValueError, match=r"row 3100, column 0.*chunk 1 of X"):
            ritz.assemble(ritz.laplacian(), ritz.Monomials(3), bad)


@pytest.mark.parametrize("rows", [X, WIDE], ids=["equal columns", "unequal columns"])
def test_embedding_with_all_chosen(rows):
    expected = ritz.SpectralEmbedding(3, operator="auto", random_state=0).fit(rows)
    found = ritz.SpectralEmbedding(3, operator="auto", random_state=0).fit(lazy(rows))
    assert type(found.eigenvalues_) is np.ndarray
    assert (found.scale_ is None) == (rows is X)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-10)
    assert_lazily_equal(found.transform(lazy(rows)), lazy(rows), expected.transform(rows))
    single = lazy(rows.astype(np.float32), 1500)
    assert_lazily_equal(found.transform(single), single, found.transform(rows.astype(np.float32)))


def test_clustering():
    weight = np.random.default_rng(1).integers(0, 3, size=1500).astype(float)
    options = {"n_clusters": 2, "operator": "neighbors", "random_state": 0}
    options |= {"kernel": "exponential", "length_scale": 0.3, "n_centers": 60}
    expected = ritz.SpectralClustering(**options).fit(MOONS, sample_weight=weight)
    found = ritz.SpectralClustering(**options).fit(lazy(MOONS), sample_weight=lazy(weight, 700))
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-10)
    assert_lazily_equal(found.predict(lazy(MOONS)), lazy(MOONS), expected.predict(MOONS))


def test_two_views():
    Y = X + np.random.default_rng(2).normal(size=X.shape)
    expected = ritz.SingularEmbedding(2, random_state=0).fit(X, Y)
    found = ritz.SingularEmbedding(2, random_state=0).fit(lazy(X), lazy(Y, 1500))
    np.testing.assert_allclose(found.singular_values_, expected.singular_values_, atol=1e-10)
    assert_lazily_equal(found.transform(lazy(X)), lazy(X), expected.transform(X))


def test_classes_are_lazy():
    y = np.full(len(MOONS), None, dtype=object)
    y[:40] = np.where(MOONS[:40, 1] > np.median(MOONS[:40, 1]), "a", "b")
    model = ritz.LaplacianClassifier(random_state=0).fit(MOONS, y)
    np.testing.assert_array_equal(model.predict(lazy(MOONS)).compute(), model.predict(MOONS))
    np.testing.assert_allclose(
        model.predict_proba(lazy(MOONS)).compute(), model.predict_proba(MOONS), atol=1e-12
    )


def test_frames_keep_the_names_of_their_columns():
    frame = pd.DataFrame(X, columns=NAMES)
    parts = dd.from_pandas(frame, npartitions=3)
    expected = ritz.SpectralEmbedding(2, n_centers=50, random_state=0).fit(frame)
    found = ritz.SpectralEmbedding(2, n_centers=50, random_state=0).fit(parts)
    assert list(found.feature_names_in_) == NAMES
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-10)
    embedded = found.transform(parts)
    np.testing.assert_allclose(embedded.compute(), expected.transform(frame), atol=1e-8)
    with pytest.raises(ValueError, match=r"columns.*'height', 'width'"):
        found.transform(parts.rename(columns={"width": "depth"}))
    weighted = ritz.assemble(
        ritz.laplacian(), found.spectrum_, parts, sample_weight=parts["height"] ** 2
    )
    expected = ritz.assemble(ritz.laplacian(), found.spectrum_, frame, sample_weight=X[:, 0] ** 2)
    np.testing.assert_allclose(weighted.mean().L, expected.mean().L, rtol=1e-9, atol=1e-12)


def test_a_lazy_transform_computes_nothing_and_takes_chunks_of_unknown_size():
    made = []

    def noted(block):
        made.append(len(block))
        return block

    model = ritz.SpectralEmbedding(2, n_centers=50, random_state=0).fit(X)
    rows = lazy(X).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    some = model.transform(rows[rows[:, 0] > 5.0])
    embedded = model.transform(rows)
    assert not made
    assert some.compute().shape == ((X[:, 0] > 5.0).sum(), 2)
    np.testing.assert_allclose(embedded[:500].compute(), model.transform(X[:500]), atol=1e-12)


def test_chunks_of_unknown_size_are_refused_with_the_remedy():
    remedy = r"compute_chunk_sizes\(\).*to_dask_array\(lengths=True\)"
    rows = lazy(X)
    unknown = rows[rows[:, 0] > 0]
    for call in (ritz.SpectralEmbedding(2).fit, lambda X: ritz.select(ritz.laplacian(), X, 2)):
        with pytest.raises(ValueError, match=remedy):
            call(unknown)
    with pytest.raises(ValueError, match=r"'sample_weight'.*known chunk sizes"):
        ritz.assemble(ritz.laplacian(), ritz.Monomials(2), rows, sample_weight=unknown[:, 0])


def test_results_are_merged_in_a_tree_once_each():
    chunks = [Chunk(f"chunk {i}", 1, (i,)) for i in range(11)]
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            assert sorted(reduce_chunks(lambda i: [i], chunks, operator.add)) == list(range(11))


class Result:
    """A result of a cluster, whose worker may be lost after it arrived."""

    def __init__(self, status, error=None):
        self.status, self.error = status, error

    def exception(self):
        return self.error

    def cancelled(self):
        return self.status == "cancelled"


def test_a_result_whose_worker_was_lost_is_no_error():
    chunk = Chunk("chunk 3 of X", 10, ())
    for status in ("finished", "lost", "pending"):
        require_finished(Result(status), chunk)
    with pytest.raises(ValueError, match=r"wrong \(in chunk 3 of X\)"):
        require_finished(Result("error", ValueError("wrong")), chunk)
    with pytest.raises(RuntimeError, match=r"cancelled \(in chunk 3 of X\)"):
        require_finished(Result("cancelled"), chunk)
