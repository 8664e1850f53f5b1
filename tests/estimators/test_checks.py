"""The contract of scikit-learn's estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ritz


def expected_failures(estimator):
    # scikit-learn leaves this check out for its own classifiers that take -1 as "no label".
    if isinstance(estimator, ritz.LaplacianClassifier) and estimator.unlabeled == -1:
        return {"check_classifiers_classes": "its labels -1 and 1: here -1 marks unlabeled rows"}
    if isinstance(estimator, ritz.SpectralEmbedding) and not estimator.keep_sums:
        return {"check_fit_score_takes_y": "partial_fit after fit needs keep_sums=True"}
    if isinstance(estimator, ritz.SpectralClustering):
        # The check reads tags of classifiers, which clusterings with probabilities do not have.
        reason = "it takes what has predict_proba for a classifier"
        return {f"check_estimator_sparse_{kind}": reason for kind in ("array", "matrix")}
    return {}


@parametrize_with_checks(
    [
        ritz.SpectralEmbedding(),
        # As below: of as many functions as rows, probabilities magnify rounding beyond 1e-7.
        ritz.SpectralClustering(regularization=1e-5),
        ritz.DiffusionModes(),
        ritz.SingularEmbedding(),
        ritz.LaplacianClassifier(),
        ritz.LaplacianRegressor(),
        ritz.HermiteRegressor(),
    ],
    expected_failed_checks=expected_failures,
)
# Some checks have fewer rows than the defaults ask for functions or clusters.
@pytest.mark.filterwarnings(r"ignore:Only \d of \d (functions|clusters) were found:UserWarning")
def test_scikit_learn_checks_with_defaults(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        ritz.SpectralEmbedding(n_components=2, random_state=0),
        ritz.SpectralEmbedding(n_components=2, keep_sums=True, random_state=0),
        # Of as many functions as rows (15) rounding counts 1 / regularization times as much,
        # 4e-8 by default, where the check of weights against repeated rows allows 1e-7.
        ritz.SpectralEmbedding(
            n_components=1, operator="neighbors", n_neighbors=3, regularization=1e-5
        ),
        ritz.SpectralClustering(n_clusters=3, random_state=0),
        ritz.DiffusionModes(n_modes=2, random_state=0),
        ritz.SingularEmbedding(n_components=1, random_state=0),
        ritz.LaplacianClassifier(random_state=0),
        ritz.LaplacianClassifier(unlabeled=None, random_state=0),
        ritz.LaplacianRegressor(random_state=0),
        ritz.HermiteRegressor(random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
