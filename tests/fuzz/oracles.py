"""Naive formulas that results are compared with, and twins: calls whose results must agree."""

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist
from scipy.stats import ttest_ind_from_stats

import ritz
from ritz.selection.steps import FEWEST_COMPARED_ROWS
from tests.fuzz.inputs import as_batches, as_dask

# Arguments with one entry for each row of X.
ALIGNED = ("X", "Y", "y", "sample_weight", "groups", "gradient", "directions", "V", "U", "A")


# Kernels


def kernel_matrix(profile):
    """Return the oracle of a kernel that is a function of r = |x - y| / l and s = x.y / l^2."""

    def oracle(a, result):
        X, Y = a["X"] / a["length_scale"], a["Y"] / a["length_scale"]
        return {"values": profile(a, cdist(X, Y), X @ Y.T)}

    return oracle


# Bases


def slopes(a, result):
    """Compare the gradients with central differences."""
    functions, X, h = result["_functions"], a["points"], 1e-6
    steps = h * np.eye(X.shape[1])
    differences = [(functions(X + step) - functions(X - step)) / (2 * h) for step in steps]
    return {"gradient": np.stack(differences, axis=1)}


# Forms: each returns H(f_i, g_j, x) summed over rows with weights w.


def values_and_slopes(basis, X):
    """Return the function 1 and those of a basis, (n, 1 + p), and gradients (n, d, 1 + p)."""
    F, G = basis(X), basis.gradient(X)
    one = np.zeros((*X.shape, 1))
    return np.hstack([np.ones((len(X), 1)), F]), np.concatenate([one, G], axis=2)


def along(w, G, U):
    D = np.einsum("ndi,nd->ni", G, U)
    return (w[:, None] * D).T @ D


def neighbor_sums(a, w, F, k):
    order = np.argsort(cdist(a["X"], a["X"]), axis=1, kind="stable")[:, 1 : 1 + k]
    D = F[:, None] - F[order]
    return np.einsum("n,nki,nkj->ij", w, D, D) / k


def graph_sums(a, w, F):
    W = a["weights"](a["X"], a["X"])
    s = np.ones(len(w)) if a["sample_weight"] is None else a["sample_weight"]
    degree = W @ s
    W = W / np.sqrt(np.outer(degree, degree)) if a["normalized"] else W
    D = F[:, None] - F[None]
    return np.einsum("m,n,mn,mni,mnj->ij", w, s, W, D, D)


FORMS = {
    "laplacian": lambda a, w, F, G: np.einsum("n,ndi,ndj->ij", w, G, G),
    "diffusion": lambda a, w, F, G: np.einsum("n,ndi,de,nej->ij", w, G, a["A"], G),
    "potential": lambda a, w, F, G: (w * a["V"] * F.T) @ F,
    "directional": lambda a, w, F, G: along(w, G, a["U"]),
    "differential": lambda a, w, F, G: (w[:, None] * F).T @ G[:, 0],
    "form": lambda a, w, F, G: np.einsum("n,ndi,ndj->ij", w, G, G) + (w * a["X"][:, 0] * F.T) @ F,
    "Form": lambda a, w, F, G: 2 * np.einsum("n,ndi,ndj->ij", w, G, G) - 3 * (w * F.T) @ F,
    "neighbors": lambda a, w, F, G: neighbor_sums(a, w, F, a["n_neighbors"]),
    "graph": lambda a, w, F, G: graph_sums(a, w, F),
}


def form_matrices(name):
    def oracle(a, result):
        sums, X = result["_sums"], a["X"]
        w = np.ones(len(X)) if a.get("sample_weight") is None else a["sample_weight"]
        w = w / w.sum()
        F, G = values_and_slopes(sums.left, X)
        Phi = (w[:, None] * F).T @ F
        if name in FORMS:
            return {"L": FORMS[name](a, w, F, G), "Phi": Phi}
        H = values_and_slopes(sums.right, a["Y"])[0]
        if name == "cross":
            return {"L": (w[:, None] * F).T @ H, "Phi": Phi, "Psi": (w[:, None] * H).T @ H}
        Psi = (w[:, None] * H).T @ H
        return {"L": (w[:, None] * (F - H)).T @ (F - H), "Phi": (Phi + Psi) / 2}

    return oracle


def eigenvalues(a, result):
    """Solve for the eigenvalues of the Laplacian by SciPy, on naive sums."""
    basis = result["_sums"].left
    naive = form_matrices("laplacian")(a, result)
    shift = naive["L"] + naive["Phi"]
    values = scipy.linalg.eigh(shift, naive["Phi"], eigvals_only=True) - 1
    assert len(values) == 1 + basis.size
    return {"values": values[: a["k"]]}


# Geometry


def geometry(name):
    def oracle(a, result):
        spectrum, X, t = a["spectrum"], a["X"], a["t"]
        decay = np.exp(-t * spectrum.values)
        f = spectrum(X) * decay
        g = spectrum(a["Y"]) * decay if "Y" in a else f
        if name == "diffusion_map":
            return {"0": f}
        if name == "diffusion_distance":
            return {"0": np.linalg.norm(f - g, axis=1)}
        if name == "heat_kernel":
            return {"0": spectrum(X) @ g.T}
        if name == "pullback_metric":
            G = spectrum.gradient(X) * decay
            return {"0": np.einsum("ndk,nek->nde", G, G)}
        return {"0": np.sort(cdist(g, f), axis=1)[:, : a["n_neighbors"]]}

    return oracle


def welch(a, result):
    """Compare the one mode beside the constant by SciPy, and its functions by their cosine."""
    first, second = ((s.values[1], s.errors[1]) for s in (a["spectrum_a"], a["spectrum_b"]))
    folds = a["n_folds"]
    numbers = [n for value, e in (first, second) for n in (value, e * np.sqrt(folds), folds)]
    f, g = (a[name](a["X"])[:, 1] for name in ("spectrum_a", "spectrum_b"))
    cosine = abs(f @ g) / np.linalg.norm(f) / np.linalg.norm(g)
    return {"p": [ttest_ind_from_stats(*numbers, equal_var=False).pvalue], "overlaps": [cosine]}


# Twins: functions of a generator and arguments that return two sets of arguments, and factors of
# results where these differ, None where they need not agree.


def permuted(rng, a):
    order = rng.permutation(len(a["X"]))
    return a, a | {name: a[name][order] for name in ALIGNED if a.get(name) is not None}, {}


def repeated(rng, a):
    """Rows given w times are rows of weight w, but for folds and what depends on them."""
    w = rng.integers(1, 4, len(a["X"]))
    rows = np.repeat(np.arange(len(w)), w)
    more = {name: a[name][rows] for name in ALIGNED if a.get(name) is not None}
    factors = {"best estimates": None}
    if len(w) < FEWEST_COMPARED_ROWS:
        # Functions of few rows come last only where there are rows enough to tell.
        factors["functions"] = None
    return a | {"sample_weight": 1.0 * w}, a | more | {"sample_weight": None}, factors


def heavier(rng, a):
    w = rng.uniform(0.5, 2, len(a["X"]))
    return a | {"sample_weight": w}, a | {"sample_weight": 4 * w}, {}


def weightless(rng, a):
    """A row of weight zero is no row."""
    some = np.arange(len(a["X"])) % 5 > 0
    less = {name: a[name][some] for name in ALIGNED if a.get(name) is not None}
    return a | {"sample_weight": 1.0 * some}, a | less | {"sample_weight": None}, {}


def streamed(rng, a):
    plain = a | {"sample_weight": None, "groups": None}
    source = rng.choice([as_batches, as_dask, SmallBlocks])
    return plain, plain | {"X": source(a["X"])}, {}


def moved(rng, a):
    """Points and centers shifted, their columns permuted and scaled by a power of two."""
    X, factor = a["X"], 2.0 ** rng.integers(-20, 20)
    order, shift = rng.permutation(X.shape[1]), rng.normal(size=X.shape[1])

    def change(points):
        return factor * (points + shift)[:, order]

    centers, length = X[:8], 1.5
    here = ritz.KernelSections(ritz.Gaussian(length), centers)
    there = ritz.KernelSections(ritz.Gaussian(factor * length), change(centers))
    before, after = a | {"basis": here}, a | {"basis": there, "X": change(X)}
    after["at"] = change(a["at"])
    return before, after, {"values": factor**-2, "errors": factor**-2}


class SmallBlocks(ritz.Stream):
    """A stream of blocks of seven rows."""

    def __init__(self, X):
        object.__setattr__(self, "X", X)

    @property
    def dimensions(self):
        return (self.X.shape[1],)

    def blocks(self):
        whole = next(as_batches(self.X).blocks())
        for start in range(0, len(self.X), 7):
            rows = self.X[start : start + 7]
            yield type(whole)((rows,), np.ones(len(rows)), start + np.arange(len(rows)))
