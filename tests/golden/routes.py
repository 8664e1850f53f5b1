"""Golden cases of the ways through the library: solvers, weights, folds and types."""

from functools import partial

import numpy as np

import ritz
from tests.golden.case import described, in_groups, named
from tests.golden.data import (
    far_apart,
    normal,
    on_circle,
    points,
    samples,
    second_view,
    weights,
)
from tests.golden.operators import GAUSSIAN, X, around, drift, given, uneven

LAPLACIAN = ritz.laplacian()
DERIVATIVE = ritz.differential({((0,), (1,)): 1.0})
SECTIONS = given(GAUSSIAN)
SMOOTH, WEIGHTS = {"regularization": 1e-4}, {"sample_weight": weights()}
PIECES = {"groups": np.arange(300) // 20}
NARROW = ritz.Gaussian(0.3)
LINE, SPACE = samples("line"), samples("space")
MANY = samples("plane", 6000)
VIEWS = (X, second_view())


def with_order(t, data):
    """Return the rows of one view, or of both, in the order of a trial."""
    return tuple(map(t.rows, data)) if isinstance(data, tuple) else t.rows(data)


def decomposed(form, basis, data, k, t, **options):
    """Decompose a form over some data, and describe the result."""
    basis = basis() if callable(basis) else basis
    options = {key: t.rows(v) if np.ndim(v) else v for key, v in options.items()}
    data = with_order(t, data)
    found = ritz.decompose(form, basis, data, k, random_state=0, n_jobs=t.n_jobs, **options)
    one = data[0] if isinstance(data, tuple) else data
    return described(found, points(one.shape[1]))


def very_narrow(t):
    """Decompose over functions that see few rows each; those that see one have no energy."""
    basis = ritz.Nystrom(ritz.Gaussian(0.03), 60)
    found = ritz.decompose(LAPLACIAN, basis, t.rows(X), 61, random_state=0, n_jobs=t.n_jobs)
    return {"values": found.ritz_values, "rank": found.rank}


def at_rank(form, basis, data, t):
    """Ask for more functions than there are."""
    sums = ritz.assemble(form, basis, with_order(t, data), random_state=0, n_jobs=t.n_jobs)
    found = ritz.decompose_sums(sums, 40, fewer=True)
    return described(found, points(2))


def polygon(t):
    """Decompose the Laplacian of a regular polygon, whose eigenvalues are double."""
    rows = on_circle(2 * np.pi * np.arange(96) / 96)
    form = ritz.laplacian(tangent=lambda x: np.stack([-x[:, 1], x[:, 0]], axis=1)[:, :, None])
    found = ritz.decompose(form, ritz.Monomials(3), t.rows(rows), 5, n_folds=1, random_state=0)
    return in_groups(found, points(2))


def repeated_centers():
    """Return a basis in which every function is there twice."""
    return ritz.KernelSections(GAUSSIAN, np.repeat(far_apart(X, 8), 2, axis=0))


# What is asked of `decompose`: a form, a basis, the data, k, and perhaps options.
ASKED = {
    "regularized": (LAPLACIAN, SECTIONS, X, 6, SMOOTH),
    "regularized, all": (LAPLACIAN, SECTIONS, X, 15, SMOOTH),
    "regularized, much": (LAPLACIAN, SECTIONS, X, 4, {"regularization": 1.0}),
    "regularized, monomials": (LAPLACIAN, ritz.Monomials(4), X, 6, SMOOTH),
    "regularized, fourier": (LAPLACIAN, ritz.RandomFourier(GAUSSIAN, 14), X, 6, SMOOTH),
    "regularized, stack": (
        LAPLACIAN,
        ritz.Stack(ritz.Monomials(2), given(GAUSSIAN, p=8)),
        X,
        6,
        SMOOTH,
    ),
    "regularized, indefinite": (LAPLACIAN + 3.0 * ritz.potential(uneven), SECTIONS, X, 6, SMOOTH),
    "regularized, neighbors": (ritz.neighbors(5, weights="uniform"), SECTIONS, X, 6, SMOOTH),
    "regularized, cross": (ritz.cross(), SECTIONS, VIEWS, 5, SMOOTH),
    "regularized, cross, much": (ritz.cross(), SECTIONS, VIEWS, 5, {"regularization": 0.1}),
    "regularized, narrow": (LAPLACIAN, given(NARROW, p=60), X, 6, SMOOTH),
    "regularized, wide": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(10.0), 50), LINE, 4, SMOOTH),
    "two functions": (LAPLACIAN, given(GAUSSIAN, p=2), X, 2),
    "one function": (LAPLACIAN, given(GAUSSIAN, p=1), X, 1),
    "only the first": (LAPLACIAN, SECTIONS, X, 1),
    "all, monomials": (LAPLACIAN, ritz.Monomials(4), X, 15),
    "all, gaussian": (LAPLACIAN, SECTIONS, X, 15),
    "all, cross": (ritz.cross(), SECTIONS, VIEWS, 15),
    "all, derivative": (DERIVATIVE, ritz.Monomials(6), LINE, 7),
    "narrow": (LAPLACIAN, given(NARROW, p=60), X, 6),
    "narrow, exponential": (LAPLACIAN, given(ritz.Exponential(0.1), p=60), X, 6),
    "far from the origin": (LAPLACIAN, lambda: given(GAUSSIAN, X + 1e4), X + 1e4, 6),
    "wide, 10": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(10.0), 50), LINE, 4),
    "wide, 100": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(100.0), 50), LINE, 4),
    "wide, 10, in space": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(10.0), 50), SPACE, 4),
    "wide, 100, in space": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(100.0), 50), SPACE, 4),
    "wide, cross": (ritz.cross(), ritz.Nystrom(ritz.Gaussian(10.0), 30), VIEWS, 3),
    "wide, polynomial": (LAPLACIAN, given(ritz.Polynomial(2, 1.0, 10.0), p=20), X, 4),
    "equal functions": (LAPLACIAN, repeated_centers, X, 6),
    "rank of a polynomial": (LAPLACIAN, given(ritz.Polynomial(2), p=20), X, 6),
    "on the sphere": (LAPLACIAN, ritz.Monomials(2), samples("sphere"), 4),
    "more functions than rows": (LAPLACIAN, given(GAUSSIAN, p=40), X[:25], 4),
    "indefinite": (LAPLACIAN + 5.0 * ritz.potential(uneven), SECTIONS, X, 6),
    "indefinite, all": (LAPLACIAN + 5.0 * ritz.potential(uneven), ritz.Monomials(3), X, 10),
    "very indefinite": (LAPLACIAN - 1e4 * ritz.potential(1.3), ritz.Monomials(3), X, 6),
    "difference of energies": (ritz.directional(around) - LAPLACIAN, ritz.Monomials(3), X, 6),
    "smallest": (ritz.form(drift, symmetric=False), SECTIONS, X, 6),
    "largest": (ritz.form(drift, symmetric=False, order="largest"), SECTIONS, X, 6),
    "two bases": (ritz.cross(), (SECTIONS, ritz.Monomials(3)), VIEWS, 5),
    "two bases, one view": (
        ritz.form(drift, symmetric=False),
        (given(GAUSSIAN, p=9), ritz.Monomials(3)),
        X,
        6,
    ),
    "weights": (LAPLACIAN, SECTIONS, X, 6, WEIGHTS),
    "weights, density": (ritz.laplacian(density_correction=1.0), SECTIONS, X, 6, WEIGHTS),
    "weights, neighbors": (ritz.neighbors(5, weights="uniform"), SECTIONS, X, 6, WEIGHTS),
    "weights, graph": (ritz.graph(ritz.Gaussian(0.4)), SECTIONS, X, 6, WEIGHTS),
    "weights, cross": (ritz.cross(), SECTIONS, VIEWS, 5, WEIGHTS),
    "weights, chosen centers": (LAPLACIAN, ritz.Nystrom(GAUSSIAN, 14, "kmeans++"), X, 6, WEIGHTS),
    "groups": (LAPLACIAN, SECTIONS, X, 6, PIECES),
    "groups, names": (
        LAPLACIAN,
        ritz.Monomials(3),
        X,
        6,
        {"groups": np.char.add("piece ", (np.arange(300) // 10).astype(str))},
    ),
    "groups, cross": (ritz.cross(), SECTIONS, VIEWS, 5, PIECES),
    "one fold": (LAPLACIAN, SECTIONS, X, 6, {"n_folds": 1}),
    "two folds": (LAPLACIAN, SECTIONS, X, 6, {"n_folds": 2}),
    "three folds": (LAPLACIAN, SECTIONS, X, 6, {"n_folds": 3}),
    "one fold, cross": (ritz.cross(), SECTIONS, VIEWS, 5, {"n_folds": 1}),
    "few rows": (LAPLACIAN, ritz.Monomials(2), X[:12], 4),
    "equal rows": (LAPLACIAN, ritz.Monomials(3), np.repeat(X[:60], 5, axis=0), 6),
    "integers": (LAPLACIAN, ritz.Monomials(3), np.round(4 * X).astype(int), 6),
    "many rows": (LAPLACIAN, ritz.Nystrom(ritz.Gaussian(0.3), 40), MANY, 6),
    "many rows, exponential": (LAPLACIAN, ritz.Nystrom(ritz.Exponential(0.5), 60), MANY, 6),
    "many rows, matern": (LAPLACIAN, ritz.Nystrom(ritz.Matern(1.5, 0.5), 60), MANY, 6),
    "many rows, ten columns": (
        LAPLACIAN,
        ritz.Nystrom(ritz.Gaussian(2.0), 120),
        samples("columns", 6000),
        6,
    ),
    "many rows, neighbors": (
        ritz.neighbors(5, weights="uniform"),
        ritz.Nystrom(NARROW, 40),
        MANY,
        6,
    ),
    "many rows, indefinite": (
        LAPLACIAN + 5.0 * ritz.potential(uneven),
        ritz.Nystrom(ritz.Gaussian(0.3), 40),
        MANY,
        6,
    ),
    "many rows, cross": (ritz.cross(), given(GAUSSIAN, MANY, 20), (MANY, second_view(6000)), 5),
    "many rows, monomials": (LAPLACIAN, ritz.Monomials(5), MANY, 6),
    "many rows, fourier": (LAPLACIAN, ritz.RandomFourier(ritz.Gaussian(0.5), 30), MANY, 6),
    "float32": (LAPLACIAN, SECTIONS, X.astype(np.float32), 6),
    "float32, many rows": (
        LAPLACIAN,
        ritz.Nystrom(ritz.Gaussian(0.5), 40),
        MANY.astype(np.float32),
        6,
    ),
    "float32, exponential": (
        LAPLACIAN,
        ritz.Nystrom(ritz.Exponential(0.7), 40),
        MANY.astype(np.float32),
        6,
    ),
    "float32, cross": (
        ritz.cross(),
        given(ritz.Gaussian(0.8)),
        tuple(view.astype(np.float32) for view in VIEWS),
        5,
    ),
}


def pencil(p, rank_of_L, rank_of_Phi, sign=1.0):
    """Return matrices L and Phi (p, p) of given ranks."""
    A, B = normal(30, p, rank_of_L), normal(31, p, rank_of_Phi)
    signs = np.where(np.arange(rank_of_L) % 3 == 0, sign, 1.0)
    return (A * signs) @ A.T / p, B @ B.T / p


def eigenvalues(L, Phi, k, t, *, simple=True, **options):
    """Solve a symmetric pencil; where eigenvalues are repeated, vectors are not unique."""
    found = ritz.gevd(L, Phi, k, **options)
    result = {"values": found.values, "rank": found.rank}
    return result | {"vectors": np.abs(found.vectors)} if simple else result


def singular_values(order, t, **options):
    """Solve a problem with two metrics."""
    (_, Phi), (_, Psi) = pencil(9, 9, 12), pencil(7, 7, 11)
    found = ritz.gsvd(normal(32, 9, 7), Phi, Psi, 4, order=order, **options)
    return {
        "values": found.values,
        "rank": found.rank,
        "left": np.abs(found.left),
        "right": np.abs(found.right),
    }


SOLVES = {
    "gevd": partial(eigenvalues, *pencil(9, 20, 20), 9),
    "gevd, first": partial(eigenvalues, *pencil(9, 20, 20), 3),
    "gevd, singular L": partial(eigenvalues, *pencil(9, 8, 20), 5),
    "gevd, singular Phi": partial(eigenvalues, *pencil(9, 20, 6), 6),
    "gevd, both singular": partial(eigenvalues, *pencil(9, 6, 6), 4, simple=False),
    "gevd, indefinite": partial(eigenvalues, *pencil(9, 20, 20, -1.0), 9),
    "gevd, indefinite, singular Phi": partial(eigenvalues, *pencil(9, 20, 6, -1.0), 4),
    "gevd, penalty": partial(eigenvalues, *pencil(9, 20, 20), 4, penalty=0.1 * np.eye(9)),
    "gevd, floor": partial(eigenvalues, *pencil(9, 20, 6), 4, floor=1e-6),
    "gsvd, smallest": partial(singular_values, "smallest"),
    "gsvd, largest": partial(singular_values, "largest"),
    "gsvd, penalties": partial(
        singular_values, "largest", penalties=(0.1 * np.eye(9), 0.2 * np.eye(7))
    ),
}


def cases():
    """Yield all cases of this module."""
    for name, (form, basis, data, k, *options) in ASKED.items():
        yield name, partial(decomposed, form, basis, data, k, **(options[0] if options else {}))
    yield "rank, polynomial", partial(at_rank, LAPLACIAN, given(ritz.Polynomial(2), p=20), X)
    yield "rank, monomials", partial(at_rank, LAPLACIAN, ritz.Monomials(3), X)
    yield "rank, cross", partial(at_rank, ritz.cross(), ritz.Monomials(3), VIEWS)
    yield "polygon", polygon
    yield "very narrow", very_narrow
    yield from SOLVES.items()


SINGLE = {"tolerance": 1e-3, "reason": "rows of float32 were multiplied in float32"}
WIDE = "the functions are polynomials up to terms near rounding, which are scaled up"
LOOSE = {
    "wide, 10": {"tolerance": 1e-6, "reason": WIDE},
    "wide, 100": {"tolerance": 2e-6, "reason": WIDE},
    "wide, 10, in space": {"tolerance": 4e-4, "reason": WIDE},
    "wide, 100, in space": {"tolerance": 2e-6, "reason": WIDE},
    "wide, cross": {"tolerance": 6e-5, "reason": WIDE},
    "regularized, wide": {"tolerance": 4e-6, "reason": WIDE},
    "more functions than rows": {
        "tolerance": 2e-7,
        "reason": "40 functions on 25 rows: rounding decides where the rank is cut",
    },
    "very indefinite": {
        "tolerance": 1e-8,
        "reason": "eigenvalues are small differences from a potential of 13,000",
    },
}
LOOSE |= {name: SINGLE for name in ASKED if "float32" in name}
CASES = named({"route": dict(cases())}, {f"route: {name}": how for name, how in LOOSE.items()})
