"""Forms that look at a sample of the rows: it is fixed once, with the basis, and kept with it."""

from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.search import NearestRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 3))
BASIS = ritz.Nystrom(ritz.Gaussian(1.5), 20)
FORMS = {
    "neighbors": ritz.neighbors(4),
    "neighbors, directional": ritz.neighbors(4, "directional"),
    "tangent": ritz.laplacian("pca", dimension=2),
    "density": ritz.laplacian(density_correction=1.0),
    "both": ritz.laplacian("pca", 0.5, dimension=2),
    "sum": ritz.laplacian(density_correction=1.0) + 2.0 * ritz.neighbors(4),
    "asymmetric": ritz.laplacian(density_correction=1.0)
    + ritz.differential({((0, 0, 0), (1, 0, 0)): 1.0}),
}
SYMMETRIC = [name for name in FORMS if name != "asymmetric"]


def assemble(form, basis, data, **options):
    return ritz.assemble(form, basis, data, random_state=0, **options)


def sides(sums):
    return sums.left if sums.form.symmetric else (sums.left, sums.right)


def assert_same(a, b, relative=1e-12):
    np.testing.assert_array_equal(a.count, b.count)
    np.testing.assert_allclose(a.weight, b.weight, rtol=relative)
    for name in ("L", "Phi", "Psi"):
        truth = np.array(getattr(b, name))
        atol = relative * np.abs(truth).max()
        np.testing.assert_allclose(getattr(a, name), truth, rtol=0, atol=atol)


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_parts_add_up_to_the_sums_of_the_whole(form):
    whole = assemble(FORMS[form], BASIS, X)
    first, second = (
        assemble(FORMS[form], sides(whole), part) for part in (X[:300], ritz.Batches([X[300:]]))
    )
    assert_same(first + second, whole)
    assert_same(second + first, whole)
    np.testing.assert_array_equal((whole - first).count, second.count)


@pytest.mark.parametrize("form", ["neighbors", "neighbors, directional", "density"])
def test_rows_beyond_the_reference_sample_count_too(form):
    """The sample holds 10,000 rows; the neighbors of others are searched among it."""
    rows = np.random.default_rng(1).normal(size=(11_000, 2))
    whole = assemble(FORMS[form], ritz.Monomials(1), rows)
    assert whole.left.reference.shape == (10_000, 2)
    first, second = (assemble(FORMS[form], whole.left, part) for part in (rows[:700], rows[700:]))
    assert_same(first + second, whole)
    assert whole.n_rows == 11_000


def test_neighbors_of_other_rows_are_searched_in_the_sample():
    whole = assemble(ritz.neighbors(3), BASIS, X)
    others = np.random.default_rng(2).normal(size=(50, 3))
    sums = assemble(ritz.neighbors(3, weights="uniform"), whole.left, others)
    squares = ((others[:, None] - X) ** 2).sum(axis=2)
    near = X[np.argsort(squares, axis=1)[:, :3]]
    steps = sums.left(others)[:, None] - sums.left(near.reshape(-1, 3)).reshape(50, 3, -1)
    L = np.einsum("kmi,kmj->ij", steps, steps) / 150
    np.testing.assert_allclose(sums.mean().L[1:, 1:], L, rtol=0, atol=1e-12 * np.abs(L).max())


def test_a_copy_of_a_prepared_form_searches_by_itself():
    prepared = ritz.neighbors(3).prepare(X)
    expected = ritz.neighbors(2).prepare(X)._known(X[:20])[0]
    found = replace(prepared, n_neighbors=2)._known(X[:20])[0]
    np.testing.assert_array_equal(found, expected)


def test_the_sample_holds_the_distinct_rows_of_positive_weight():
    rows = np.concatenate([X, X[:50], X[:1] + 9.0])
    weight = np.ones(len(rows))
    weight[-1] = 0.0
    sums = assemble(ritz.neighbors(4), BASIS, rows, sample_weight=weight)
    found = {tuple(row) for row in sums.left.reference}
    assert len(sums.left.reference) == len(found)
    assert found == {tuple(row) for row in X}


@pytest.mark.parametrize("form", ["laplacian", "pairs"])
def test_forms_that_need_no_sample_keep_none(form):
    data = (X, X + 0.1) if form == "pairs" else X
    assert assemble(getattr(ritz, form)(), BASIS, data).left.reference is None


OTHER = {
    "numbers of neighbors": (ritz.neighbors(4), ritz.neighbors(5)),
    "kinds": (ritz.neighbors(4), ritz.neighbors(4, "directional")),
    "density corrections": (
        ritz.laplacian(density_correction=1.0),
        ritz.laplacian(density_correction=0.5),
    ),
    "dimensions": (ritz.laplacian("pca", dimension=1), ritz.laplacian("pca", dimension=2)),
}


@pytest.mark.parametrize("which", OTHER)
def test_sums_of_different_operators_do_not_add(which):
    one, other = OTHER[which]
    first = assemble(one, BASIS, X)
    second = assemble(other, first.left, X)
    for combine in (first.__add__, first.__sub__):
        with pytest.raises(ValueError, match="different operators"):
            combine(second)


@pytest.mark.parametrize("form", SYMMETRIC)
def test_sums_with_different_samples_do_not_add(form):
    """The same functions, fixed without a sample, and a sample from each part of the data."""
    functions = assemble(ritz.laplacian(), BASIS, X).left
    first, second = (assemble(FORMS[form], functions, part) for part in (X[:450], X[450:]))
    with pytest.raises(ValueError, match="reference samples differ"):
        first + second


# Searched once


@pytest.fixture
def searches(monkeypatch):
    """The sizes of all searches for neighbors, of the sample's own rows and of others."""
    found = []
    search = NearestRows.__call__

    def counted(self, X, *options):
        found.append(len(X))
        return search(self, X, *options)

    monkeypatch.setattr(NearestRows, "__call__", counted)
    return found


@pytest.mark.parametrize("kind", ["pairs", "directional"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_neighbors_are_searched_once_in_a_fit(searches, kind, n_jobs):
    form = ritz.laplacian() + 0.5 * ritz.neighbors(4, kind)
    ritz.decompose(form, BASIS, X, k=5, random_state=0, n_jobs=n_jobs)
    assert searches == [len(X)]


def test_a_form_that_is_prepared_is_not_searched_again(searches):
    sums = assemble(ritz.neighbors(4), BASIS, X)
    again = assemble(sums.form, sums.left, X[:500])
    assert searches == [len(X)]
    assert_same(again, assemble(ritz.neighbors(4), sums.left, X[:500]))
    # Preparing changes no form: it returns another, and a prepared one is left as it is.
    assert sums.form.prepare(X[:100]) is sums.form


# Saved with the basis


@pytest.mark.parametrize("form", FORMS)
def test_a_fixed_basis_carries_the_reference_sample(form, tmp_path):
    sums = assemble(FORMS[form], BASIS, X)
    spectrum = ritz.decompose_sums(sums, 5)
    path = tmp_path / "spectrum.npz"
    spectrum.save(path)
    loaded = ritz.load(path)
    if form == "asymmetric":
        spectrum, loaded = spectrum.left, loaded.left
    for basis in (spectrum.basis, loaded.basis):
        np.testing.assert_array_equal(basis.reference, sums.left.reference)
    # Sums over the functions that were read, of rows seen one day or the next, are one operator's.
    whole = assemble(FORMS[form], spectrum.basis, X)
    first, second = (assemble(FORMS[form], loaded.basis, part) for part in (X[:300], X[300:]))
    assert_same(first + second, whole)


def test_a_file_without_a_sample_says_nothing_of_it(tmp_path):
    spectrum = ritz.decompose(ritz.laplacian(), BASIS, X, k=3, random_state=0)
    path = tmp_path / "spectrum.npz"
    spectrum.save(path)
    assert b"reference" not in path.read_bytes()
    assert "reference" not in str(np.load(path)["header"])
    assert ritz.load(path).basis.reference is None


REFERRING = [
    ritz.neighbors(4),
    ritz.laplacian("pca", dimension=1),
    2.0 * ritz.laplacian(density_correction=1.0),
]


@pytest.mark.parametrize("form", REFERRING, ids=str)
def test_a_reference_sample_has_the_columns_of_the_data(form):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 10)
    with pytest.raises(ValueError, match="'X' parameter must be an array with 3 columns"):
        assemble(form.prepare(rows), basis, rows[:, :2])
    sums = assemble(form, basis, rows)
    with pytest.raises(ValueError, match="'reference' parameter must be an array with 3 columns"):
        replace(sums.left, reference=rows[:, :2])


@pytest.mark.parametrize("form", REFERRING, ids=str)
def test_a_reference_sample_is_an_array_of_finite_rows(form):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    for wrong in (rows[:, 0], np.full((60, 2), np.nan)):
        with pytest.raises(ValueError, match="'reference' parameter must be"):
            form.prepare(wrong)
    # A list of rows is one too, and a row that is given twice counts once.
    basis = ritz.KernelSections(ritz.Gaussian(1.0), rows[:10])
    expected = assemble(form.prepare(rows), basis, rows).mean().L
    twice = np.concatenate([rows, rows]).tolist()
    np.testing.assert_array_equal(assemble(form.prepare(twice), basis, rows).mean().L, expected)
