"""Singular values between two metrics: A' L B = diag with A' Phi A = B' Psi B = I."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import qr, sqrtm, svdvals

from ritz import gsvd
from ritz.solve.gsvd import singular_triples


def mixing(p, rng, condition=10.0):
    """A random invertible matrix of known condition."""
    Q, R = (np.linalg.qr(rng.standard_normal((p, p)))[0] for _ in range(2))
    return (Q * np.geomspace(1, condition, p)) @ R


def problem(values, p, q, rng, units=1.0):
    """L, Phi, Psi with singular values `values`, p by q, whose metrics may have a null space."""
    r = len(values)
    V, U = mixing(p, rng)[:r], mixing(q, rng)[:r]
    if np.ndim(units):
        V, U = V * units[:p], U * units[-q:]
    return V.T @ (np.asarray(values)[:, None] * U), V.T @ V, U.T @ U


def full_problem(values, p, q, rng):
    """The same with regular metrics of sizes p and q."""
    V, U = mixing(p, rng), mixing(q, rng)
    S = np.zeros((p, q))
    np.fill_diagonal(S, values)
    return V.T @ S @ U, V.T @ V, U.T @ U


def check(found, L, Phi, Psi, truth, k, atol=1e-11):
    scale = max(np.max(truth), 1e-300)
    A, B = found.left, found.right
    np.testing.assert_allclose(found.values, truth[:k], atol=atol * scale)
    np.testing.assert_allclose(A.T @ Phi @ A, np.eye(k), atol=atol)
    np.testing.assert_allclose(B.T @ Psi @ B, np.eye(k), atol=atol)
    np.testing.assert_allclose(A.T @ L @ B, np.diag(truth[:k]), atol=10 * atol * scale)
    assert (found.residuals < 1e-9).all()


VALUES = {
    "distinct": np.arange(1.0, 9.0),
    "repeated": np.repeat([1.0, 2.0, 5.0], [3, 2, 3]),
    "some zero": np.r_[0.0, 0.0, np.arange(1.0, 7.0)],
    "wide": np.geomspace(1e-6, 1.0, 8),
}
SHAPES = {"square": (8, 8), "tall": (12, 8), "broad": (8, 11)}


@pytest.mark.parametrize("order", ["smallest", "largest"])
@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_definition(values, shape, k, order):
    for seed in range(5):
        L, Phi, Psi = full_problem(values, *shape, np.random.default_rng(seed))
        found = gsvd(L, Phi, Psi, k, order=order)
        truth = values if order == "smallest" else values[::-1]
        check(found, L, Phi, Psi, truth, k)
        assert found.rank == 8


@pytest.mark.parametrize("order", ["smallest", "largest"])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (9, 9), (7, 10)])
@pytest.mark.parametrize("units", [1.0, np.geomspace(1e-8, 1e8, 10)], ids=["same", "mixed"])
def test_singular_metrics_and_bad_units(shape, k, order, units):
    values = np.arange(1.0, 5.0)
    for seed in range(5):
        L, Phi, Psi = problem(values, *shape, np.random.default_rng(seed), units)
        found = gsvd(L, Phi, Psi, k, order=order)
        check(found, L, Phi, Psi, values if order == "smallest" else values[::-1], k)
        assert found.rank == 4
    with pytest.raises(ValueError, match=r"'k' parameter must be at most 4.*Got 5 instead"):
        gsvd(L, Phi, Psi, 5, order=order)


@settings(deadline=None, max_examples=50)
@given(
    p=st.integers(1, 12),
    q=st.integers(1, 12),
    seed=st.integers(0, 2**32 - 1),
    order=st.sampled_from(["smallest", "largest"]),
    data=st.data(),
)
def test_agrees_with_symmetric_square_roots(p, q, seed, order, data):
    k = data.draw(st.integers(1, min(p, q)))
    rng = np.random.default_rng(seed)
    V, U = mixing(p, rng), mixing(q, rng)
    Phi, Psi, L = V.T @ V, U.T @ U, rng.standard_normal((p, q))
    roots = [np.linalg.inv(np.atleast_2d(sqrtm(M).real)) for M in (Phi, Psi)]
    truth = svdvals(roots[0] @ L @ roots[1])
    truth = truth[::-1] if order == "smallest" else truth
    found = gsvd(L, Phi, Psi, k, order=order)
    np.testing.assert_allclose(found.values, truth[:k], atol=1e-10 * truth.max())
    np.testing.assert_allclose(
        found.left.T @ L @ found.right, np.diag(found.values), atol=1e-10 * truth.max()
    )


def test_transposing_swaps_the_sides():
    L, Phi, Psi = full_problem(np.arange(1.0, 7.0), 9, 6, np.random.default_rng(0))
    one = gsvd(L, Phi, Psi, 4, order="largest")
    two = gsvd(L.T, Psi, Phi, 4, order="largest")
    np.testing.assert_allclose(one.values, two.values, rtol=1e-12)
    np.testing.assert_allclose(np.abs(one.left.T @ Phi @ two.right), np.eye(4), atol=1e-11)
    np.testing.assert_allclose(np.abs(one.right.T @ Psi @ two.left), np.eye(4), atol=1e-11)


@pytest.mark.parametrize("units", [(1e12, 1.0, 1.0), (1.0, 1e12, 1.0), (1e-12, 1e-12, 1e12)])
@pytest.mark.parametrize("order", ["smallest", "largest"])
def test_units_do_not_matter(units, order):
    a, b, c = units
    L, Phi, Psi = full_problem(np.arange(1.0, 7.0), 9, 6, np.random.default_rng(0))
    one = gsvd(L, Phi, Psi, 4, order=order)
    other = gsvd(a * L, b * Phi, c * Psi, 4, order=order)
    np.testing.assert_allclose(other.values / a * np.sqrt(b * c), one.values, rtol=1e-11)
    assert other.rank == one.rank
    exact = gsvd(2.0**40 * L, 2.0**40 * Phi, Psi, 4, order=order)
    np.testing.assert_array_equal(exact.values / 2.0**20, one.values)


def test_rounding_makes_no_singular_value():
    rng = np.random.default_rng(0)
    for _ in range(5):
        L, Phi, Psi = problem(np.arange(1.0, 6.0), 10, 12, rng)
        for M in (Phi, Psi):
            noise = rng.standard_normal(M.shape) * 1e-16
            M += (noise + noise.T) * np.abs(M).max()
        L += rng.standard_normal(L.shape) * 1e-16 * np.abs(L).max()
        found = gsvd(L, Phi, Psi, 5, order="largest", floors=(1e-12, 1e-12))
        np.testing.assert_allclose(found.values, np.arange(5.0, 0.0, -1.0), rtol=1e-10)
        assert found.rank == 5


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(1e-6, 1e2), k=st.integers(1, 7))
def test_penalties_are_finished_without_them(seed, size, k):
    rng = np.random.default_rng(seed)
    truth = np.arange(8.0, 0.0, -1.0)
    L, Phi, Psi = full_problem(truth, 9, 8, rng)
    G, H = mixing(9, rng), mixing(8, rng)
    stiff = size * G.T @ G, size * H.T @ H
    found = gsvd(L, Phi, Psi, k, order="largest", penalties=stiff)
    A, B = found.left, found.right
    np.testing.assert_allclose(A.T @ L @ B, np.diag(found.values), atol=1e-9)
    np.testing.assert_allclose(A.T @ Phi @ A, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(B.T @ Psi @ B, np.eye(k), atol=1e-9)
    penalized = gsvd(L, Phi + stiff[0], Psi + stiff[1], k, order="largest")
    for ours, theirs in ((A, penalized.left), (B, penalized.right)):
        Q, P = (qr(M, mode="economic")[0] for M in (ours, theirs))
        np.testing.assert_allclose(svdvals(Q.T @ P), 1.0, atol=1e-8)
    # A larger metric makes smaller values, and a smaller span too.
    assert (found.values <= truth[:k] + 1e-9).all()
    assert (found.values >= penalized.values - 1e-9).all()


@pytest.mark.parametrize("order", ["smallest", "largest"])
def test_the_first_order_of_the_penalties_is_gone(order):
    rng = np.random.default_rng(0)
    truth = np.arange(1.0, 9.0) if order == "smallest" else np.arange(8.0, 0.0, -1.0)
    L, Phi, Psi = full_problem(truth, 8, 8, rng)
    G = [mixing(8, rng) for _ in range(2)]
    sizes = np.geomspace(1e-5, 1e-3, 5)
    finished, left, residuals = [], [], []
    for s in sizes:
        stiff = tuple(s * M.T @ M for M in G)
        found = gsvd(L, Phi, Psi, 3, order=order, penalties=stiff)
        plain = gsvd(L, Phi + stiff[0], Psi + stiff[1], 3, order=order)
        finished.append(np.abs(found.values - truth[:3]).max())
        left.append(np.abs(plain.values - truth[:3]).max())
        residuals.append(found.residuals.max())
    slopes = [np.polyfit(np.log(sizes), np.log(e), 1)[0] for e in (finished, left, residuals)]
    # Values off by the square of what the functions are off by, which the residuals measure.
    np.testing.assert_allclose(slopes, [2.0, 1.0, 1.0], atol=0.05)


def test_zero_form():
    found = gsvd(np.zeros((4, 3)), np.eye(4), np.eye(3), 2, order="largest")
    np.testing.assert_array_equal(found.values, 0.0)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(2), atol=1e-14)
    np.testing.assert_array_equal(found.residuals, 0.0)


I2, I3 = np.eye(2), np.eye(3)
BAD3 = np.full((3, 3), np.nan)
LOPSIDED = I3 + np.triu(np.ones((3, 3)), 1)
L32 = np.ones((3, 2))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.full((3, 2), np.nan), I3, I2, 1), {}, "'L' parameter must be finite"),
        ((np.full((3, 2), np.inf), I3, I2, 1), {}, "'L' parameter must be finite"),
        ((L32, BAD3, I2, 1), {}, "'Phi' parameter must be finite"),
        ((L32.T, I2, BAD3, 1), {}, "'Psi' parameter must be finite"),
        ((L32, LOPSIDED, I2, 1), {}, "'Phi' parameter must be symmetric"),
        ((L32.T, I2, LOPSIDED, 1), {}, "'Psi' parameter must be symmetric"),
        ((L32, I2, I3, 1), {}, r"'L' parameter must be of shape \(2, 3\).*\(3, 2\)"),
        ((L32, np.ones((3, 2)), I2, 1), {}, "'Phi' parameter must be a square matrix"),
        ((L32, I3, I2, 0), {}, "'k' parameter must be a positive integer. Got 0"),
        ((L32, I3, I2, -1), {}, "'k' parameter must be a positive integer. Got -1"),
        ((L32, I3, I2, 1.5), {}, "'k' parameter must be a positive integer. Got 1.5"),
        ((L32, I3, I2, 3), {}, "'k' parameter must be at most 2.*Got 3"),
        ((L32, I3, I2, 1), {"order": "least"}, "'order' parameter must be 'smallest' or 'larg"),
        ((L32, -I3, I2, 1), {}, "'Phi' parameter must be positive"),
        ((L32, I3, np.diag([1.0, -1.0]), 1), {}, "'Psi' parameter must be positive"),
        ((L32, I3, I2, 1), {"penalties": (BAD3, I2)}, "'penalties' parameter must be finite"),
        ((L32, I3, I2, 1), {"penalties": (I2, I2)}, r"'penalties' parameter must be of shape"),
    ],
)
def test_errors_name_the_argument(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        gsvd(*arguments, **{"order": "largest", **options})


@pytest.mark.parametrize("penalties", [None, (np.eye(3), np.eye(2))])
def test_a_side_without_functions_has_no_triples(penalties):
    none = np.zeros((2, 2))
    found = singular_triples(
        np.zeros((3, 2)), np.eye(3), none, 2, order="largest", penalties=penalties
    )
    assert found.rank == 0
    assert [a.shape for a in (found.values, found.left, found.right, found.residuals)] == [
        (0,),
        (3, 0),
        (2, 0),
        (0,),
    ]
