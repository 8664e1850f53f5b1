"""Errors of estimators: each names the parameter, what it must be and what came."""

import numpy as np
import pytest

import ritz
from tests.bad_input import X_WITH_NAN, D, N, X, Y, raises

LABELS = (X[:, 0] > 0).astype(int)
TARGETS = {
    ritz.SpectralEmbedding: None,
    ritz.SpectralClustering: None,
    ritz.DiffusionModes: None,
    ritz.SingularEmbedding: Y,
    ritz.LaplacianRegressor: X[:, 0],
    ritz.LaplacianClassifier: LABELS,
}
each_estimator = pytest.mark.parametrize("estimator", TARGETS, ids=lambda kind: kind.__name__)


def fit(estimator, rows=X, sample_weight=None, **parameters):
    """Fit an estimator to rows of X, with a target if it needs one."""
    target = TARGETS[estimator]
    arguments = () if target is None else (target[: len(rows)],)
    return estimator(**parameters).fit(rows, *arguments, sample_weight=sample_weight)


# Parameters

COMMON = {
    "kernel": (["sinc", None, ritz.Gaussian], "'gaussian'"),
    "length_scale": (["wide", -1.0, np.nan], "positive"),
    "n_centers": (["many", 0, 2.5, None], "positive integer"),
    "basis": (["cosines", ritz.Monomials, ritz.Gaussian()], "ritz.Nystrom(kernel, 200)"),
    "regularization": ([-1.0, "much", np.nan], "'auto' or a nonnegative number"),
    "n_folds": ([0, 1.5, "x", 10**9], "positive integer up to 1,000"),
    "random_state": (["x", -1, 1.5, 2**32], "an integer from 0 to 2**32 - 1"),
    "n_jobs": ([0, 1.5, "x"], "None for all cores"),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, (values, _) in COMMON.items() for value in values]
)
@each_estimator
def test_a_wrong_parameter_is_named(estimator, name, value):
    with raises(f"'{name}'", "must be", COMMON[name][1], f"Got {value!r}"):
        fit(estimator, **{name: value})


@each_estimator
def test_there_is_one_length_scale_or_one_for_each_column(estimator):
    with raises("'length_scale'", "a number or 2 numbers", "Got 3 numbers"):
        fit(estimator, length_scale=[1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "estimator",
    [kind for kind in TARGETS if kind is not ritz.SingularEmbedding],
    ids=lambda kind: kind.__name__,
)
def test_length_scales_may_be_a_list(estimator):
    options = {"length_scale": [1.0, 2.0], "random_state": 0}
    if estimator is ritz.SpectralClustering:
        options["n_clusters"] = 2
    assert list(fit(estimator, **options).length_scale_) == [1.0, 2.0]


OWN = [
    (ritz.SpectralEmbedding, "n_components", [0, 2.5, "x", None], "positive integer"),
    (ritz.SingularEmbedding, "n_components", [0, 2.5, "x", None], "positive integer"),
    (ritz.LaplacianRegressor, "n_components", [0, 2.5, "x", None], "positive integer"),
    (ritz.DiffusionModes, "n_modes", [0, 2.5, "x", None], "positive integer"),
    (ritz.SpectralClustering, "n_clusters", [0, 2.5, "some", None], "positive integer"),
    (ritz.SpectralEmbedding, "operator", ["heat", 3, None], "'laplacian', 'neighbors' or a form"),
    (ritz.LaplacianRegressor, "operator", ["heat", 3, None], "'laplacian', 'neighbors' or a form"),
    (ritz.LaplacianRegressor, "n_neighbors", [0, 2.5, "x", None], "positive integer"),
    (ritz.LaplacianRegressor, "smoothness", [-1.0, "some", np.nan], "nonnegative number"),
    (ritz.DiffusionModes, "kT", [0.0, -1.0, "warm", np.nan], "positive"),
]


@pytest.mark.parametrize(
    ("estimator", "name", "value", "requirement"),
    [(kind, name, value, text) for kind, name, values, text in OWN for value in values],
)
def test_a_wrong_parameter_of_one_estimator_is_named(estimator, name, value, requirement):
    with raises(f"'{name}'", "must be", requirement, f"Got {value!r}"):
        fit(estimator, **{name: value})


@pytest.mark.parametrize("estimator", [ritz.LaplacianRegressor, ritz.LaplacianClassifier])
def test_labels_spread_along_positive_energies_only(estimator):
    for operator in (
        ritz.laplacian() + ritz.potential(1.0),
        ritz.laplacian() - 2 * ritz.laplacian(),
        ritz.cross(),
    ):
        with raises("'operator'", "symmetric and positive", str(operator)):
            fit(estimator, operator=operator)


@pytest.mark.parametrize(
    "estimator",
    [ritz.SpectralEmbedding, ritz.SpectralClustering],
    ids=lambda kind: kind.__name__,
)
def test_functions_of_one_array_belong_to_symmetric_operators(estimator):
    for operator in (ritz.cross(), ritz.pairs(), ritz.differential({((0, 0), (1, 0)): 1.0})):
        with raises("'operator'", "symmetric form of one array", str(operator)):
            fit(estimator, operator=operator)


@pytest.mark.parametrize("operator", ["heat", 3, None])
def test_a_wrong_operator_is_named_by_a_partial_fit_too(operator):
    with raises("'operator'", "'laplacian', 'neighbors' or a form", f"Got {operator!r}"):
        ritz.SpectralEmbedding(operator=operator).partial_fit(X)


def test_there_is_no_partial_fit_for_an_operator_that_looks_at_all_rows():
    assert not hasattr(ritz.SpectralEmbedding(operator=ritz.graph(ritz.Gaussian())), "partial_fit")


@pytest.mark.parametrize("name", ["D", "mobility"])
def test_a_wrong_diffusion_matrix_has_the_name_of_its_parameter(name):
    for value, words in (
        ([1.0, 2.0, 3.0], ("a number, 2 numbers or a matrix (2, 2)", "shape (3,)")),
        (-1.0, ("positive", "-1")),
        (np.nan, ("finite", "nan")),
        (lambda x: -np.ones(len(x)), ("positive", "-1")),
        (lambda x: np.full(len(x), np.nan), (f"{name} (called on rows", "finite", "nan")),
    ):
        with raises(name, *words):
            ritz.DiffusionModes(**{name: value}).fit(X)


def test_a_second_view_has_the_name_of_its_parameter():
    bases = (ritz.Monomials(1), ritz.Monomials(1).fit(Y[:, :1]))
    with raises("'y'", "1 columns", "Got 2"):
        ritz.SingularEmbedding(1, basis=bases).fit(X, Y)


def test_too_many_neighbors_are_named_with_the_number_of_rows():
    with raises("'n_neighbors'", f"at most {N - 1}", "Got 500"):
        fit(ritz.SpectralEmbedding, operator="neighbors", n_neighbors=500)


def test_a_pair_of_bases_is_a_pair():
    with raises("'basis'", "pair", "3"):
        fit(ritz.SingularEmbedding, basis=(ritz.Monomials(1),) * 3)


# Samples and weights


@each_estimator
def test_a_row_that_is_not_finite_is_named(estimator):
    with raises("'X'", "finite", "NaN in row 18, column 1", "SimpleImputer"):
        fit(estimator, X_WITH_NAN)
    with raises("'X'", "finite", "inf (infinity) in row 18, column 1"):
        fit(estimator, np.where(np.isnan(X_WITH_NAN), np.inf, X))


@each_estimator
def test_samples_must_have_two_axes_and_two_rows(estimator):
    with raises("Expected 2D array", "reshape(-1, 1)"):
        fit(estimator, X[:, 0])
    with raises("1 sample", "minimum of 2", estimator.__name__):
        fit(estimator, X[:1])


@pytest.mark.parametrize(
    "estimator",
    # Equal rows are one cluster.
    [kind for kind in TARGETS if kind is not ritz.SpectralClustering],
    ids=lambda kind: kind.__name__,
)
def test_samples_need_distinct_rows(estimator):
    with raises("'X'", "distinct rows"):
        fit(estimator, np.ones((50, D)))


@each_estimator
def test_weights_must_be_nonnegative_numbers_one_a_row(estimator):
    with raises("'sample_weight'", "nonnegative", "-1.0 in row 5"):
        fit(estimator, sample_weight=np.where(np.arange(N) == 5, -1.0, 1.0))
    with raises("sample_weight", "(3,)", f"({N},)"):
        fit(estimator, sample_weight=np.ones(3))


@pytest.mark.parametrize("size", [1e200, 1e-200])
@each_estimator
def test_samples_whose_squares_are_out_of_range_are_named(estimator, size):
    with raises("'X'", "between 1e-152 and 1e+152", "squares", "Scale the data"):
        fit(estimator, size * X)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_targets_whose_squares_are_out_of_range_are_named(size):
    for estimator in (ritz.LaplacianRegressor, ritz.HermiteRegressor, ritz.SingularEmbedding):
        with raises("'y'", "between 1e-152 and 1e+152", "squares", "Scale the data"):
            estimator().fit(X, size * X[:, 0])


@pytest.mark.parametrize("method", ["transform", "predict"])
@each_estimator
def test_new_points_must_have_the_columns_of_the_samples(estimator, method):
    if not hasattr(estimator, method):
        return
    options = {"n_clusters": 2} if estimator is ritz.SpectralClustering else {}
    model = fit(estimator, random_state=0, **options)
    with raises("3 features", "2 features", estimator.__name__):
        getattr(model, method)(np.zeros((4, 3)))


# Targets


def test_views_must_be_aligned_arrays_of_finite_numbers():
    model = ritz.SingularEmbedding(1, random_state=0)
    with raises("'y'", "an array with 300 rows", "40"):
        model.fit(X, Y[:40])
    with raises("requires y"):
        model.fit(X, None)
    with raises("'y'", "finite", "nan in row 18, column 1"):
        model.fit(X, X_WITH_NAN)
    with raises("2 columns", "Got 4"):
        model.fit(X, Y).transform(X, np.hstack([Y, Y]))


UNKNOWN = np.full(N, np.nan)
VALUES = {
    "too few": (X[:10, 0], ("'y'", "an array with 300 rows", "10")),
    "no output": (X[:, :0], ("at least one output",)),
    "none known": (UNKNOWN, ("no row with a label",)),
    "infinite": (np.where(np.arange(N) < 9, np.inf, 1.0), ("infinity",)),
    "one output unknown": (np.column_stack([UNKNOWN, X[:, 0]]), ("all outputs",)),
    "missing": (None, ("requires y",)),
}


@pytest.mark.parametrize("case", VALUES)
def test_values_must_be_known_for_some_rows(case):
    y, words = VALUES[case]
    with raises(*words):
        ritz.LaplacianRegressor().fit(X, y)


CLASSES = {
    "too few": (LABELS[:10], ("'y'", "300 rows", "10")),
    "none known": (np.full(N, -1), ("no row with a label",)),
    "one class": (np.where(X[:, 0] > 0, 1, -1), ("at least two classes",)),
    "mark as a string": (np.where(X[:, 0] > 0, "a", "-1"), ("name the mark: unlabeled",)),
    "missing": (None, ("requires y",)),
}


@pytest.mark.parametrize("case", CLASSES)
def test_labels_must_name_two_classes(case):
    y, words = CLASSES[case]
    with raises(*words):
        ritz.LaplacianClassifier().fit(X, y)
