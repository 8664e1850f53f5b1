"""The contract of scikit-learn's estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import ritz


@parametrize_with_checks(
    [
        ritz.SpectralEmbedding(n_components=2, random_state=0),
        ritz.SpectralEmbedding(n_components=1, operator="neighbors", n_neighbors=3),
        ritz.SpectralClustering(n_clusters=3, random_state=0),
        ritz.DiffusionModes(n_modes=2, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
