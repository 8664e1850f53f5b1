"""Values, gradients and terms: structured products equal dense ones, and errors are named."""

import numpy as np
import pytest

import ritz
from ritz.features import DenseGradients, FactoredGradients, Terms, Values
from ritz.features.gradients import distance_energies
from ritz.features.terms import weighted_product

B, D, P, Q = 7, 3, 4, 5
RNG = np.random.default_rng(0)
WEIGHTS = {
    "ones": np.ones(B),
    "positive": RNG.uniform(0.1, 2.0, B),
    "some zero": np.arange(B) % 2.0,
    "both signs": RNG.normal(size=B),
}
FACTORS = {"one": 1.0, "a number": -0.7, "one a row": RNG.normal(size=B)}


def assert_close(a, b):
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * max(np.abs(b).max(), 1.0))


def values(size, seed, several=None):
    """Return values of one or of several numbers a row."""
    shape = (B, size) if several is None else (B, several, size)
    rng = np.random.default_rng(seed)
    return Values(rng.normal(size=shape), rng.normal(size=B))


def with_one(probe):
    """Return the numbers (b, m, 1 + p) of a probe, the function 1 first."""
    array = probe.array if probe.array.ndim == 3 else probe.array[:, None]
    one = np.broadcast_to(np.asarray(probe.constant), (B,))
    return np.concatenate([np.tile(one[:, None, None], (1, array.shape[1], 1)), array], axis=2)


# Values


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(
    ("left", "right"), [(None, None), (2, 2), (None, 3), (3, None), (1, None)], ids=str
)
def test_gram_of_values(left, right, weight):
    a, b, w = values(P, 1, left), values(Q, 2, right), WEIGHTS[weight]
    A, B_ = with_one(a), with_one(b)
    many = max(left or 1, right or 1)
    A, B_ = (np.broadcast_to(C, (B, many, C.shape[2])) for C in (A, B_))
    assert_close(a.gram(b, w), np.einsum("k,kmi,kmj->ij", w, A, B_))
    own = with_one(a)
    assert_close(a.gram(a, w), np.einsum("k,kmi,kmj->ij", w, own, own))


def test_gram_of_values_with_themselves_is_symmetric_to_the_last_bit():
    a = values(P, 1)
    G = a.gram(a, WEIGHTS["positive"])
    np.testing.assert_array_equal(G, G.T)


def test_values_combine_as_in_a_formula():
    a, b, c = values(P, 1), values(P, 2), FACTORS["one a row"]
    found = (c * a - b / 2.0) * 3.0
    assert_close(found.dense(), 3 * (c[:, None] * a.array - b.array / 2))
    constant = np.asarray(found.constant) * found.factor
    assert_close(constant, 3 * (c * a.constant - b.constant / 2))


def test_values_along_different_numbers_of_directions_do_not_combine():
    with pytest.raises(ValueError, match=r"as many others\. Got 2 and 3"):
        values(P, 1, 2).gram(values(Q, 2, 3), np.ones(B))


# Gradients


def factored(seed, size=P, points=True):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(B, D)) if points else None
    return FactoredGradients(rng.normal(size=(B, size)), rng.normal(size=(size, D)), z)


KINDS = {
    "distance": factored(3),
    "dot product": factored(4, points=False),
    "dense": DenseGradients(np.random.default_rng(5).normal(size=(B, D, P))),
}


def test_factors_are_gradients():
    g = KINDS["distance"]
    expected = g.T[:, None, :] * (g.points[:, :, None] - g.anchors.T)
    assert_close(g.dense(), expected)
    g = KINDS["dot product"]
    assert_close(g.dense(), g.T[:, None, :] * g.anchors.T[None])


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("left", KINDS)
def test_gram_of_gradients(left, right, weight):
    a, w = KINDS[left], WEIGHTS[weight]
    b = a if left == right else KINDS[right]
    truth = np.zeros((1 + P, 1 + P))
    truth[1:, 1:] = np.einsum("k,kdi,kdj->ij", w, a.dense(), b.dense())
    assert_close(a.gram(b, w), truth)


@pytest.mark.parametrize("points", [True, False])
def test_gram_of_factored_gradients_with_others_of_their_kind(points):
    a, b, w = factored(6, points=points), factored(7, Q, points), WEIGHTS["both signs"]
    inner = np.einsum("k,kdi,kdj->ij", w, a.dense(), b.dense())
    assert_close(a.gram(b, w), np.pad(inner, ((1, 0), (1, 0))))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_along_combined_against_and_mapped(kind, factor):
    g = FACTORS[factor] * KINDS[kind]
    dense = g.dense()
    rows = np.broadcast_to(FACTORS[factor], (B,))
    assert_close(dense, rows[:, None, None] * KINDS[kind].dense())
    rng = np.random.default_rng(8)
    U, A = rng.normal(size=(B, D, 2)), rng.normal(size=(P, 3))
    t, R = rng.normal(size=(B, D, 2)), rng.normal(size=(D, 2))
    assert_close(g.along(U).dense(), np.einsum("kdr,kdp->krp", U, dense))
    assert_close(g.combine(A), dense @ A)
    assert_close(g.against(t), np.einsum("kdp,kdo->po", dense, t))
    assert_close(g.map(R).dense(), np.einsum("de,kdp->kep", R, dense))


def test_gradients_add():
    a, b = KINDS["distance"], KINDS["dot product"]
    assert_close((a + b).dense(), a.dense() + b.dense())
    assert_close((2.0 * a - b).dense(), 2 * a.dense() - b.dense())
    assert_close((-a).dense(), -a.dense())


def test_the_formula_of_energies():
    g = factored(9)
    S = ((g.points[:, None] - g.anchors) ** 2).sum(axis=2)
    E = ((g.anchors[:, None] - g.anchors) ** 2).sum(axis=2)
    found = distance_energies(g.T.T @ g.T, (S * g.T).T @ g.T, E)
    assert_close(found, np.einsum("kdi,kdj->ij", g.dense(), g.dense()))


def test_one_direction_needs_an_axis():
    with pytest.raises(ValueError, match=r"'U' parameter must be directions.*u\[:, :, None\]"):
        KINDS["distance"].along(np.ones((B, D)))


# Terms


def test_terms_are_sums_of_products():
    a, b, c, w = values(P, 1), values(P, 2), FACTORS["one a row"], WEIGHTS["positive"]
    g, h = KINDS["distance"], KINDS["dot product"]
    form = c * (a * b) - (2.0 * g) @ (c * h) / 4.0
    A, B_ = with_one(a), with_one(b)
    truth = np.einsum("k,kmi,kmj->ij", w * c, A, B_)
    truth[1:, 1:] -= np.einsum("k,kdi,kdj->ij", w * c, g.dense(), h.dense()) / 2
    assert_close(form.gram(w), truth)
    assert_close((-form).gram(w), -truth)
    assert_close(sum([form, form]).gram(w), 2 * truth)


def test_errors_of_terms_are_named():
    a, g = values(P, 1), KINDS["distance"]
    with pytest.raises(ValueError, match="at least one term"):
        Terms().gram(np.ones(B))
    with pytest.raises(ValueError, match=r"one number a row.*x\[:, 0\]"):
        np.ones((B, 1)) * a
    with pytest.raises(ValueError, match=r"of shape \(7,\).*\(3,\)"):
        (np.ones(3) * (a * a)).gram(np.ones(B))
    with pytest.raises(TypeError, match="gradients by '@'"):
        a * g
    with pytest.raises(ValueError, match=r"as many others\. Got 7 and 3 rows"):
        weighted_product(a.array, a.array[:3], np.ones(B))
    with pytest.raises(ValueError, match="finite"):
        (np.inf * (a * a)).gram(np.ones(B))


def test_a_factor_of_one_gradient_leaves_the_product_without_wide_arrays(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    f = ritz.KernelSections(ritz.Gaussian(1.0), X[:8]).jet(X)
    c, ones = X[:, 0], np.ones(50)
    expected = (c * (f.gradient @ f.gradient)).gram(ones)
    truth = np.einsum("k,kdi,kdj->ij", c, f.gradient.dense(), f.gradient.dense())
    np.testing.assert_allclose(expected[1:, 1:], truth, rtol=0, atol=1e-13 * np.abs(truth).max())
    # An array (b, d, p) would take ten times as long.
    monkeypatch.delattr(type(f.gradient), "unweighted")
    np.testing.assert_array_equal(((c * f.gradient) @ f.gradient).gram(ones), expected)
    np.testing.assert_array_equal(((-f.gradient) @ (-c * f.gradient)).gram(ones), expected)
