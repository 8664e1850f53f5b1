"""Golden cases of operators and bases: every form on some bases, every basis for some forms."""

from functools import partial

import numpy as np

import ritz
from tests.golden.case import described, named
from tests.golden.data import (
    circle_frames,
    far_apart,
    normal,
    points,
    samples,
    second_view,
    sphere_frames,
)

K = 6


def kinetic(f, g, x):
    """Return the terms of a Laplacian with a potential, as a user would write them."""
    return f.gradient @ g.gradient + (x**2).sum(axis=1) * (f.value * g.value)


def drift(f, g, x):
    """Return the terms of an operator that is not symmetric."""
    along = f.gradient.along(np.ones((*x.shape, 1)))
    return along * g.gradient.along(x[:, :, None]) + 2.0 * (f.value * g.value)


def stiffness(x):
    """Return a positive matrix (b, 2, 2) at each point."""
    c, s = np.cos(x[:, 0]), np.sin(x[:, 0])
    R = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -1)
    return R @ (np.array([1.0, 2.5])[:, None] * R.transpose(0, 2, 1))


def uneven(x):
    """Return a smooth function (b,) of both signs."""
    return np.sin(x[:, 0]) + 0.5 * x[:, -1]


def around(x):
    """Return a direction (b, d) at each point."""
    return np.cos(np.roll(x, 1, axis=1)) + np.array([0.7, 0.2])


X = samples("plane")
N = len(X)
UNIT = {(1, 0): 1.0, (0, 1): 2.0}

# Operators on one array of rows in the plane; those that hold arrays take the trial's order.
PLANE = {
    "laplacian": lambda t: ritz.laplacian(),
    "laplacian, half density": lambda t: ritz.laplacian(density_correction=0.5),
    "laplacian, density": lambda t: ritz.laplacian(density_correction=1.0),
    "diffusion, number": lambda t: ritz.diffusion(2.0),
    "diffusion, diagonal": lambda t: ritz.diffusion([1.0, 3.0]),
    "diffusion, matrix": lambda t: ritz.diffusion([[2.0, 0.5], [0.5, 1.0]]),
    "diffusion, function": lambda t: ritz.diffusion(lambda x: 1.0 + x[:, 0] ** 2),
    "diffusion, diagonal function": lambda t: ritz.diffusion(lambda x: 1.0 + x**2),
    "diffusion, matrix function": lambda t: ritz.diffusion(stiffness),
    "diffusion, rows": lambda t: ritz.diffusion(t.rows(stiffness(X))),
    "potential, number": lambda t: ritz.laplacian() + ritz.potential(-1.5) + ritz.potential(uneven),
    "potential, function": lambda t: ritz.laplacian() + ritz.potential(uneven),
    "potential, rows": lambda t: ritz.laplacian() - ritz.potential(t.rows(uneven(X) ** 2)),
    "potential alone": lambda t: ritz.potential(uneven),
    "differential": lambda t: ritz.differential(
        {(a, a): c for a, c in UNIT.items()} | {((1, 0), (0, 1)): 0.3, ((0, 1), (1, 0)): 0.3}
    ),
    "differential, order two": lambda t: ritz.differential(
        {((2, 0), (2, 0)): 0.2, ((0, 2), (0, 2)): uneven} | {(a, a): 1.0 for a in UNIT}
    ),
    "differential, rows": lambda t: ritz.differential(
        {(a, a): t.rows(c * (2.0 + X[:, 0] ** 2)) for a, c in UNIT.items()}
    ),
    "differential, not symmetric": lambda t: ritz.differential(
        {((0, 0), (1, 0)): 1.0, ((0, 0), (0, 0)): 2.0, ((0, 1), (0, 0)): uneven}
    ),
    "directional": lambda t: ritz.directional(t.rows(normal(20, N, 2))),
    "directional, three": lambda t: ritz.directional(t.rows(normal(21, N, 2, 3))),
    "directional, function": lambda t: ritz.directional(around),
    "neighbors": lambda t: ritz.neighbors(5, weights="uniform"),
    "neighbors, directional": lambda t: ritz.neighbors(5, "directional", weights="uniform"),
    "graph": lambda t: ritz.graph(ritz.Gaussian(0.4)),
    "graph, not normalized": lambda t: ritz.graph(ritz.Gaussian(0.4), normalized=False),
    "custom": lambda t: ritz.form(kinetic, symmetric=True),
    "custom, not symmetric": lambda t: ritz.form(drift, symmetric=False),
    "custom, largest": lambda t: ritz.form(drift, symmetric=False, order="largest"),
    "sum": lambda t: (
        ritz.laplacian() + 0.5 * ritz.neighbors(5, weights="uniform") + 2.0 * ritz.potential(uneven)
    ),
    "sum, density": lambda t: ritz.laplacian(density_correction=1.0) + ritz.potential(uneven),
    "sum, not symmetric": lambda t: 2.0 * ritz.laplacian() + ritz.form(drift, symmetric=False),
    "difference": lambda t: 2.0 * ritz.laplacian() - 0.3 * ritz.directional(around),
    "negative": lambda t: -ritz.laplacian(),
}

# Operators that need other data: name of the sample, then the form.
ELSEWHERE = {
    "circle, rows": (
        "circle",
        lambda t: ritz.laplacian(tangent=t.rows(circle_frames(samples("circle")))),
    ),
    "circle, function": ("circle", lambda t: ritz.laplacian(tangent=circle_frames)),
    "circle, pca": ("circle", lambda t: ritz.laplacian(tangent="pca", dimension=1)),
    "circle, density": (
        "circle",
        lambda t: ritz.laplacian(tangent=circle_frames, density_correction=1.0),
    ),
    "sphere, rows": (
        "sphere",
        lambda t: ritz.laplacian(tangent=t.rows(sphere_frames(samples("sphere")))),
    ),
    "sphere, function": ("sphere", lambda t: ritz.laplacian(tangent=sphere_frames)),
    "sphere, pca": (
        "sphere",
        lambda t: ritz.laplacian(tangent="pca", dimension=2, n_neighbors=12),
    ),
    "derivative": ("line", lambda t: ritz.differential({((0,), (1,)): 1.0})),
    "biharmonic": ("line", lambda t: ritz.differential({((2,), (2,)): 1.0, ((1,), (1,)): 0.1})),
    "laplacian, three columns": ("space", lambda t: ritz.laplacian()),
    "laplacian, ten columns": ("columns", lambda t: ritz.laplacian()),
    "neighbors, ten columns": ("columns", lambda t: ritz.neighbors(7, weights="uniform")),
    "diffusion, ten columns": ("columns", lambda t: ritz.diffusion(1.0 + np.arange(10.0))),
}

# Operators on two views.
VIEWS = {
    "pairs": lambda t: ritz.pairs(),
    "cross": lambda t: ritz.cross(),
    "custom, two views": lambda t: ritz.form(
        lambda f, g, x, y: f.value * g.value + (f.gradient @ g.gradient) * 0.5,
        symmetric=False,
        order="largest",
        views=2,
    ),
    "sum of pairs": lambda t: 0.5 * ritz.pairs() + ritz.pairs(),
}


def given(kernel, C=X, p=14):
    """Return sections of a kernel at rows of a sample that are far from each other."""
    return ritz.Nystrom(kernel, centers=far_apart(C, p))


def cosines(d):
    """Return a user's own functions with gradients."""
    steps = [(i, s) for i in range(d) for s in (1.0, 1.7, 2.4)]

    def function(i, s, x):
        return np.sin(s * x[:, i] + 0.3)

    def slope(i, s, x):
        return s * np.cos(s * x[:, i : i + 1] + 0.3) * (np.arange(d) == i)

    return ritz.Functions(
        [partial(function, i, s) for i, s in steps],
        gradients=[partial(slope, i, s) for i, s in steps],
    )


def own_spectrum():
    """Return eigenfunctions of one operator, to serve as a basis for others."""
    found = ritz.decompose(ritz.laplacian(), given(GAUSSIAN), X, 9, random_state=0)
    return found[1:]


MULTIQUADRIC = ritz.CustomKernel(
    "distance", [lambda u: (1 + u) ** -0.5, lambda u: -0.5 * (1 + u) ** -1.5], 0.5
)
GAUSSIAN, MATERN = ritz.Gaussian(0.5), ritz.Matern(2.5, 0.9)
BASES = {
    "gaussian": lambda: given(GAUSSIAN),
    "exponential": lambda: given(ritz.Exponential(1.3)),
    "matern 1/2": lambda: given(ritz.Matern(0.5, 1.0)),
    "matern 3/2": lambda: given(ritz.Matern(1.5, 1.0)),
    "matern 5/2": lambda: given(MATERN),
    "matern 7/2": lambda: given(ritz.Matern(3.5, 0.8)),
    "rational quadratic": lambda: given(ritz.RationalQuadratic(1.5, 0.8)),
    "polynomial": lambda: given(ritz.Polynomial(3, 0.7), p=8),
    "dot exponential": lambda: given(ritz.DotExponential(1.4), p=8),
    "custom kernel": lambda: given(MULTIQUADRIC),
    "custom dot kernel": lambda: given(ritz.CustomKernel("dot", [np.cosh, np.sinh], 1.2), p=6),
    "kernel sum": lambda: given(GAUSSIAN + 0.5 * ritz.Exponential(2.0)),
    "kernel product": lambda: given(ritz.Matern(1.5, 2.0) * ritz.Gaussian(1.5)),
    "kernel multiple": lambda: given(3.0 * GAUSSIAN),
    "dot kernel sum": lambda: given(ritz.Polynomial(2) + 0.1 * ritz.Polynomial(3), p=8),
    "gaussian, columns": lambda: given(ritz.Gaussian([0.7, 0.4])),
    "exponential, columns": lambda: given(ritz.Exponential([1.0, 0.6])),
    "polynomial, columns": lambda: given(ritz.Polynomial(3, 1.0, [1.0, 0.6]), p=8),
    "sum, columns": lambda: given(ritz.Gaussian([0.7, 0.4]) + ritz.Matern(1.5, [1.4, 0.8])),
    "uniform": lambda: ritz.Nystrom(GAUSSIAN, 14),
    "kmeans++": lambda: ritz.Nystrom(GAUSSIAN, 14, "kmeans++"),
    "rpcholesky": lambda: ritz.Nystrom(GAUSSIAN, 14, "rpcholesky"),
    "exponential, rpcholesky": lambda: ritz.Nystrom(ritz.Exponential(1.0), 14, "rpcholesky"),
    "sections": lambda: ritz.KernelSections(GAUSSIAN, far_apart(X, 14)),
    "centers off the data": lambda: given(GAUSSIAN, normal(22, 40, 2)),
    "fourier": lambda: ritz.RandomFourier(GAUSSIAN, 14),
    "fourier, exponential": lambda: ritz.RandomFourier(ritz.Exponential(0.8), 14),
    "fourier, matern": lambda: ritz.RandomFourier(MATERN, 14),
    "fourier, rational quadratic": lambda: ritz.RandomFourier(ritz.RationalQuadratic(), 14),
    "fourier, sum": lambda: ritz.RandomFourier(GAUSSIAN + 2.0 * MATERN, 14),
    "fourier, product": lambda: ritz.RandomFourier(GAUSSIAN * MATERN, 14),
    "monomials": lambda: ritz.Monomials(4),
    "functions": lambda: cosines(2),
    "stack": lambda: ritz.Stack(given(ritz.Gaussian(0.6), p=8), ritz.Monomials(2)),
    "stack of three": lambda: ritz.Stack(
        cosines(2), ritz.RandomFourier(GAUSSIAN, 5), ritz.Nystrom(MATERN, 8)
    ),
    "spectrum": own_spectrum,
}
ON_EVERY_FORM = ("gaussian", "matern 5/2", "monomials")
ON_EVERY_BASIS = ("laplacian", "potential, function", "diffusion, rows")
MORE = {
    "diffusion, matrix": ("exponential", "polynomial", "fourier", "stack", "gaussian, columns"),
    "differential, order two": ("dot exponential", "fourier", "gaussian, columns", "polynomial"),
    "differential, not symmetric": ("polynomial", "fourier", "functions", "gaussian, columns"),
    "directional, three": ("exponential", "polynomial", "functions"),
    "neighbors": ("exponential", "fourier", "functions", "stack"),
    "custom": ("exponential", "polynomial", "stack"),
    "laplacian, density": ("exponential", "fourier"),
}


def basis_for(d, name, C):
    """Return a basis for samples of any dimension."""
    scale = {"gaussian": 0.35, "matern 5/2": 0.8}
    if name == "monomials":
        return ritz.Monomials({1: 6, 2: 4, 3: 3}.get(d, 2))
    kind = ritz.Gaussian if name == "gaussian" else partial(ritz.Matern, 2.5)
    return given(kind(scale[name] * d**0.5), C)


def on_plane(form, basis, t):
    """Decompose a form over the sample of the plane."""
    found = ritz.decompose(
        PLANE[form](t), BASES[basis](), t.rows(X), K, random_state=0, n_jobs=t.n_jobs
    )
    return described(found, points(2))


def on_sample(form, basis, t):
    """Decompose a form over a sample of its own."""
    sample, make = ELSEWHERE[form]
    rows = samples(sample)
    d = rows.shape[1]
    found = ritz.decompose(
        make(t), basis_for(d, basis, rows), t.rows(rows), K, random_state=0, n_jobs=t.n_jobs
    )
    return described(found, points(d))


def on_views(form, basis, t):
    """Decompose a form over two views."""
    data = (t.rows(X), t.rows(second_view()))
    found = ritz.decompose(VIEWS[form](t), BASES[basis](), data, K, random_state=0, n_jobs=t.n_jobs)
    return described(found, points(2))


def pairs_of_names():
    """Yield the forms and bases that are combined in the plane, each pair once."""
    pairs = [(form, basis) for form in PLANE for basis in ON_EVERY_FORM]
    pairs += [("laplacian", basis) for basis in BASES]
    pairs += [(form, basis) for form, bases in MORE.items() for basis in bases]
    return dict.fromkeys(pairs)


def cases():
    """Yield all cases of this module."""
    for form, basis in pairs_of_names():
        yield f"{form} / {basis}", partial(on_plane, form, basis)
    for form in ELSEWHERE:
        for basis in ON_EVERY_FORM:
            yield f"{form} / {basis}", partial(on_sample, form, basis)
    for form in VIEWS:
        for basis in (*ON_EVERY_FORM, "fourier"):
            yield f"{form} / {basis}", partial(on_views, form, basis)


CASES = named({"form": dict(cases())})
