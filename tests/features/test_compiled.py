import numpy as np

from ritz.features.gradients import between_shifted_distances


def test_gram_matrix_of_gradients_from_products_of_shifted_sections():
    rng = np.random.default_rng(0)
    n, p, d, unit = 40, 75, 3, 0.7
    X, Y, w = rng.normal(size=(n, d)), rng.normal(size=(p, d)), rng.random(n)
    T, offset = rng.normal(size=(n, p)), rng.normal(size=p)
    difference = X[:, None] - Y
    S = (difference**2).sum(axis=2)
    spread = unit * ((Y[:, None] - Y) ** 2).sum(axis=2)
    naive = unit * np.einsum("k,ki,kic,kj,kjc->ij", w, T, difference, T, difference, optimize=True)
    V, W = T - offset, w[:, None]
    inner, stretched = np.zeros((2, 1 + p, 1 + p))
    inner[1:, 1:] = V.T @ (W * V)
    stretched[1:, 1:] = (S * T).T @ (W * V)
    kept = inner.copy()
    found = between_shifted_distances(
        inner, w @ V, w.sum(), stretched, w @ (S * T), unit, spread, offset
    )
    assert found is stretched
    np.testing.assert_array_equal(inner, kept)
    assert not found[0].any()
    assert not found[:, 0].any()
    np.testing.assert_allclose(found[1:, 1:], naive, atol=1e-12 * np.abs(naive).max())
