"""Sums over blocks: the same matrices whatever the blocks, also where their programs differ."""

import numpy as np
import pytest

import ritz
from ritz.features import Ledger, Page, products
from ritz.features import ledger as ledger_module
from ritz.features.ledger import Product
from ritz.features.products import add_product, add_square, mirror

pytestmark = pytest.mark.usefixtures("squares")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
BASIS = ritz.KernelSections(ritz.Gaussian(1.0), RNG.normal(size=(7, 3)))
OFFSET = RNG.normal(size=7)


def terms(rows, form):
    jet = BASIS.centered_jet(rows, OFFSET)
    if form == "energy":
        return {"Phi": jet.value * jet.value, "L": jet.gradient @ jet.gradient}
    # Another number on each block is another program.
    number = float(rows.sum())
    return {"Phi": jet.value * jet.value, "L": number * (jet.value * jet.value)}


@pytest.mark.parametrize("form", ["energy", "other"])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_add_up(form, weighted):
    weight = RNG.uniform(size=90) if weighted else np.ones(90)
    ledger = Ledger()
    for part in np.array_split(np.arange(90), 4):
        ledger.add(terms(X[part], form), weight[part])
    found = ledger.close()
    values = np.column_stack([np.ones(90), BASIS(X) - OFFSET])
    Phi = values.T @ (values * weight[:, None])
    np.testing.assert_allclose(found["Phi"], Phi, atol=1e-12)
    if form == "energy":
        slopes = BASIS.gradient(X)
        L = np.zeros((8, 8))
        L[1:, 1:] = np.einsum("k,kdi,kdj->ij", weight, slopes, slopes)
    else:
        parts = np.array_split(np.arange(90), 4)
        L = sum(X[p].sum() * values[p].T @ (values[p] * weight[p, None]) for p in parts)
    np.testing.assert_allclose(found["L"], L, atol=1e-11)
    # Both may be made of one product, and are changed apart.
    assert not np.shares_memory(found["Phi"], found["L"])
    assert ledger.close() == {}


def test_a_product_that_several_terms_are_made_of():
    jet = BASIS.centered_jet(X, OFFSET)
    once = jet.value * jet.value
    ledger = Ledger()
    ledger.add({"Phi": once, "L": once + jet.gradient @ jet.gradient + 2.0 * once}, np.ones(90))
    found = ledger.close()
    values = np.column_stack([np.ones(90), BASIS(X) - OFFSET])
    slopes = np.zeros((8, 8))
    slopes[1:, 1:] = np.einsum("kdi,kdj->ij", BASIS.gradient(X), BASIS.gradient(X))
    np.testing.assert_allclose(found["Phi"], values.T @ values, atol=1e-12)
    np.testing.assert_allclose(found["L"], 3 * values.T @ values + slopes, atol=1e-11)


@pytest.mark.parametrize("band", [1, 15, 2**16])
def test_matrices_in_the_memory_of_products_that_others_are_made_of(band, monkeypatch):
    monkeypatch.setattr(ledger_module, "BAND", band)
    jet = BASIS.centered_jet(X, OFFSET)
    once, energy = jet.value * jet.value, jet.gradient @ jet.gradient
    page = Page(np.ones(90))
    program = page.program({"Phi": once, "L": energy + once + 2.0 * energy})
    entries, rooms = [], []
    for product in page.products:
        entry, room = product.added(product.zero()), None
        if np.ndim(entry) == 2:
            memory = np.zeros(64)
            memory[:49] = entry.ravel()
            entry, room = memory[:49].reshape(7, 7), memory.reshape(8, 8)
        entries.append(entry)
        rooms.append(room)
    ledger = Ledger()
    ledger.enter(program, entries, rooms)
    found = ledger.close()
    values = np.column_stack([np.ones(90), BASIS(X) - OFFSET])
    slopes = np.zeros((8, 8))
    slopes[1:, 1:] = np.einsum("kdi,kdj->ij", BASIS.gradient(X), BASIS.gradient(X))
    np.testing.assert_allclose(found["Phi"], values.T @ values, atol=1e-12)
    np.testing.assert_allclose(found["L"], values.T @ values + 3 * slopes, atol=1e-11)
    # The last that a product is needed for is made where it is.
    assert any(room is not None and np.shares_memory(room, found["Phi"]) for room in rooms)
    assert not np.shares_memory(found["Phi"], found["L"])


def test_gradients_of_dot_product_kernels_leave_the_scalar_products_alone():
    """Both are made of one product, the derivative of exp being itself."""
    basis = ritz.KernelSections(ritz.DotExponential(2.0), 0.5 * RNG.normal(size=(7, 3)))
    for offset in (np.zeros(7), OFFSET):
        jet = basis.centered_jet(X / 4, offset)
        ledger = Ledger()
        ledger.add({"Phi": jet.value * jet.value, "L": jet.gradient @ jet.gradient}, np.ones(90))
        found = ledger.close()
        values = np.column_stack([np.ones(90), basis(X / 4) - offset])
        slopes = basis.gradient(X / 4)
        np.testing.assert_allclose(found["Phi"], values.T @ values, rtol=1e-10, atol=1e-10)
        L = np.einsum("kdi,kdj->ij", slopes, slopes)
        np.testing.assert_allclose(found["L"][1:, 1:], L, rtol=1e-10, atol=1e-10)
        assert not found["L"][0].any()
        assert not found["L"][:, 0].any()


def test_products_of_different_functions():
    few = ritz.KernelSections(ritz.Gaussian(2.0), X[:3])
    f, g = BASIS.centered_jet(X, OFFSET), few.centered_jet(X, np.zeros(3))
    both = f.value * g.value
    ledger = Ledger()
    ledger.add({"Phi": both, "L": both + 0.5 * both}, np.ones(90))
    found = ledger.close()
    left = np.column_stack([np.ones(90), BASIS(X) - OFFSET])
    right = np.column_stack([np.ones(90), few(X)])
    np.testing.assert_allclose(found["Phi"], left.T @ right, atol=1e-12)
    np.testing.assert_allclose(found["L"], 1.5 * left.T @ right, atol=1e-12)


def weighted_product(A, B, rows):
    product = Product.of(A, B, rows)
    return product.added(product.zero())


def test_products_of_any_shape():
    A, B = RNG.normal(size=(6, 2, 3)), RNG.normal(size=(6, 2, 4))
    rows = RNG.normal(size=6)
    expected = np.einsum("k,kmi,kmj->ij", rows, A, B)
    np.testing.assert_allclose(weighted_product(A, B, rows), expected)
    np.testing.assert_allclose(weighted_product(2.0, A, rows), 2 * np.einsum("k,kmi->i", rows, A))
    assert weighted_product(2.0, rows, rows) == pytest.approx(2 * (rows**2).sum())
    assert weighted_product(A[:0], B[:0], rows[:0]).shape == (3, 4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [1, 7, 300])
def test_products_are_added_in_place(dtype, p):
    """C + w A'B, and C + w A'A by its lower triangle, for rows in one piece and not."""
    A = RNG.normal(size=(40, p + 3)).astype(dtype)[:, 2 : p + 2]
    B = np.asfortranarray(RNG.normal(size=(40, 5)).astype(dtype))
    start = RNG.normal(size=(p, p))
    start += start.T
    general, square = start[:, :5].copy() if p >= 5 else np.ones((p, 5)), start.copy()
    expected = general + 0.5 * A.T.astype(float) @ B
    add_product(general, A, B, 0.5)
    add_square(square, A, 2.0)
    mirror(square)
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(general, expected, atol=tolerance)
    np.testing.assert_allclose(square, start + 2.0 * A.T.astype(float) @ A, atol=tolerance)


@pytest.mark.parametrize("columns", [1, products.NARROW, products.NARROW + 1])
def test_of_many_columns_the_lower_triangle_is_computed(columns, monkeypatch):
    monkeypatch.undo()
    A, rows = RNG.normal(size=(90, columns)), RNG.uniform(size=90)
    found = weighted_product(A, A, rows)
    expected = A.T @ (A * rows[:, None])
    half = columns > products.NARROW
    np.testing.assert_allclose(found, np.tril(expected) if half else expected, atol=1e-12)
    assert len(Product.of(A, A, rows).shape) == (3 if half else 2)
    # Where weights are negative there are no roots of them.
    assert len(Product.of(A, A, -rows).shape) == 2


@pytest.mark.parametrize("dtype", [int, bool, np.float16, ">f8"])
def test_features_of_other_types(dtype):
    A = (RNG.normal(size=(6, 3)) > 0).astype(dtype)
    rows = np.ones(6)
    expected = np.tril(A.astype(float).T @ A.astype(float))
    np.testing.assert_allclose(np.tril(weighted_product(A, A, rows)), expected)
    np.testing.assert_allclose(weighted_product(A, A.copy(), rows), A.astype(float).T @ A)
