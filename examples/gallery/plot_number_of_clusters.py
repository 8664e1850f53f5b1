"""
How many clusters?
==================

``n_clusters="auto"`` looks for a gap: the number of clusters after which the next eigenvalue is
much larger. It says whether the gap is large enough to be sure.
"""

import warnings

from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

import ritz

digits, labels = load_digits(n_class=2, return_X_y=True)
wine = load_wine()
models, data = {}, {}
for name, X, truth in [("digits 0 and 1", digits, labels), ("wines", wine.data, wine.target)]:
    with warnings.catch_warnings():
        # The wines have no clear gap, which the fit warns of.
        warnings.simplefilter("ignore")
        model = ritz.SpectralClustering("auto", random_state=0).fit(X)
    agreement = adjusted_rand_score(truth, model.labels_)
    sure = "sure" if model.sure_ else "not sure"
    print(f"{name}: {model.n_clusters_} clusters, {sure}; adjusted Rand index {agreement:.2f}")
    models[name], data[name] = model, X

# %%
# The evidence is the ratio of two neighboring eigenvalues, both moved by a standard error towards
# each other. A single cluster can have a ratio of four.
for name, model in models.items():
    display = ritz.ClusterDisplay.from_estimator(model, data[name]).plot_evidence()
    display.ax_.set_title(name)
