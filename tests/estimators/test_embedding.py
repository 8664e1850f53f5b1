"""Spectral embedding: right values, new points, more data, weights, a score that is fair."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding as Transductive
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import ritz
from ritz.selection.rows import WeightedRows
from ritz.selection.score import reference_mu

NORMAL = np.random.default_rng(0).normal(size=(4000, 2))
CENTERS = NORMAL[:60]
FIXED = ritz.assemble(
    ritz.laplacian(), ritz.KernelSections(ritz.Matern(1.5, 1.5), CENTERS), NORMAL, random_state=0
).left


def test_eigenvalues_are_those_of_the_operator():
    fitted = ritz.SpectralEmbedding(5, random_state=0).fit(NORMAL)
    # N(0, I) in the plane: 1, 1, 2, 2, 2.
    np.testing.assert_allclose(fitted.eigenvalues_, [1, 1, 2, 2, 2], rtol=0.15)
    assert (np.abs(fitted.eigenvalues_ - [1, 1, 2, 2, 2]) < 4 * fitted.eigenvalue_errors_).all()
    Z = fitted.transform(NORMAL)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)


def test_transform_is_the_spectrum_and_diffusion_time_scales_it():
    fitted = ritz.SpectralEmbedding(3, random_state=0).fit(NORMAL)
    new = NORMAL[:10] + 0.3
    np.testing.assert_array_equal(fitted.transform(new), fitted.spectrum_[1:](new))
    later = clone(fitted).set_params(diffusion_time=0.7).fit(NORMAL)
    scale = np.exp(-0.7 * fitted.eigenvalues_)
    np.testing.assert_allclose(later.transform(new), fitted.transform(new) * scale)


@pytest.mark.parametrize("sizes", [(4000,), (1000, 3000), (2, 1, 997, 3000)])
@pytest.mark.parametrize("weighted", [False, True])
def test_partial_fit_is_one_fit(sizes, weighted):
    weight = np.random.default_rng(1).integers(0, 3, size=4000).astype(float)
    model = ritz.SpectralEmbedding(4, basis=FIXED, random_state=0)
    parts = clone(model)
    for rows in np.split(np.arange(4000), np.cumsum(sizes)[:-1]):
        parts.partial_fit(NORMAL[rows], sample_weight=weight[rows] if weighted else None)
    whole = clone(model).fit(NORMAL, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(parts.eigenvalue_errors_, whole.eigenvalue_errors_, rtol=1e-6)


def test_partial_fit_has_the_folds_of_one_fit_where_rows_repeat():
    X = np.random.default_rng(0).poisson(3.0, size=(9000, 2)).astype(float)
    weight = np.random.default_rng(1).integers(0, 3, size=9000)
    model = ritz.SpectralEmbedding(2, basis=ritz.Monomials(2), random_state=0)
    parts = clone(model)
    for rows in (slice(0, 6000), slice(6000, 6100), slice(6100, 9000)):
        parts.partial_fit(X[rows], sample_weight=weight[rows])
    whole = ritz.assemble(ritz.laplacian(), parts.sums_.left, X, sample_weight=weight)
    np.testing.assert_array_equal(parts.sums_.count, whole.count)
    whole = model.fit_sums(whole)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(parts.eigenvalue_errors_, whole.eigenvalue_errors_, rtol=1e-6)


def test_partial_fit_keeps_rows_until_there_are_enough():
    X = np.random.default_rng(2).normal(size=(9000, 2))
    parts = ritz.SpectralEmbedding(2, random_state=0)
    parts.partial_fit(X[:1000]).partial_fit(X[1000:3000])
    early = ritz.SpectralEmbedding(2, random_state=0).fit(X[:3000])
    np.testing.assert_allclose(parts.eigenvalues_, early.eigenvalues_, rtol=1e-9)
    parts.partial_fit(X[3000:6000])
    centers = parts.sums_.left
    parts.partial_fit(X[6000:])
    assert parts.sums_.left is centers
    assert parts.sums_.n_rows == 9000
    np.testing.assert_allclose(parts.eigenvalues_, [1, 1], rtol=0.1)


def test_parts_along_neighbors_add_up():
    """Neighbors are searched among the first rows, which are fixed together with the basis."""
    X = np.random.default_rng(0).normal(size=(12_000, 2))
    model = ritz.SpectralEmbedding(2, operator="neighbors", n_centers=50, random_state=0)
    for part in (X[:5000], X[5000:8000], X[8000:]):
        model.partial_fit(part)
    whole = ritz.assemble(model.sums_.form, model.sums_.left, X)
    assert model.sums_.n_rows == 12_000
    np.testing.assert_allclose(model.sums_.mean().L, whole.mean().L, rtol=1e-10, atol=1e-13)


def test_few_rows_wait_for_their_neighbors():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = ritz.SpectralEmbedding(2, operator="neighbors", n_neighbors=10, random_state=0)
    for start in (0, 5):
        model.partial_fit(X[start : start + 5])
        assert not hasattr(model, "spectrum_")
    model.partial_fit(X[10:])
    whole = ritz.SpectralEmbedding(2, operator="neighbors", n_neighbors=10, random_state=0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_partial_fit_of_an_operator_on_all_rows_says_why_not():
    model = ritz.SpectralEmbedding(operator=ritz.graph(ritz.Gaussian(1.0)))
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as error:
        model.partial_fit(NORMAL)
    assert "parts do not add up" in str(error.value.__cause__)


def test_fit_sums():
    sums = ritz.assemble(ritz.laplacian(), FIXED, NORMAL, random_state=0)
    fitted = ritz.SpectralEmbedding(3, regularization=0.0).fit_sums(sums)
    expected = ritz.decompose_sums(sums, 4)
    np.testing.assert_array_equal(fitted.eigenvalues_, expected.values[1:])
    assert fitted.transform(NORMAL[:5]).shape == (5, 3)
    with pytest.raises(TypeError, match=r"'sums'.*assemble"):
        ritz.SpectralEmbedding().fit_sums(NORMAL)


def test_the_scale_of_the_score_is_the_same_for_all_candidates():
    # With a scale of its own each, a candidate could win by calling its own error small.
    weight = np.ones(len(NORMAL))
    mu = reference_mu(ritz.laplacian(), WeightedRows(NORMAL, weight))
    for length in (0.3, 1.0, 10.0):
        model = ritz.SpectralEmbedding(2, length_scale=length, random_state=0).fit(NORMAL[:2000])
        explicit = clone(model).set_params(mu=mu).fit(NORMAL[:2000])
        assert model.score(NORMAL) == explicit.score(NORMAL)


def test_few_rows_are_scored_along_fewer_neighbors():
    Z = np.random.default_rng(0).normal(size=(70, 2))
    X = np.column_stack([Z, Z**2, Z[:, :1] * Z[:, 1:]])
    model = ritz.SpectralEmbedding(2, operator="neighbors", random_state=0)
    search = GridSearchCV(model, {"n_components": [1, 2]}, cv=5).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_grid_search_finds_a_length_scale_with_small_error():
    X = NORMAL[:1500]
    search = GridSearchCV(
        ritz.SpectralEmbedding(4, n_centers=100, random_state=0),
        {"length_scale": [0.2, 0.3, 1.0, 3.0]},
        cv=3,
    ).fit(X)
    fresh = np.random.default_rng(9).normal(size=(50_000, 2))

    def true_loss(model):
        return -clone(model).fit(X).score(fresh)

    losses = [
        true_loss(search.best_estimator_.set_params(length_scale=length))
        for length in (0.2, 0.3, 1.0, 3.0)
    ]
    best = true_loss(search.best_estimator_.set_params(**search.best_params_))
    assert best <= min(losses) + 0.1
    assert max(losses) > min(losses) + 1.0


def test_the_score_reaches_its_population_value():
    # The sum of (1 - lambda / mu)^2 over 0, 1, 1, at mu = 2, with polynomials that hold the truth.
    model = ritz.SpectralEmbedding(2, basis=ritz.Monomials(2), mu=2.0, random_state=0)
    fresh = np.random.default_rng(5).normal(size=(100_000, 2))
    X = np.random.default_rng(6).normal(size=(100_000, 2))
    assert model.fit(X).score(fresh) == pytest.approx(1.5, abs=0.02)


def test_works_where_scikit_learn_works(tmp_path):
    X, y = load_digits(return_X_y=True)
    X = X[:600] / 16
    y = y[:600]
    model = ritz.SpectralEmbedding(10, random_state=0)
    pipeline = make_pipeline(clone(model), LogisticRegression(max_iter=500))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.6
    halves = ColumnTransformer(
        [("a", clone(model), slice(0, 32)), ("b", clone(model), slice(32, 64))]
    )
    assert halves.fit_transform(X).shape == (600, 20)
    fitted = model.fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X[:5]), fitted.transform(X[:5]))
    frame = clone(model).set_output(transform="pandas").fit(X).transform(X[:5])
    assert list(frame.columns) == [f"spectralembedding{j}" for j in range(10)]
    assert fitted.transform(X[:5].astype(np.float32)).dtype == np.float32


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3, 3), st.sampled_from([1e-3, 1.0, 1e3]))
def test_order_place_direction_and_unit_of_the_data_do_not_matter(seed, shift, unit):
    rng = np.random.default_rng(seed)
    X = NORMAL[:500]
    centers = X[:50]
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]

    def values(points, at, length):
        basis = ritz.KernelSections(ritz.Matern(1.5, length), at)
        return ritz.SpectralEmbedding(4, basis=basis).fit(points).spectrum_.ritz_values[1:]

    expected = values(X, centers, 1.5)
    moved = [(points @ turn + shift) * unit for points in (X, centers)]
    found = values(rng.permutation(moved[0]), moved[1], 1.5 * unit)
    np.testing.assert_allclose(found * unit**2, expected, rtol=1e-6)
    swapped = values(X[:, ::-1], centers[:, ::-1], 1.5)
    np.testing.assert_allclose(swapped, expected, rtol=1e-6)


def probe(train, test, y_train, y_test):
    model = LogisticRegression(max_iter=3000, C=10.0)
    scale = train.std(axis=0)
    return model.fit(train / scale, y_train).score(test / scale, y_test)


def test_neighbors_on_digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    a, b, ya, yb = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    accuracy = {}
    for operator in ("laplacian", "neighbors"):
        model = ritz.SpectralEmbedding(20, operator=operator, n_centers=len(a), random_state=0)
        accuracy[operator] = probe(model.fit(a).transform(a), model.transform(b), ya, yb)
    Z = Transductive(20, affinity="nearest_neighbors", random_state=0).fit_transform(X)
    order = train_test_split(np.arange(len(X)), test_size=0.4, random_state=0, stratify=y)
    accuracy["transductive"] = probe(Z[order[0]], Z[order[1]], ya, yb)
    assert accuracy["neighbors"] > accuracy["laplacian"]
    assert accuracy["neighbors"] >= accuracy["transductive"] - 0.005, accuracy


def test_the_first_part_may_have_one_row():
    parts = ritz.SpectralEmbedding(2, basis=ritz.Monomials(2), random_state=0)
    parts.partial_fit(NORMAL[:1])
    with pytest.raises(NotFittedError):
        parts.transform(NORMAL)
    parts.partial_fit(NORMAL[1:])
    whole = ritz.SpectralEmbedding(2, basis=ritz.Monomials(2), random_state=0).fit(NORMAL)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_too_few_rows_leave_nothing_to_write(tmp_path):
    model = ritz.SpectralEmbedding(2, random_state=0).partial_fit(NORMAL[:2])
    with pytest.raises(NotFittedError):
        model.transform_to(NORMAL, tmp_path / "out.npy")


@pytest.mark.parametrize("how", ["basis", "sums"])
def test_a_fit_without_a_kernel_forgets_that_of_an_earlier_one(how):
    model = ritz.SpectralEmbedding(2, random_state=0).fit(NORMAL[:200])
    assert hasattr(model, "kernel_")
    if how == "basis":
        model.set_params(basis=ritz.Monomials(3)).fit(NORMAL[:200])
    else:
        model.fit_sums(ritz.assemble(ritz.laplacian(), ritz.Monomials(3), NORMAL[:200]))
    assert not {"kernel_", "length_scale_", "n_centers_"} & set(vars(model))
