"""Entries of the core: kernels, bases, forms, sums, spectra, streams and datasets."""

import tempfile
from pathlib import Path

import numpy as np
import scipy.linalg

import ritz
from tests.fuzz import oracles
from tests.fuzz.entry import entry, parts_of
from tests.fuzz.inputs import (
    ANY,
    AUTO,
    CHOICE,
    COUNT,
    FIXED_POINTS,
    FUNCTION,
    NUMBER,
    OBJECT,
    POINTS,
    POSITIVE,
    ROWS_OF_ONE,
    SIZE,
    Kind,
    as_file,
    constants,
    optional,
)
from tests.fuzz.oracles import heavier, moved, permuted, repeated, streamed, weightless

GAUSSIAN = ritz.Gaussian(1.5)


# Kernels


def kernel_entry(name, parameters, profile, **kinds):
    def call(X, Y, **a):
        return {"values": getattr(ritz, name)(**a)(X, Y)}

    def good(c):
        return dict(X=c.X, Y=c.Y, length_scale=c.rng.uniform(0.5, 2)) | parameters(c)

    entry(name, call, good, oracles.kernel_matrix(profile), X=POINTS, Y=FIXED_POINTS, **kinds)


def nothing(c):
    return {}


def matern(a, r, s):
    z = np.sqrt(2 * a["nu"]) * r
    return {0.5: 1, 1.5: 1 + z, 2.5: 1 + z + z**2 / 3}[a["nu"]] * np.exp(-z)


def rational(a, r, s):
    return (1 + r**2 / (2 * a["alpha"])) ** -a["alpha"]


def polynomial(a, r, s):
    return (a["offset"] + s) ** a["degree"]


def custom(a, r, s):
    return np.tanh(s if a["family"] == "dot" else r**2 / 2)


kernel_entry("Gaussian", nothing, lambda a, r, s: np.exp(-(r**2) / 2))
kernel_entry("Exponential", nothing, lambda a, r, s: np.exp(-r))
kernel_entry("Matern", lambda c: dict(nu=c.one_of(0.5, 1.5, 2.5)), matern, nu=POSITIVE)
kernel_entry("RationalQuadratic", lambda c: dict(alpha=c.rng.uniform(0.5, 3)), rational)
kernel_entry("Polynomial", lambda c: dict(degree=c.one_of(1, 2, 3), offset=1.0), polynomial)
kernel_entry("DotExponential", nothing, lambda a, r, s: np.exp(s))
kernel_entry(
    "CustomKernel",
    lambda c: dict(family=c.one_of("distance", "dot"), profiles=[np.tanh]),
    custom,
)


def combined(X, Y, factor):
    kernel = factor * ritz.Gaussian(2.0) + ritz.Gaussian(1.0) * ritz.Gaussian(2.0)
    return {"values": kernel(X, Y)}


def combined_by_hand(a, result):
    wide, product = (ritz.Gaussian(length)(a["X"], a["Y"]) for length in (2.0, 2 / 5**0.5))
    return {"values": a["factor"] * wide + product}


entry(
    "Kernel",
    combined,
    lambda c: dict(X=c.X, Y=c.Y, factor=c.rng.uniform(0.5, 2)),
    combined_by_hand,
    X=POINTS,
    Y=FIXED_POINTS,
)


# Bases


def basis_entry(name, make, parameters, twins=(), **kinds):
    def call(X, points, random_state, **a):
        basis = make(**a).fit(X, random_state)
        return {"values": basis(points), "gradient": basis.gradient(points), "_functions": basis}

    def good(c):
        return dict(X=c.X, points=c.points, random_state=0) | parameters(c)

    entry(name, call, good, oracles.slopes, twins, **({"X": ROWS_OF_ONE} | kinds))


basis_entry(
    "KernelSections",
    ritz.KernelSections,
    lambda c: dict(kernel=GAUSSIAN, centers=c.X[:5]),
    X=ANY,
    random_state=ANY,
)
basis_entry(
    "Nystrom",
    ritz.Nystrom,
    lambda c: dict(
        kernel=GAUSSIAN, n_centers=5, centers=c.one_of("uniform", "kmeans++", "rpcholesky")
    ),
    (permuted,),
    centers=CHOICE.without("3"),
)
basis_entry("RandomFourier", ritz.RandomFourier, lambda c: dict(kernel=GAUSSIAN, n_features=6))
basis_entry("Monomials", ritz.Monomials, lambda c: dict(degree=c.one_of(1, 2, 3)), (permuted,))
basis_entry(
    "Stack",
    lambda parts: ritz.Stack(*parts),
    lambda c: dict(parts=[ritz.Monomials(1), ritz.Nystrom(GAUSSIAN, 4)]),
)
basis_entry(
    "Functions",
    ritz.Functions,
    lambda c: dict(callables=[lambda x: np.sin(x).sum(axis=1)], gradients=[np.cos], columns=None),
    X=ANY,
    random_state=ANY,
    columns=ANY,
)
entry(
    "Basis",
    lambda points, alpha, functions: {"values": functions.partial(points, alpha)},
    lambda c: dict(points=c.points, alpha=(1,) + (0,) * (c.d - 1), functions=c.spectrum()),
    lambda a, result: {"values": a["functions"].gradient(a["points"])[:, 0]},
    alpha=Kind({"array": np.array}, {}, constants((1.5,), (-1,), "words", None, (1, 2, 3, 4))),
)


# Forms


def form_entry(name, parameters, make=None, twins=(permuted, repeated, heavier), **kinds):
    make = make or getattr(ritz, name)

    def call(X, sample_weight, Y=None, **a):
        data, options = X if Y is None else (X, Y), dict(n_folds=3, random_state=0)
        basis = ritz.Monomials(2)
        sums = ritz.assemble(make(**a), basis, data, sample_weight=sample_weight, **options)
        mean = sums.mean()
        return {"L": mean.L, "Phi": mean.Phi, "Psi": mean.Psi, "_sums": sums}

    def good(c):
        return dict(X=c.X, sample_weight=c.weights) | parameters(c)

    entry(name, call, good, oracles.form_matrices(name), twins, **kinds)


def energy(f, g, x):
    return f.gradient @ g.gradient + x[:, 0] * (f.value * g.value)


def weights_of(X, Y):
    return ritz.Gaussian(1.0)(X, Y)


ROW_FIELD = FUNCTION.without("3") | Kind(
    bad={"one more": lambda v: np.append(v, v[:1], axis=0), "NaN": lambda v: v * np.nan}
)
form_entry(
    "laplacian",
    lambda c: dict(tangent=None, density_correction=0.0, dimension=None, n_neighbors=None),
    tangent=CHOICE.without("None", "<class 'int'>"),
    density_correction=NUMBER,
    dimension=ANY,
    n_neighbors=ANY,
)
form_entry("diffusion", lambda c: dict(A=c.matrix(c.d)), twins=(), A=ROW_FIELD.without("one more"))
form_entry("potential", lambda c: dict(V=c.normal(c.n)), V=ROW_FIELD)
form_entry("directional", lambda c: dict(U=c.normal(c.n, c.d)), U=ROW_FIELD)
form_entry(
    "differential",
    lambda c: dict(coefficients={((0,) * c.d, (1,) + (0,) * (c.d - 1)): 1.0}),
    coefficients=Kind(
        bad=constants({}, None, 3, "words", {(1, 2): 3}, {((0,), (-1,)): 1.0}, {((0,), (1,)): "c"})
    ),
)
form_entry(
    "form",
    lambda c: dict(H=energy, symmetric=True, order="smallest", views=1),
    views=CHOICE.without("no such"),
)
form_entry("Form", nothing, lambda: 2.0 * ritz.laplacian() - 3.0 * ritz.potential(1.0))
form_entry("pairs", lambda c: dict(Y=c.Y))
form_entry("cross", lambda c: dict(Y=c.Y))
form_entry(
    "neighbors",
    lambda c: dict(n_neighbors=3, kind="pairs", weights="uniform", mutual=False, search="exact"),
    weights=CHOICE.without("<class 'int'>"),
    mutual=CHOICE.without("3"),
    search=CHOICE.without("<class 'int'>"),
)
form_entry(
    "graph",
    lambda c: dict(weights=weights_of, normalized=c.one_of(True, False)),
    twins=(permuted, repeated),
)


# Sums and spectra


def assembled(form, basis, X, at, k, **options):
    sums = ritz.assemble(form, basis, X, **options)
    return parts_of(ritz.decompose_sums(sums, k), at) | {"_sums": sums}


def decomposed(form, basis, X, at, k, **options):
    return parts_of(ritz.decompose(form, basis, X, k, **options), at)


def rows_and_options(c):
    options = dict(n_folds=4, random_state=0, n_jobs=1, progress=False)
    data = dict(X=c.X, sample_weight=c.weights, groups=c.groups)
    return dict(form=ritz.laplacian(), basis=ritz.Monomials(2), at=c.points, k=2) | data | options


def merged(X, folds, without):
    form, options, cut = ritz.laplacian(), dict(n_folds=3, random_state=0), len(X) // 2
    first = ritz.assemble(form, ritz.Monomials(2), X[:cut], **options)
    second = ritz.assemble(form, first.left, X[cut:], **options)
    whole = ritz.assemble(form, first.left, X, **options)
    some, less = whole.of(folds).mean().L, (whole - second).mean(without).Phi
    return {"L": (first + second).mean().L, "less": less, "some": some, "_": (whole, first)}


def unmerged(a, result):
    (whole, first), folds = result["_"], a["folds"]
    L = sum(whole.L[fold] for fold in folds) / whole.weight[folds].sum()
    less = first.mean(a["without"]).Phi
    return {"L": whole.mean().L, "less": less, "some": (L + L.T) / 2}


def solved(sums, k, regularization, fewer):
    return parts_of(
        ritz.decompose_sums(sums, k, regularization=regularization, fewer=fewer), NOWHERE
    )


NOWHERE = np.zeros((0, 0))
TWINS = (permuted, repeated, heavier, weightless, streamed, moved)
entry("assemble", assembled, rows_and_options, oracles.eigenvalues, TWINS)
entry(
    "decompose",
    decomposed,
    lambda c: (
        rows_and_options(c)
        | dict(regularization=c.one_of(0.0, 1e-6), basis=ritz.Nystrom(GAUSSIAN, 6))
    ),
    twins=TWINS,
)
entry(
    "Sums",
    merged,
    lambda c: dict(X=c.X, folds=[0, 2], without=c.one_of(None, 1)),
    unmerged,
    X=ANY,
    folds=Kind(bad=constants([7], [-1], [0, 0], ["a"], 3, None, [1.5])),
    without=Kind(bad=constants(7, -1, "a", 1.5)),
)
entry(
    "decompose_sums",
    solved,
    lambda c: dict(sums=c.sums(), k=2, regularization=1e-3, fewer=c.one_of(True, False)),
)


def sliced(spectrum, points, index):
    part = spectrum[index]
    return {"values": part(points), "gradient": part.gradient(points), "_functions": part}


def sides(a, result):
    left, right = a["spectrum"].left(a["X"]), a["spectrum"].right(a["Y"])
    return {"0": left[:, a["index"]], "1": right[:, a["index"]]}


def paired_spectrum(c):
    bases = (ritz.Monomials(2), ritz.Monomials(2))
    return ritz.decompose(ritz.cross(), bases, (c.X, c.Y), k=3, random_state=0)


INDEX = Kind(bad=constants("words", 1.5, None, [[1]], [0.5]))
entry(
    "Spectrum",
    sliced,
    lambda c: dict(spectrum=c.spectrum(), points=c.points, index=c.one_of(slice(1, 3), [0, 2])),
    oracles.slopes,
    spectrum=ANY,
    index=INDEX,
)
entry(
    "SingularSpectrum",
    lambda spectrum, X, Y, index: spectrum[index](X, Y),
    lambda c: dict(spectrum=paired_spectrum(c), X=c.points, Y=c.points, index=slice(0, 2)),
    sides,
    spectrum=ANY,
    X=FIXED_POINTS,
    Y=FIXED_POINTS,
    index=INDEX,
)


def file_of(spectrum):
    with tempfile.TemporaryDirectory() as folder:
        spectrum.save(f"{folder}/a.npz")
        return Path(f"{folder}/a.npz").read_bytes()


def loaded(path, at=NOWHERE):
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(path, bytes):
            Path(f"{folder}/a.npz").write_bytes(path)
            path = f"{folder}/a.npz"
        return parts_of(ritz.load(path), at)


def any_spectrum(c):
    recipes = (ritz.Monomials(3), ritz.Nystrom(GAUSSIAN, 6), ritz.RandomFourier(GAUSSIAN, 6))
    return c.spectrum(c.one_of(*recipes))


def with_byte(place):
    return lambda file: file[:place] + bytes([file[place] ^ 255]) + file[place + 1 :]


entry(
    "Spectrum.save",
    lambda spectrum, at: loaded(file_of(spectrum), at),
    lambda c: dict(spectrum=any_spectrum(c), at=c.points),
    lambda a, result: parts_of(a["spectrum"], a["at"]),
    spectrum=ANY,
)
entry(
    "load",
    loaded,
    lambda c: dict(path=file_of(any_spectrum(c))),
    path=Kind(
        bad={
            "half": lambda file: file[: len(file) // 2],
            "text": lambda file: b"words",
            "empty": lambda file: b"",
            **{f"byte {place}": with_byte(place) for place in (0, 30, 200, 400)},
            **constants(None, 3.0, [], object()),
        }
    ),
)


def geometry_entry(name, **rows):
    def good(c):
        second = {"Y": c.Y[: rows["Y"]]} if "Y" in rows else {}
        return dict(spectrum=c.spectrum(), X=c.X[:9], t=0.3) | rows | second

    oracle, points = oracles.geometry(name), dict(X=FIXED_POINTS, Y=FIXED_POINTS)
    entry(name, getattr(ritz, name), good, oracle, **points)


geometry_entry("diffusion_map")
geometry_entry("pullback_metric")
geometry_entry("diffusion_distance", Y=9)
geometry_entry("heat_kernel", Y=5)
geometry_entry("diffusion_neighbors", Y=5, n_neighbors=2)


def two_bases(c):
    bases = [ritz.Nystrom(ritz.Gaussian(length), 8) for length in (1.0, 2.0)]
    options = dict(random_state=0, n_jobs=1)
    data = dict(X=c.normal(150, 2), sample_weight=None, groups=None)
    return dict(operator=ritz.laplacian(), k=2, candidates=bases) | data | options


def selected(**a):
    found = ritz.select(**a)
    return {"scores": found.scores, "rows": found.n_rows, "values": found.chosen.ritz_values}


entry(
    "select",
    selected,
    two_bases,
    twins=(permuted, heavier),
    operator=OBJECT,
    k=COUNT,
    candidates=Kind(bad=constants("no such", 3, None, [], [3], ["a"])),
)


def any_pair(c):
    first, second = (
        ritz.decompose(ritz.laplacian(), ritz.Monomials(2), c.normal(500, 1), 2, random_state=0)
        for _ in range(2)
    )
    return dict(spectrum_a=first, spectrum_b=second, X=c.normal(9, 1), alpha=0.1, n_folds=8)


def compared(**a):
    found = ritz.compare(**a)
    return {"p": found.p_values, "overlaps": found.overlaps}


entry(
    "compare",
    compared,
    any_pair,
    oracles.welch,
    spectrum_a=OBJECT,
    spectrum_b=OBJECT,
    X=optional(FIXED_POINTS),
)


# Matrices


def whitened(a, result):
    roots = [np.linalg.inv(np.linalg.cholesky(a[name])) for name in ("Phi", "Psi")]
    values = np.linalg.svd(roots[0] @ a["L"] @ roots[1].T, compute_uv=False)
    return {"values": values[:3] if a["order"] == "largest" else values[::-1][:3]}


BAD_MATRICES = constants(None, "words", 3.0, np.ones(3), np.full((6, 6), np.nan), np.ones((2, 3)))
MATRIX = Kind({"list": np.ndarray.tolist}, {}, BAD_MATRICES)
entry(
    "gevd",
    lambda **a: {"values": ritz.gevd(**a).values},
    lambda c: dict(L=c.matrix(), Phi=c.matrix(), k=3, penalty=None, floor=0.0),
    lambda a, result: {"values": scipy.linalg.eigvalsh(a["L"], a["Phi"])[:3]},
    L=MATRIX,
    Phi=MATRIX,
    penalty=optional(MATRIX),
)
entry(
    "gsvd",
    lambda **a: {"values": ritz.gsvd(**a).values},
    lambda c: (
        dict(L=c.normal(6, 6), Phi=c.matrix(), Psi=c.matrix(), k=3)
        | dict(order=c.one_of("smallest", "largest"), penalties=None, floors=(0.0, 0.0))
    ),
    whitened,
    Phi=MATRIX,
    Psi=MATRIX,
)


# Streams


def from_stream(stream, at):
    spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), stream, 2, random_state=0)
    return parts_of(spectrum, at)


def from_table(X, suffix, at, **options):
    with tempfile.TemporaryDirectory() as folder:
        return from_stream(ritz.Table(as_file(X, suffix, folder), **options), at)


def from_opened(X, suffix, at, **options):
    with tempfile.TemporaryDirectory() as folder:
        return from_stream(ritz.open(as_file(X, suffix, folder), **options), at)


def some_bad(*labels):
    return Kind(bad={label: POINTS.bad[label] for label in labels})


entry(
    "Stream",
    lambda X, at: from_stream(oracles.SmallBlocks(X), at),
    lambda c: dict(X=c.X, at=c.points),
    lambda a, result: from_stream(**{"stream": a["X"], "at": a["at"]}),
    X=ANY,
)
entry(
    "Batches",
    lambda batch, at, **options: from_stream(ritz.Batches([batch, batch], **options), at),
    lambda c: dict(batch=c.X, at=c.points, views=1, weighted=False),
    lambda a, result: from_stream(np.vstack([a["batch"]] * 2), a["at"]),
    batch=some_bad("NaN", "words", "complex", "None", "3.0", "one axis", "no columns"),
    views=CHOICE.without("no such"),
)
entry(
    "Table",
    from_table,
    lambda c: (
        dict(X=c.X, suffix=c.one_of("csv", "parquet", "feather"), at=c.points)
        | dict(columns=None, weight=None, format=None)
    ),
    lambda a, result: from_stream(a["X"], a["at"]),
    X=some_bad("NaN", "inf", "words", "dates", "NaT"),
    columns=Kind(bad=constants(["no such"], [], 3, "words")),
    weight=Kind(bad=constants("no such", 3)),
    format=Kind(bad=constants("no such", 3)),
)
entry(
    "open",
    from_opened,
    lambda c: (
        dict(X=c.X, suffix=c.one_of("csv", "parquet", "feather"), at=c.points)
        | dict(columns=None, weight=None, groups=None, format=None)
        | dict(delimiter=",", nulls=c.one_of("error", "drop"))
    ),
    lambda a, result: from_stream(a["X"], a["at"]),
    X=some_bad("inf", "words", "dates"),
    columns=Kind(bad=constants(["no such"], [], 3, "words")),
    weight=Kind(bad=constants("no such", 3)),
    groups=Kind(bad=constants("no such", 3)),
    delimiter=Kind(bad=constants("", ";;", 3, None)),
    nulls=CHOICE,
    format=Kind(bad=constants("no such", 3)),
)
entry(
    "plan",
    lambda **a: {"passes": ritz.plan(**a).passes},
    lambda c: (
        dict(X=c.X, d=None, operator="laplacian", n_centers=30, n_components=3)
        | dict(n_neighbors=4, n_folds=3, n_jobs=1)
    ),
    lambda a, result: {"passes": 2},
    X=ANY,
    d=Kind(bad=constants("words", 0, -1, 1.5)),
    n_centers=SIZE | AUTO,
    n_neighbors=ANY,
    n_components=SIZE,
)


# Trajectories


def pairs_by_hand(a, result):
    X, lag = a["trajectories"], a["lag"]
    rows = range(len(X) - lag)
    return {"X": np.array([X[t] for t in rows]), "Y": np.array([X[t + lag] for t in rows])}


def squares_by_hand(a, result):
    X, dt = a["trajectories"], a["dt"]
    D = [np.mean((X[lag:] - X[:-lag]) ** 2, axis=0) / (2 * lag * dt) for lag in a["lags"]]
    return {"D": D}


def timescales_by_hand(a, result):
    return {"timescales": -a["dt"] * a["lags"][0] / np.log(result["c"])}


def implied(**a):
    found = ritz.implied_timescales(**a)
    return {"timescales": found.timescales, "c": found.correlations}


TRAJECTORY = POINTS.without("one axis", "one row", "polars") | Kind(
    bad={"no rows": lambda X: X[:0], "one row": lambda X: X[:1]}
)
LAGS = Kind(
    {"array": np.array, "twice": lambda v: v + v},
    {},
    constants([], [0], [-1], [1.5], ["a"], None, "words", [10**7], [np.nan], object()),
)
entry(
    "lagged",
    lambda **a: ritz.lagged(**a)._asdict(),
    lambda c: dict(trajectories=c.X, lag=c.one_of(1, 3)),
    pairs_by_hand,
    trajectories=TRAJECTORY,
    lag=SIZE | Kind(bad=constants(10**7)),
)
entry(
    "displacements",
    lambda **a: vars(ritz.displacements(**a)),
    lambda c: dict(trajectories=c.X, lags=[1, 4], dt=0.5),
    squares_by_hand,
    trajectories=TRAJECTORY,
    lags=LAGS,
)
entry(
    "implied_timescales",
    implied,
    lambda c: dict(
        trajectories=np.cumsum(c.normal(300, 1) * 0.1, axis=0) + c.normal(300, 1),
        lags=[2],
        n_components=1,
        dt=0.5,
        basis=ritz.Monomials(2),
        random_state=0,
    ),
    timescales_by_hand,
    trajectories=TRAJECTORY,
    lags=LAGS,
    basis=optional(OBJECT),
)


# Datasets


def dataset_entry(name, parameters=nothing, **kinds):
    """Samples and exact spectra of a problem, or the points of a cloud."""

    def call(n, random_state, k="none", **a):
        problem = getattr(ritz.datasets, name)
        if isinstance(k, str) and k == "none":
            return vars(problem(n, random_state=random_state, **a))
        problem = problem(**a)
        data = problem.sample(n, random_state)
        if isinstance(problem, ritz.datasets.Problem):
            return [data, problem.eigenvalues(k), problem.eigenfunctions(data, k)]
        X, Y = data if isinstance(data, tuple) else (data, data)
        functions = problem.left_functions(X, k), problem.right_functions(Y, k)
        return [X, Y, problem.singular_values(k), *functions]

    def seeded(a, result):
        """A seed and a generator made from it give the same samples."""
        return call(**a | {"random_state": np.random.default_rng(3)})

    def good(c):
        return dict(n=c.n, random_state=3) | parameters(c)

    entry(f"datasets.{name}", call, good, seeded, k=SIZE, **kinds)


BAD_LENGTHS = constants((), (0.0,), (-1.0,), ("a",), 3, None, (np.nan,))
for simple in ("circle", "disk", "derivative"):
    dataset_entry(simple, lambda c: dict(k=5))
dataset_entry("cube", lambda c: dict(k=5, dimension=c.d))
dataset_entry("sphere", lambda c: dict(k=5, dimension=1 + c.d))
dataset_entry("gaussian", lambda c: dict(k=5, dimension=c.d, scale=1.5))
dataset_entry(
    "torus",
    lambda c: dict(k=5, lengths=(1.0, 2.0)),
    lengths=Kind({"list": list}, constants((1e-300, 1e300)), BAD_LENGTHS),
)
dataset_entry(
    "gaussian_pair",
    lambda c: dict(k=5, correlation=0.5),
    correlation=Kind(bad=constants(-0.5, 1.5, np.nan, "a", None)),
)
dataset_entry("half_moons", lambda c: dict(noise=0.1))
dataset_entry("swiss_roll", lambda c: dict(noise=0.1))
dataset_entry("concentric_circles", lambda c: dict(noise=0.1, n_circles=3))
