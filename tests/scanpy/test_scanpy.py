"""Cells in AnnData objects: what is written, what survives a file, which genes are found."""

import anndata
import numpy as np
import pandas
import pytest
from sklearn.metrics import normalized_mutual_info_score

import ritz
import ritz.scanpy
from tests.bad_input import raises
from tests.cells import GENES, KINDS, cells


@pytest.fixture(scope="module")
def embedded():
    adata = cells()
    return adata, ritz.scanpy.embed(adata, 2)


def test_the_embedding_is_that_of_the_estimator(embedded):
    adata, model = embedded
    assert isinstance(model, ritz.SpectralEmbedding)
    plain = ritz.SpectralEmbedding(2, operator=ritz.neighbors(15), random_state=0)
    np.testing.assert_array_equal(adata.obsm["X_ritz"], plain.fit_transform(adata.obsm["X_pca"]))
    np.testing.assert_array_equal(adata.uns["ritz"]["eigenvalues"], plain.eigenvalues_)
    assert adata.uns["ritz"]["version"] == ritz.__version__
    assert adata.uns["ritz"]["params"]["use_rep"] == "X_pca"


def test_results_survive_a_file(tmp_path):
    # anndata writes strings of Python, not of Arrow.
    with pandas.option_context("mode.string_storage", "python"):
        adata = cells()
    options = {"kernel": ritz.Gaussian(3.0), "n_centers": 50, "diffusion_time": None}
    ritz.scanpy.embed(adata, 2, **options)
    ritz.scanpy.cluster(adata, KINDS, operator=ritz.laplacian())
    table = ritz.scanpy.rank_genes(adata, 3)
    # Names of cells are strings of pandas, which anndata writes only when asked to.
    with anndata.settings.override(allow_write_nullable_strings=True):
        adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obsm["X_ritz"], adata.obsm["X_ritz"])
    for key in ("ritz", "ritz_clusters", "ritz_genes"):
        assert again.uns[key].keys() == adata.uns[key].keys()
    assert again.uns["ritz"]["params"] == adata.uns["ritz"]["params"]
    for name in ("eigenvalues", "eigenvalue_errors", "slopes"):
        np.testing.assert_array_equal(again.uns["ritz"][name], adata.uns["ritz"][name])
    assert list(again.obs["ritz"]) == list(adata.obs["ritz"])
    assert ritz.scanpy.rank_genes(again, 3).equals(table)


def test_without_a_pca_the_columns_of_x_are_used():
    adata = cells(pca=False)
    model = ritz.scanpy.embed(adata, 2, key_added="raw")
    dense = adata.X.toarray()
    plain = ritz.SpectralEmbedding(2, operator=ritz.neighbors(15), random_state=0).fit(dense)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    assert adata.uns["raw"]["params"]["use_rep"] == "X"
    assert adata.obsm["X_raw"].shape == (300, 2)


def test_a_copy_leaves_the_original_alone():
    adata = cells()
    copy = ritz.scanpy.embed(adata, 2, copy=True)
    assert "X_ritz" in copy.obsm
    assert "ritz" not in adata.uns
    assert "ritz" in ritz.scanpy.cluster(adata, 2, copy=True).obs
    assert "ritz" not in adata.obs
    model = ritz.scanpy.embed(adata, 2)
    again = ritz.scanpy.transform(adata, model, copy=True, key_added="new")
    assert "X_new" not in adata.obsm
    np.testing.assert_array_equal(again.obsm["X_new"], adata.obsm["X_ritz"])


def test_new_cells_are_embedded():
    adata, new = cells(pca=False), cells(n=50, seed=1, pca=False)
    model = ritz.scanpy.embed(adata, 2)
    assert ritz.scanpy.transform(new, model) is None
    np.testing.assert_array_equal(new.obsm["X_ritz"], model.transform(new.X))


def test_clusters_are_the_kinds_of_cells():
    adata = cells()
    model = ritz.scanpy.cluster(adata, KINDS)
    assert isinstance(model, ritz.SpectralClustering)
    assert adata.obs["ritz"].dtype == "category"
    assert list(adata.obs["ritz"].cat.categories) == ["0", "1", "2"]
    kinds = adata.obs["bulk_labels"]
    assert normalized_mutual_info_score(adata.obs["ritz"], kinds) > 0.95
    assert len(adata.uns["ritz_clusters"]["eigenvalues"]) == KINDS - 1


@pytest.mark.parametrize("pca", [True, False])
def test_genes_are_ranked_by_mean_squared_derivatives(pca):
    adata = cells(pca=pca)
    spectrum = ritz.scanpy.embed(adata, 2).spectrum_[1:]
    table = ritz.scanpy.rank_genes(adata, GENES)
    assert list(table.columns) == ["function", "rank", "gene", "score"]
    assert len(table) == 2 * GENES
    X = adata.obsm["X_pca"] if pca else adata.X.toarray()
    # By finite differences: a unit of a gene moves the coordinates by its loadings.
    for gene, direction in [(3, 3), (17, 17), (35, 35)]:
        step = 1e-5 * (adata.varm["PCs"][direction] if pca else np.eye(GENES)[direction])
        slopes = (spectrum(X + step) - spectrum(X - step)) / 2e-5
        for function in (1, 2):
            row = table[(table["function"] == function) & (table["gene"] == f"gene{gene}")]
            expected = (slopes[:, function - 1] ** 2).mean()
            assert row["score"].item() == pytest.approx(expected, rel=1e-5)
    for _, scores in table.groupby("function")["score"]:
        assert scores.is_monotonic_decreasing


@pytest.mark.parametrize("options", [{"scale": "standard"}, {"metric": "cosine"}])
def test_genes_are_ranked_in_their_own_units_whatever_those_of_the_fit(options):
    adata = cells(pca=False)
    model = ritz.scanpy.embed(adata, 1, **options)
    table = ritz.scanpy.rank_genes(adata, GENES).set_index("gene")
    X = adata.X.toarray()
    for gene in (3, 17, 35):
        step = 1e-5 * np.eye(GENES)[gene]
        slopes = (model.transform(X + step) - model.transform(X - step)) / 2e-5
        expected = (slopes**2).mean()
        assert table.loc[f"gene{gene}", "score"] == pytest.approx(expected, rel=1e-4)


def test_an_embedding_of_cells_comes_back_from_a_file(embedded, tmp_path):
    adata, model = embedded
    model.save(tmp_path / "cells.ritz")
    loaded = ritz.load(tmp_path / "cells.ritz")
    again = ritz.scanpy.transform(adata, loaded, key_added="again", copy=True)
    np.testing.assert_array_equal(again.obsm["X_again"], model.transform(adata.obsm["X_pca"]))


def test_the_first_genes_tell_kinds_of_cells_apart():
    adata = cells()
    ritz.scanpy.embed(adata, 2)
    table = ritz.scanpy.rank_genes(adata, 5)
    # The last ten genes are alike in all kinds.
    numbers = table["gene"].str.removeprefix("gene").astype(int)
    assert (numbers < 10 * KINDS).all()


def test_errors_name_the_argument_and_the_remedy(embedded):
    adata, model = embedded
    for function in (ritz.scanpy.embed, ritz.scanpy.cluster, ritz.scanpy.rank_genes):
        with raises("'adata'", "AnnData", "ndarray", error=TypeError):
            function(np.ones((5, 2)))
    with raises("'use_rep'", "'X_scvi'", "X_pca"):
        ritz.scanpy.embed(adata, use_rep="X_scvi")
    with raises("'model'", "embed", error=TypeError):
        ritz.scanpy.transform(adata, ritz.SpectralEmbedding())
    with raises("'adata'", "view", "copy()"):
        ritz.scanpy.embed(adata[:100], 2)
    with raises("'key'", "'other'", "embed"):
        ritz.scanpy.rank_genes(adata, key="other")
    with raises("'n_genes'"):
        ritz.scanpy.rank_genes(adata, 0)
    with raises("'use_rep'", "'X_pca'", "scanpy.pp.pca"):
        ritz.scanpy.transform(cells(n=50, pca=False), model)


def test_other_genes_are_refused(embedded):
    model = embedded[1]
    fewer, turned = cells(n=50)[:, :30].copy(), cells(n=50)[:, ::-1].copy()
    with raises("'adata'", "40 genes", "'gene30' not among them"):
        ritz.scanpy.transform(fewer, model)
    with raises("'adata'", "another order", "model.genes_"):
        ritz.scanpy.transform(turned, model)
    ritz.scanpy.transform(turned[:, list(model.genes_)].copy(), model)


def test_genes_need_loadings():
    adata = cells()
    del adata.varm["PCs"]
    ritz.scanpy.embed(adata, 2)
    with raises("'key'", "varm['PCs']"):
        ritz.scanpy.rank_genes(adata)
    adata.obsm["X_other"] = adata.obsm["X_pca"]
    ritz.scanpy.embed(adata, 2, use_rep="X_other")
    with raises("'key'", "'X_other'"):
        ritz.scanpy.rank_genes(adata)


def test_anndata_is_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    with pytest.raises(ImportError, match=r"ritz\[scanpy\]"):
        ritz.scanpy.embed(None)
