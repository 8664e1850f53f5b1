"""The symmetric pencil: random problems with known eigenvalues, however singular or scaled."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError, eigh

from ritz import gevd
from ritz.solve.gevd import lowest_eigenpairs
from ritz.solve.whiten import is_positive, rank_of, split, whiten


def mixing(p, rng, condition=10.0):
    """A random invertible matrix of known condition."""
    Q, R = (np.linalg.qr(rng.standard_normal((p, p)))[0] for _ in range(2))
    return (Q * np.geomspace(1, condition, p)) @ R


def pencil(energies, masses, rng, units=1.0):
    """L and Phi diagonal at once, with entries `energies` and `masses`, in mixed coordinates."""
    V = mixing(len(energies), rng) * units
    L, Phi = (V.T * energies) @ V, (V.T * masses) @ V
    return (L + L.T) / 2, (Phi + Phi.T) / 2


ONES = np.ones(12)
LAST_NULL = np.r_[np.ones(9), np.zeros(3)]
CASES = {
    "regular": (np.arange(1.0, 13.0), ONES),
    "repeated": (np.r_[1.0, 1.0, 1.0, np.arange(2.0, 11.0)], ONES),
    "masses": (np.arange(1.0, 13.0), np.linspace(0.5, 4.0, 12)),
    "singular L": (np.r_[0.0, 0.0, 0.0, np.arange(1.0, 10.0)], ONES),
    "singular Phi": (np.arange(1.0, 13.0), LAST_NULL),
    "both singular, apart": (np.r_[0.0, 0.0, np.arange(1.0, 11.0)], LAST_NULL),
    "both singular, together": (np.r_[np.arange(9.0), np.zeros(3)], LAST_NULL),
    "both singular, both ways": (np.r_[np.arange(9.0), 1.0, 0.0, 0.0], LAST_NULL),
    "L zero": (np.zeros(12), ONES),
    "one negative": (np.r_[-0.01, np.arange(1.0, 12.0)], ONES),
    "indefinite": (np.arange(-5.0, 7.0), ONES),
    "traceless": (np.r_[-np.arange(1.0, 7.0), np.arange(1.0, 7.0)], ONES),
    "negative": (-np.arange(1.0, 13.0), ONES),
    "one very negative": (np.r_[-1e4, np.arange(1.0, 12.0)], ONES),
    "indefinite, Phi singular": (np.r_[np.arange(-4.0, 5.0), 1.0, 2.0, 3.0], LAST_NULL),
    "indefinite, common null space": (np.r_[np.arange(-4.0, 5.0), np.zeros(3)], LAST_NULL),
    "negative, common null space": (np.r_[-np.arange(1.0, 10.0), np.zeros(3)], LAST_NULL),
    "negative where Phi is null": (np.r_[np.arange(-4.0, 5.0), -1.0, -2.0, -3.0], LAST_NULL),
    "both signs where Phi is null": (np.r_[np.arange(-4.0, 5.0), -1.0, 0.0, 2.0], LAST_NULL),
}
UNITS = {"same units": 1.0, "units from 1e-8 to 1e8": np.geomspace(1e-8, 1e8, 12)}


def finite_values(energies, masses):
    there = masses > 0
    return np.sort(energies[there] / masses[there])


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS.keys())
@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_smallest_eigenvalues_are_found(case, k, units):
    truth = finite_values(*case)[:k]
    scale = max(np.abs(case[0]).max(), 1.0)
    for seed in range(5):
        L, Phi = pencil(*case, np.random.default_rng(seed), units)
        found = gevd(L, Phi, k)
        np.testing.assert_allclose(found.values, truth, atol=1e-11 * scale)
        A = found.vectors
        np.testing.assert_allclose(A.T @ Phi @ A, np.eye(k), atol=1e-11)
        np.testing.assert_allclose(A.T @ L @ A, np.diag(truth), atol=1e-10 * scale)
        assert (found.residuals < 1e-10).all()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_rank_says_how_many_pairs_there_are(case):
    L, Phi = pencil(*case, np.random.default_rng(0))
    there = int((case[1] > 0).sum())
    assert gevd(L, Phi, 1).rank == there
    assert len(gevd(L, Phi, there).values) == there
    if there < len(L):
        with pytest.raises(ValueError, match=rf"'k' parameter must be at most {there}.*Got \d+"):
            gevd(L, Phi, there + 1)
    with pytest.raises(ValueError, match=f"'k' parameter must be at most {there}.*Got 20 inst"):
        gevd(L, Phi, 20)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize(("a", "b"), [(1e12, 1.0), (1e-12, 1.0), (1.0, 1e12), (1e-12, 1e12)])
def test_units_do_not_matter(case, a, b):
    L, Phi = pencil(*case, np.random.default_rng(1))
    one, other = gevd(L, Phi, 5), gevd(a * L, b * Phi, 5)
    scale = np.abs(case[0]).max()
    np.testing.assert_allclose(other.values * (b / a), one.values, atol=1e-12 * scale)
    assert other.rank == one.rank


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize(("a", "b"), [(2.0**40, 1.0), (2.0**-40, 1.0), (1.0, 2.0**40)])
def test_units_that_are_powers_of_four_change_no_bit(case, a, b):
    L, Phi = pencil(*case, np.random.default_rng(1))
    one, other = gevd(L, Phi, 5), gevd(a * L, b * Phi, 5)
    np.testing.assert_array_equal(other.values * (b / a), one.values)
    np.testing.assert_array_equal(other.vectors * np.sqrt(b), one.vectors)
    np.testing.assert_array_equal(other.residuals, one.residuals)


@pytest.mark.parametrize("floor", [0.0, 1e-7, 1e-5])
def test_many_functions_some_of_them_rounding(floor):
    rng = np.random.default_rng(3)
    p = 400
    truth = np.linspace(1.0, 50.0, p)
    masses = np.r_[np.ones(p - 30), np.geomspace(1e-4, 1e-16, 30)]
    L, Phi = pencil(truth * masses, masses, rng)
    found = gevd(L, Phi, 12, floor=floor)
    assert p - 30 <= found.rank < p
    # Leaving out directions below the floor raises the values by as much, and never lowers them.
    np.testing.assert_allclose(found.values, truth[:12], rtol=1e-9 + 2 * floor)
    assert (found.values > truth[:12] * (1 - 1e-9)).all()
    assert found.residuals.max() < 1e-9


def test_functions_that_add_up_to_nothing():
    """Shifts of one function around a circle: the sum of all rows is zero, exactly."""
    n = 64
    K = np.eye(n) - (np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)) / 2
    truth = np.sort(1 - np.cos(2 * np.pi * np.arange(n) / n))[1:4]
    np.testing.assert_allclose(gevd(K @ K, K, 3).values, truth, rtol=1e-9)
    assert gevd(K @ K, K, 3).rank == n - 1


def test_functions_that_do_not_exist_take_no_part():
    L, Phi = pencil(np.arange(1.0, 7.0), np.ones(6), np.random.default_rng(0))
    big = np.zeros((2, 9, 9))
    big[:, 2:8, 2:8] = L, Phi
    found = gevd(*big, 6)
    np.testing.assert_allclose(found.values, np.arange(1.0, 7.0), rtol=1e-12)
    assert found.rank == 6
    assert not found.vectors[[0, 1, 8]].any()
    # Where Phi alone is zero a negative energy has no function to belong to.
    big[0, 8, 8] = -1.0
    np.testing.assert_allclose(gevd(*big, 6).values, np.arange(1.0, 7.0), rtol=1e-12)


@pytest.mark.parametrize("p", [10, 60])
@pytest.mark.parametrize("size", [1e-17, 1e-16, 1e-15])
def test_rounding_makes_no_eigenvalue(p, size):
    rng = np.random.default_rng(0)
    half = p // 2
    truth = np.arange(half, dtype=float)
    energies, masses = np.r_[truth, np.zeros(half)], np.r_[np.ones(half), np.zeros(half)]
    for _ in range(5):
        L, Phi = pencil(energies, masses, rng)
        noise = rng.standard_normal((2, p, p)) * size
        L += (noise[0] + noise[0].T) * np.abs(L).max()
        Phi += (noise[1] + noise[1].T) * np.abs(Phi).max()
        # Both matrices are indefinite now, by rounding.
        assert eigh(Phi, eigvals_only=True)[0] < 0
        found = gevd(L, Phi, half // 2, floor=1e-12)
        np.testing.assert_allclose(found.values, truth[: half // 2], atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9])
def test_no_negative_eigenvalue_is_lost_however_small(size):
    truth = np.r_[-size, np.arange(1.0, 30.0)]
    L, Phi = pencil(truth, np.ones(30), np.random.default_rng(0))
    np.testing.assert_allclose(gevd(L, Phi, 3).values, truth[:3], atol=1e-11)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(
    "energies",
    [
        [-1.0, 2.0, 2.0],
        [-1.0, -1.0, 3.0, 3.0],
        [-2.0, 0.0, 4.0, 6.0],
        [-1.0, -1.0, -1.0],
        [-3.0, -2.0, -1.0],
        [-1.0, -1.0, 1.0, 1.0],
        [-1.0 + 1e-13, 2.0, 2.0],
    ],
)
def test_no_eigenvalue_is_lost_because_it_is_minus_a_mean(energies, mixed):
    """The shift s = tr L / tr Phi, or that of |L|, must not meet -lambda and cut it as null."""
    p = len(energies)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((p, p)))[0] if mixed else np.eye(p)
    L = (Q * energies) @ Q.T
    found = gevd((L + L.T) / 2, np.eye(p), p)
    np.testing.assert_allclose(found.values, energies, atol=1e-13)
    assert found.rank == p


@settings(deadline=None, max_examples=100)
@given(
    energies=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_any_spectrum_is_found(energies, seed, data):
    energies = np.array(energies)
    k = data.draw(st.integers(1, len(energies)))
    L, Phi = pencil(energies, np.ones(len(energies)), np.random.default_rng(seed))
    found = gevd(L, Phi, k)
    truth = np.sort(energies)[:k]
    # Near the smallest numbers there are, units stop to exist.
    scale = max(np.abs(energies).max(), 1e-250)
    np.testing.assert_allclose(found.values, truth, atol=1e-11 * scale)
    np.testing.assert_allclose(found.vectors.T @ Phi @ found.vectors, np.eye(k), atol=1e-11)


@pytest.mark.parametrize("low", [0.0, -20.0])
def test_few_of_many_are_the_first_of_all(low):
    truth = low + np.arange(80.0)
    L, Phi = pencil(truth, np.ones(80), np.random.default_rng(0))
    few, all_ = gevd(L, Phi, 4), gevd(L, Phi, 80)
    np.testing.assert_allclose(few.values, all_.values[:4], atol=1e-10)
    overlap = few.vectors.T @ Phi @ all_.vectors[:, :4]
    np.testing.assert_allclose(np.abs(overlap), np.eye(4), atol=1e-9)
    assert few.rank == all_.rank == 80


@pytest.mark.parametrize(("share", "kept"), [(1.5, True), (1.05, True), (0.95, False)])
def test_a_direction_is_left_out_exactly_where_it_is_below_the_floor(share, kept):
    """Of two functions of unit size with scalar product 1 - s one direction has size s."""
    floor = 1e-6
    B = np.eye(4)
    B[0, 1] = B[1, 0] = 1 - share * floor
    W, N = split(B, floor)
    assert W.shape[1] == 3 + kept
    assert N.shape[1] == 1 - kept
    np.testing.assert_allclose(W.T @ B @ W, np.eye(3 + kept), atol=1e-9)


def test_floor_leaves_small_directions_out():
    masses = np.geomspace(1.0, 1e-11, 12)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    # Directions of mass below the floor carry no energy either: rounding in both matrices.
    Phi = (Q * masses) @ Q.T
    L = (Q * (np.arange(1.0, 13.0) * masses)) @ Q.T
    ranks = [gevd(L, Phi, 1, floor=floor).rank for floor in (0.0, 1e-9, 1e-5)]
    assert ranks[0] == 12
    assert ranks[0] > ranks[1] > ranks[2] >= 5


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(1e-6, 1e2), k=st.integers(1, 10))
def test_penalty_is_finished_by_rayleigh_ritz(seed, size, k):
    rng = np.random.default_rng(seed)
    L, Phi = pencil(np.arange(12.0), np.ones(12), rng)
    G = mixing(12, rng)
    penalty = size * G.T @ G
    found = gevd(L, Phi, k, penalty=penalty)
    A = found.vectors
    np.testing.assert_allclose(A.T @ L @ A, np.diag(found.values), atol=1e-9)
    np.testing.assert_allclose(A.T @ Phi @ A, np.eye(k), atol=1e-10)
    # The k functions are those of the penalized problem.
    penalized, B = eigh(L + penalty, Phi, subset_by_index=(0, k - 1))
    cosines = np.linalg.svd(A.T @ Phi @ B, compute_uv=False)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)
    # By the minimax principle the values lie between the free and the penalized ones.
    assert (found.values >= np.arange(k) - 1e-9).all()
    assert (found.values <= penalized + 1e-9 * penalized[-1]).all()


def test_rayleigh_ritz_takes_the_first_order_of_the_penalty_away():
    rng = np.random.default_rng(0)
    truth = np.arange(1.0, 31.0)
    L, Phi = pencil(truth, np.ones(30), rng)
    G = mixing(30, rng)
    G = G.T @ G
    sizes = np.geomspace(1e-4, 1e-2, 5)
    finished = [np.abs(gevd(L, Phi, 4, penalty=s * G).values - truth[:4]).max() for s in sizes]
    left = [np.abs(eigh(L + s * G, Phi)[0][:4] - truth[:4]).max() for s in sizes]
    slopes = [np.polyfit(np.log(sizes), np.log(e), 1)[0] for e in (finished, left)]
    np.testing.assert_allclose(slopes, [2.0, 1.0], atol=0.05)
    assert (np.array(finished) < 0.1 * np.array(left)).all()


def test_residuals_measure_the_error():
    rng = np.random.default_rng(0)
    L, Phi = pencil(np.arange(1.0, 31.0), np.ones(30), rng)
    G = mixing(30, rng)
    G = G.T @ G
    s = np.median(np.diag(L) / np.diag(Phi))
    B = L + s * Phi
    sizes = np.geomspace(1e-6, 1e-3, 4)
    largest = []
    for size in sizes:
        found = gevd(L, Phi, 4, penalty=size * G)
        rest = L @ found.vectors - Phi @ found.vectors * found.values
        whole = B @ found.vectors
        stiff = B + size * G
        dual = [np.sqrt(np.einsum("ij,ij->j", r, np.linalg.solve(stiff, r))) for r in (rest, whole)]
        # The norm is that of the penalized problem, which differs by the size of the penalty.
        np.testing.assert_allclose(found.residuals, dual[0] / dual[1], rtol=10 * size)
        largest.append(found.residuals.max())
    # Functions off by the size of the penalty have residuals of that size.
    assert abs(np.polyfit(np.log(sizes), np.log(largest), 1)[0] - 1) < 0.02
    assert gevd(L, Phi, 4).residuals.max() < 1e-12 < 1e-7 < largest[0]


@pytest.mark.parametrize("seed", range(5))
def test_arguments_are_left_alone_and_answers_repeat(seed):
    L, Phi = pencil(np.arange(12.0), np.ones(12), np.random.default_rng(seed))
    before = L.copy(), Phi.copy()
    one, two = gevd(L, Phi, 3), gevd(L, Phi, 3)
    np.testing.assert_array_equal(L, before[0])
    np.testing.assert_array_equal(Phi, before[1])
    np.testing.assert_array_equal(one.vectors, two.vectors)


I3 = np.eye(3)
BAD = np.array([[1.0, np.nan, 0.0], [np.nan, 1.0, 0.0], [0.0, 0.0, 1.0]])
LOPSIDED = I3 + np.triu(np.ones((3, 3)), 1)


@pytest.mark.parametrize(
    ("L", "Phi", "k", "options", "message"),
    [
        (BAD, I3, 1, {}, "'L' parameter must be finite"),
        (I3, BAD, 1, {}, "'Phi' parameter must be finite"),
        (np.full((3, 3), np.inf), I3, 1, {}, "'L' parameter must be finite"),
        (LOPSIDED, I3, 1, {}, "'L' parameter must be symmetric"),
        (I3, LOPSIDED, 1, {}, "'Phi' parameter must be symmetric"),
        (np.ones((3, 2)), I3, 1, {}, r"'L' parameter must be a square matrix.*\(3, 2\)"),
        (np.ones(3), I3, 1, {}, r"'L' parameter must be a square matrix.*\(3,\)"),
        (I3, np.eye(4), 1, {}, r"'Phi' parameter must be of shape \(3, 3\).*\(4, 4\)"),
        (I3, I3, 0, {}, "'k' parameter must be a positive integer. Got 0"),
        (I3, I3, 1.5, {}, "'k' parameter must be a positive integer. Got 1.5"),
        (I3, I3, 4, {}, "'k' parameter must be at most 3.*Got 4"),
        (I3, np.zeros((3, 3)), 1, {}, "'k' parameter must be at most 0.*Got 1"),
        (I3, -I3, 1, {}, "'Phi' parameter must be positive"),
        (I3, np.diag([1.0, 1.0, -0.5]), 1, {}, "'Phi' parameter must be positive"),
        (I3, I3, 1, {"penalty": BAD}, "'penalty' parameter must be finite"),
        (I3, I3, 1, {"penalty": LOPSIDED}, "'penalty' parameter must be symmetric"),
        (I3, I3, 1, {"penalty": np.eye(4)}, r"'penalty' parameter must be of shape \(3, 3\)"),
        (I3, I3, 1, {"penalty": np.ones(3)}, "'penalty' parameter must be a square matrix"),
    ],
)
def test_errors_name_the_argument(L, Phi, k, options, message):
    with pytest.raises(ValueError, match=message):
        gevd(L, Phi, k, **options)


def test_all_eigenvalues_are_asked_for_where_some_are_not_found(monkeypatch):
    """LAPACK's routine for some of them reports an internal error at times."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 60, 40))
    L, Phi = A.T @ A, B.T @ B
    expected = gevd(L, Phi, 3)
    failed = []

    def fails_for_some(*arguments, subset_by_index=None, **options):
        if subset_by_index is not None:
            failed.append(subset_by_index)
            raise LinAlgError("Internal Error.")
        return eigh(*arguments, **options)

    monkeypatch.setattr(sys.modules["ritz.solve.gevd"], "eigh", fails_for_some)
    found = gevd(L, Phi, 3)
    assert failed
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-10)


def test_scalar_products_without_a_diagonal_have_no_directions():
    with pytest.raises(ValueError, match="at most 0"):
        gevd(np.eye(2), np.array([[0.0, 1e-9], [1e-9, 0.0]]), 1)


@pytest.mark.parametrize("floor", [0.0, 1e-9])
@pytest.mark.parametrize("above", [60, 250, 380, 400])
def test_whitening_keeps_the_directions_above_rounding(above, floor):
    rng = np.random.default_rng(0)
    p = 400
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    # Some directions are clear of what is cut, and the others are clearly below.
    sizes = np.r_[np.geomspace(1.0, 1e-6, above), np.geomspace(1e-13, 1e-14, p - above)]
    units = np.geomspace(1e-3, 1e3, p)
    B = (Q * sizes) @ Q.T * units * units[:, None]
    B = (B + B.T) / 2
    W, N = split(B, floor)
    assert W.shape == (p, above)
    assert N.shape == (p, p - above)
    np.testing.assert_allclose(W.T @ B @ W, np.eye(above), atol=1e-6)
    # Both together span everything.
    assert np.linalg.matrix_rank(np.hstack([W, N]) * units[:, None]) == p


@pytest.mark.parametrize(
    ("B", "floor", "rank"),
    [
        (np.zeros((9, 9)), 0.0, 0),
        (np.eye(9), 20.0, 0),
        (np.eye(9), 0.0, 9),
        (np.ones((9, 9)), 0.0, 1),
        (np.diag([1.0, 0.0, 1e-20]), 0.0, 2),
    ],
    ids=["zero", "below the floor", "unit", "one direction", "diagonal"],
)
def test_directions_of_small_matrices(B, floor, rank):
    W = whiten(B, floor)
    assert W.shape == (len(B), rank)
    np.testing.assert_allclose(W.T @ B @ W, np.eye(rank), atol=1e-12)
    if not floor:
        assert rank_of(B) == rank
    assert is_positive(B)


@pytest.mark.parametrize("rank", [20, 200])
def test_many_functions_of_a_low_rank(rank):
    """Functions that depend on each other have the eigenvalues of those they are made of."""
    rng = np.random.default_rng(0)
    truth = np.arange(rank, dtype=float)
    L, Phi = pencil(truth, np.ones(rank), rng)
    A = rng.standard_normal((rank, 700))
    found = gevd(A.T @ L @ A, A.T @ Phi @ A, 5)
    assert found.rank == rank
    np.testing.assert_allclose(found.values, truth[:5], atol=1e-8)
    assert found.residuals.max() < 1e-8


@pytest.mark.parametrize("p", [12, 80])
@pytest.mark.parametrize("null", [0, 5])
@pytest.mark.parametrize("apart", [False, True])
def test_singular_problems_of_two_sizes(p, null, apart):
    """L and Phi may be singular together, or Phi alone."""
    rng = np.random.default_rng(0)
    masses = np.r_[np.ones(p - null), np.zeros(null)]
    energies = np.arange(float(p))
    energies[p - null :] = 1.0 if apart else 0.0
    L, Phi = pencil(energies, masses, rng)
    found = lowest_eigenpairs(L, Phi, 6)
    np.testing.assert_allclose(found.values, np.arange(6.0), atol=1e-8)
    assert found.rank == p - null
    assert found.residuals.max() < 1e-6


def test_fewer_pairs_than_asked_for_where_the_rank_is_less():
    L, Phi = pencil(*CASES["singular Phi"], np.random.default_rng(0))
    found = lowest_eigenpairs(L, Phi, 12)
    np.testing.assert_allclose(found.values, np.arange(1.0, 10.0), atol=1e-9)
    assert found.vectors.shape == (12, 9)
