"""Embedding, clusters and genes of cells in an AnnData object, as scanpy keeps them.

It needs anndata (extra `scanpy`), and is imported by `import ritz.scanpy`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

import ritz
from ritz.estimators import SpectralClustering, SpectralEmbedding
from ritz.rows import row_slices
from ritz.sparse import as_points
from ritz.validation import Array, as_count, parameter_error

__all__ = ["cluster", "embed", "rank_genes", "transform"]

PCA, LOADINGS = "X_pca", "PCs"
# Numbers of the gradients that are held at a time: 16 MB.
GRADIENT_NUMBERS = 2_000_000


def embed(
    adata: Any,
    n_components: Any = 15,
    *,
    use_rep: str = PCA,
    key_added: str = "ritz",
    random_state: Any = 0,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Embed cells by the first eigenfunctions of an operator, along nearest neighbors by default.

    Parameters
    ----------
    adata
        The cells, an AnnData object. It gets `obsm["X_ritz"]` (n, n_components) and `uns["ritz"]`:
        `params`, `eigenvalues`, `eigenvalue_errors` where there are enough cells, `slopes` for
        `rank_genes`, and `version`.
    n_components, random_state
        As in `ritz.SpectralEmbedding`.
    use_rep
        The key in `obsm` of the coordinates of the cells, or "X". Without "X_pca", X is used.
    key_added
        The name in `uns`, and in `obsm` after "X_".
    copy
        Whether to leave `adata` as it is.
    options
        Other parameters of `ritz.SpectralEmbedding`; `operator` is "neighbors" by default.

    Returns
    -------
    The fitted `ritz.SpectralEmbedding`, which `transform` takes. With copy=True it is the copy of
    `adata` that has the results, as scanpy's functions return it.
    """
    adata, rep, X = _cells(adata, use_rep, copy)
    # Genes and principal components share one unit.
    options = {"operator": "neighbors", "scale": None} | options
    model = SpectralEmbedding(n_components, random_state=random_state, **options).fit(X)
    # What new cells must have in common with these.
    model.use_rep_, model.genes_ = rep, tuple(map(str, adata.var_names))
    adata.obsm[f"X_{key_added}"] = model.transform(X)
    params = {"n_components": n_components, "random_state": random_state, **options}
    found = {"kernel": model.kernel_, "n_centers": model.n_centers_} if model.basis is None else {}
    adata.uns[key_added] = {
        **_summary(model, rep, params | found | {"regularization": model.regularization_}),
        "slopes": _mean_squares(model, X, whole=rep != "X"),
    }
    return adata if copy else model


def transform(
    adata: Any, model: SpectralEmbedding, *, key_added: str = "ritz", copy: bool = False
) -> Any:
    """Write the embedding of new cells to `obsm["X_ritz"]`.

    Parameters
    ----------
    adata
        The new cells, with the coordinates that the model was fitted to. Those of a PCA must be
        projections on the loadings of the first cells, as `scanpy.tl.ingest` makes them.
    model
        What `embed` returned.
    key_added, copy
        As in `embed`.

    Returns
    -------
    None, or the copy of `adata` that has the embedding.
    """
    if not (isinstance(model, SpectralEmbedding) and hasattr(model, "use_rep_")):
        what = "the estimator that ritz.scanpy.embed returns"
        raise parameter_error("model", what, type(model).__name__, kind=TypeError)
    adata, rep, X = _cells(adata, model.use_rep_, copy, fall_back=False)
    genes = tuple(map(str, adata.var_names))
    if rep in ("X", PCA) and genes != model.genes_:
        missing = [gene for gene in model.genes_ if gene not in set(genes)]
        got = f"{len(genes)} genes in another order"
        remedy = "Pass adata[:, list(model.genes_)]."
        if missing:
            got = f"{len(genes)} genes, {missing[0]!r} not among them"
            remedy = "Fit to the genes that all cells share."
        what = f"cells with the {len(model.genes_)} genes of the fit, in their order"
        raise parameter_error("adata", what, got, remedy)
    adata.obsm[f"X_{key_added}"] = model.transform(X)
    return adata if copy else None


def cluster(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    use_rep: str = PCA,
    key_added: str = "ritz",
    random_state: Any = 0,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Cluster cells by `ritz.SpectralClustering`, along nearest neighbors by default.

    Parameters
    ----------
    adata
        The cells, an AnnData object. It gets a categorical `obs["ritz"]` of "0", "1", ..., and
        `uns["ritz_clusters"]`: `params`, `eigenvalues`, `eigenvalue_errors` and `version`.
    n_clusters, random_state
        As in `ritz.SpectralClustering`.
    use_rep, copy
        As in `embed`.
    key_added
        The name in `obs`, and in `uns` before "_clusters".
    options
        Other parameters of `ritz.SpectralClustering`; `operator` is "neighbors" by default.

    Returns
    -------
    The fitted `ritz.SpectralClustering`, or the copy of `adata`.
    """
    adata, rep, X = _cells(adata, use_rep, copy)
    # Genes and principal components share one unit.
    options = {"operator": "neighbors", "scale": None} | options
    model = SpectralClustering(n_clusters, random_state=random_state, **options).fit(X)
    pandas = import_module("pandas")
    names = pandas.Index(list(map(str, range(model.n_clusters_))), dtype=object)
    adata.obs[key_added] = pandas.Categorical.from_codes(model.labels_, categories=names)
    params = {"n_clusters": model.n_clusters_, "random_state": random_state, **options}
    adata.uns[f"{key_added}_clusters"] = _summary(model, rep, params)
    return adata if copy else model


def rank_genes(adata: Any, n_genes: int = 10, *, key: str = "ritz") -> Any:
    """Find the genes that move each function of the embedding most.

    The score of a gene is the mean over cells of the squared derivative of the function along it.
    With the loadings v_g of a PCA it is v_g' E[grad f grad f'] v_g. It is per unit of the gene's
    values in X, so that genes are comparable where they were scaled alike.

    Parameters
    ----------
    adata
        Cells that `embed` was called on. They get the columns of the table as `uns["ritz_genes"]`.
    n_genes
        How many genes of each function.
    key
        The `key_added` of `embed`.

    Returns
    -------
    A pandas DataFrame with the columns `function` (1 for the first one), `rank`, `gene` and
    `score`.
    """
    _require_anndata(adata)
    n_genes = as_count(n_genes, "n_genes")
    if key not in adata.uns or "slopes" not in adata.uns[key]:
        remedy = "Call ritz.scanpy.embed(adata) first."
        raise parameter_error("key", "the key_added of ritz.scanpy.embed", repr(key), remedy)
    slopes, rep = np.asarray(adata.uns[key]["slopes"]), str(adata.uns[key]["params"]["use_rep"])
    if rep == "X":
        scores = slopes
    elif rep == PCA and LOADINGS in adata.varm:
        V = np.asarray(adata.varm[LOADINGS], dtype=np.float64)
        scores = np.einsum("gi,kij,gj->kg", V, slopes, V, optimize=True)
    else:
        what = "an embedding of X, or of 'X_pca' with loadings in varm['PCs']"
        remedy = "Fit to one of them: other coordinates do not say how genes move them."
        raise parameter_error("key", what, f"one of {rep!r}", remedy)
    if scores.shape[1] != adata.n_vars:
        got = f"{adata.n_vars} genes"
        raise parameter_error("adata", f"the {scores.shape[1]} genes of the embedding", got)
    n_genes = min(n_genes, adata.n_vars)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n_genes]
    functions, ranks = (part.ravel() + 1 for part in np.indices(order.shape))
    columns = {
        "function": functions,
        "rank": ranks,
        "gene": np.asarray(adata.var_names, dtype=object)[order.ravel()],
        "score": np.take_along_axis(scores, order, axis=1).ravel(),
    }
    # Arrays: not every version of anndata writes the frames of every version of pandas.
    adata.uns[f"{key}_genes"] = columns
    return import_module("pandas").DataFrame(columns)


def _require_anndata(adata: Any) -> None:
    try:
        kind = import_module("anndata").AnnData
    except ImportError:
        raise ImportError("Cells need anndata: pip install 'ritz[scanpy]'.") from None
    if not isinstance(adata, kind):
        raise parameter_error("adata", "an AnnData object", type(adata).__name__, kind=TypeError)


def _cells(adata: Any, use_rep: str, copy: bool, *, fall_back: bool = True) -> tuple[Any, str, Any]:
    """Return the object to write to, the name of the coordinates, and the coordinates (n, d)."""
    _require_anndata(adata)
    if fall_back and use_rep == PCA and PCA not in adata.obsm:
        use_rep = "X"
    if use_rep != "X" and use_rep not in adata.obsm:
        what = f"'X' or a key of adata.obsm, {sorted(adata.obsm)}"
        remedy = "Compute it first, such as by scanpy.pp.pca(adata)." if use_rep == PCA else ""
        raise parameter_error("use_rep", what, repr(use_rep), remedy)
    # Results are written to a view's copy, which anndata would make with a warning.
    adata = adata.copy() if copy else adata
    if adata.is_view:
        remedy = "Call ritz.scanpy with adata.copy()."
        raise parameter_error("adata", "an object of its own", "a view of another one", remedy)
    X = adata.X if use_rep == "X" else adata.obsm[use_rep]
    if X is None:
        raise parameter_error("use_rep", "coordinates that there are", "X, which is None")
    return adata, use_rep, X


def _summary(model: Any, rep: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return what a fit says, as numbers, texts and arrays that files of cells can hold."""
    plain = {"use_rep": rep}
    for name, value in params.items():
        if value is not None:
            known = isinstance(value, bool | int | float | str | np.ndarray | np.number)
            plain[name] = value if known else str(value)
    summary = {"params": plain, "eigenvalues": model.eigenvalues_, "version": ritz.__version__}
    if model.eigenvalue_errors_ is not None:
        summary["eigenvalue_errors"] = model.eigenvalue_errors_
    return summary


def _mean_squares(model: SpectralEmbedding, X: Any, *, whole: bool) -> Array:
    """Return E[grad f_j grad f_j'] (k, d, d) of each function, or its diagonal (k, d).

    The gradients are in the columns of X, whatever the units that the functions take.
    """
    rows: Any = as_points(X)
    functions, units = model.spectrum_[1:], model.units_
    (n, d), k = rows.shape, len(functions)
    total = np.zeros((k, d, d) if whole else (k, d))
    for part in row_slices(n, max(1, GRADIENT_NUMBERS // (d * k))):
        some = np.asarray(rows[part])
        slopes = units.in_columns(some, functions.gradient(units(some))).transpose(2, 1, 0)
        total += slopes @ slopes.transpose(0, 2, 1) if whole else (slopes**2).sum(axis=2)
    return np.asarray(total / n)
