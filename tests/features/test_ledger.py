"""Sums over blocks: the same matrices whatever the blocks, also where their programs differ."""

import numpy as np
import pytest

import ritz
from ritz.features import Ledger
from ritz.features.ledger import weighted_product

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
    assert ledger.close() == {}


def test_products_of_any_shape():
    A, B = RNG.normal(size=(6, 2, 3)), RNG.normal(size=(6, 2, 4))
    rows = RNG.normal(size=6)
    expected = np.einsum("k,kmi,kmj->ij", rows, A, B)
    np.testing.assert_allclose(weighted_product(A, B, rows), expected)
    np.testing.assert_allclose(weighted_product(2.0, A, rows), 2 * np.einsum("k,kmi->i", rows, A))
    assert weighted_product(2.0, rows, rows) == pytest.approx(2 * (rows**2).sum())
    assert weighted_product(A[:0], B[:0], rows[:0]).shape == (3, 4)
