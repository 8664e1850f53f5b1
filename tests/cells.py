"""Cells for tests: counts of genes in three kinds of cells, as scanpy prepares them."""

import anndata
import numpy as np
import scipy.sparse as sparse
from sklearn.decomposition import PCA

KINDS, GENES = 3, 40


def cells(n=300, seed=0, pca=True):
    """Return log-counts (sparse) of cells; each kind has ten genes of its own."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(KINDS, size=n)
    means = np.ones((KINDS, GENES))
    for number in range(KINDS):
        means[number, 10 * number : 10 * (number + 1)] = 8.0
    X = np.log1p(rng.poisson(means[kind])).astype(np.float64)
    adata = anndata.AnnData(sparse.csr_matrix(X))
    adata.obs_names = [f"cell{i}" for i in range(n)]
    adata.var_names = [f"gene{j}" for j in range(GENES)]
    adata.obs["bulk_labels"] = np.array(["a", "b", "c"], dtype=object)[kind]
    if pca:
        fitted = PCA(5, random_state=0).fit(X)
        adata.obsm["X_pca"] = fitted.transform(X)
        adata.varm["PCs"] = fitted.components_.T
    return adata
