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
    found = between_shifted_distances(
        V.T @ (W * V), w @ V, w.sum(), (S * T).T @ (W * V), w @ (S * T), unit, spread, offset
    )
    assert (found.top, found.side, found.corner) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(found.inner, naive, atol=1e-12 * np.abs(naive).max())
