"""The checks of scikit-learn for estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz.neural import SpectralNetwork

REASON = "a row given twice is in two batches, a row of weight two in one"


@parametrize_with_checks(
    [SpectralNetwork(n_steps=2, mu=1e6, validation_fraction=0.0, random_state=0)],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": REASON},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
