"""Golden cases of the estimators, the geometry of a spectrum, and one short training."""

import warnings
from functools import partial

import numpy as np

import ritz
from tests.golden.case import attributes, named
from tests.golden.data import (
    circle_frames,
    far_apart,
    points,
    samples,
    second_view,
    weights,
)
from tests.golden.operators import GAUSSIAN, X, given, stiffness

WELLS, BLOBS, MANY_BLOBS = samples("wells"), samples("blobs"), samples("many blobs")
LARGE = samples("plane", 4000)
SECTIONS = ritz.KernelSections(GAUSSIAN, far_apart(X, 14))
FIXED = {"length_scale": 0.5, "n_centers": 20}


def evaluated_by(model, new):
    """Return what a transformer makes of new points, and the bytes of each number."""
    found = model.transform(new)
    return {"transform": np.abs(found), "bytes": found.itemsize}


def embedding(rows, t, *, fitting=None, mu=50.0, **options):
    """Fit an embedding and look at new points."""
    model = ritz.SpectralEmbedding(random_state=0, n_jobs=t.n_jobs, mu=mu, **options)
    fitting = {name: t.rows(value) for name, value in (fitting or {}).items()}
    model.fit(t.rows(rows), **fitting)
    new = points(rows.shape[1], 20).astype(rows.dtype)
    chosen = ("length_scale_", "n_centers_", "regularization_")
    return (
        attributes(model, "eigenvalues_", "eigenvalue_errors_")
        | attributes(model, *(name for name in chosen if hasattr(model, name)))
        | evaluated_by(model, new)
        | {"score": model.score(t.rows(rows))}
    )


def in_parts(rows, t, **options):
    """Fit an embedding by parts."""
    model = ritz.SpectralEmbedding(random_state=0, n_jobs=t.n_jobs, **options)
    with warnings.catch_warnings():
        # The first part has too few rows for some functions.
        warnings.filterwarnings("ignore", message=".*belong to a few rows")
        for part in np.array_split(rows, 4):
            model.partial_fit(t.rows(part))
    result = attributes(model, "eigenvalues_", "eigenvalue_errors_")
    return result | {
        "transform": np.abs(model.transform(points(2))),
        "rows": model.spectrum_.n_rows,
    }


def from_sums(t):
    """Fit an embedding to sums that were computed elsewhere."""
    sums = ritz.assemble(
        ritz.neighbors(5, weights="uniform"), given(GAUSSIAN), t.rows(X), random_state=0
    )
    model = ritz.SpectralEmbedding(3, regularization=1e-6).fit_sums(sums)
    result = attributes(model, "eigenvalues_", "eigenvalue_errors_")
    return result | {"transform": np.abs(model.transform(points(2)))}


def clusters(rows, t, *, weight=None, **options):
    """Find clusters; they are numbered by the rows at which they first appear."""
    model = ritz.SpectralClustering(random_state=0, n_jobs=t.n_jobs, **options)
    model.fit(t.rows(rows), sample_weight=None if weight is None else t.rows(weight))
    _, first, which = np.unique(t.rows(model.labels_), return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))
    new = model.predict(rows[:40] + 0.05)
    names = ("eigenvalues_", "eigenvalue_errors_", "n_clusters_")
    evidence = ("evidence_",) if hasattr(model, "evidence_") else ()
    return attributes(model, *names, *evidence) | {
        "labels": number[which],
        "sizes": np.sort(np.bincount(new, minlength=model.n_clusters_)),
    }


def shared(t, *, columns=2, fitting=None, **options):
    """Embed two views by what they share."""
    A, B = t.rows(X), t.rows(second_view()[:, :columns])
    model = ritz.SingularEmbedding(random_state=0, n_jobs=t.n_jobs, **options)
    model.fit(
        A, B[:, 0] if columns == 1 else B, **{k: t.rows(v) for k, v in (fitting or {}).items()}
    )
    left, right = model.transform(points(2), points(2)[:, :columns])
    names = ("singular_values_", "singular_value_errors_", "held_out_values_", "regularization_")
    return attributes(model, *names, "path_") | {
        "left": np.abs(left),
        "right": np.abs(right),
        "score": model.score(A, B),
    }


def modes(t, *, fitting=None, **options):
    """Find slow modes."""
    model = ritz.DiffusionModes(random_state=0, n_jobs=t.n_jobs, **options)
    model.fit(t.rows(WELLS), **{k: t.rows(v) for k, v in (fitting or {}).items()})
    result = attributes(model, "rates_", "rate_errors_", "timescales_")
    return result | {"transform": np.abs(model.transform(points(2)))}


def geometry(t):
    """Return distances and other geometry of the Laplacian's spectrum."""
    found = ritz.decompose(ritz.laplacian(), given(GAUSSIAN), t.rows(X), 6, random_state=0)
    P, Q = points(2), points(2, 12)[5:10]
    distances, numbers = ritz.diffusion_neighbors(found, X, P, 0.2, 4)
    return {
        "map": np.abs(ritz.diffusion_map(found, P, 0.3)),
        "distance": ritz.diffusion_distance(found, P, Q, 0.3),
        "heat": ritz.heat_kernel(found, P, Q, 0.3),
        "metric": ritz.pullback_metric(found, P, 0.3),
        "neighbor distances": distances,
        "neighbors": numbers,
        "curvature": np.abs(found.partial(P, (2, 0))),
        "mixed": np.abs(found.partial(P, (1, 1))),
        "slice": np.abs(found[[1, 3]](P)),
    }


def network(t):
    """Train a small network for some steps; the order of rows decides its batches."""
    import torch

    from ritz.neural import SpectralNetwork, mlp

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        operator = ritz.laplacian(tangent=circle_frames)
        model = SpectralNetwork(
            lambda: mlp(2, (16,), 2),
            operator,
            2,
            mu=12.0,
            n_steps=30,
            batch_size=100,
            evaluate_every=10,
            random_state=0,
            progress=False,
        ).fit(samples("circle"))
        result = attributes(model, "eigenvalues_", "eigenvalue_errors_", "losses_")
        return result | {"transform": np.abs(model.transform(points(2)))}
    finally:
        torch.set_num_threads(threads)


EMBEDDINGS = {
    "auto": partial(embedding, X, n_components=3),
    "auto, exponential": partial(embedding, X, kernel="exponential"),
    "auto, half the centers": partial(embedding, LARGE, n_components=2),
    "auto, ten columns": partial(embedding, samples("columns"), n_components=3),
    "auto, matern": partial(embedding, X, kernel="matern32", n_components=3),
    "fixed": partial(embedding, X, n_components=3, **FIXED),
    "matern": partial(embedding, X, kernel="matern52", length_scale=0.9, n_centers=20),
    "kernel": partial(embedding, X, kernel=ritz.Matern(1.5, [1.0, 0.5]), n_centers=20),
    "polynomial": partial(embedding, X, kernel="polynomial", length_scale=1.0, n_centers=9),
    "neighbors": partial(embedding, MANY_BLOBS, operator="neighbors", n_components=3),
    "neighbors, fixed": partial(
        embedding, X, operator="neighbors", n_neighbors=5, n_components=3, **FIXED
    ),
    "form": partial(
        embedding,
        samples("circle"),
        operator=ritz.laplacian(tangent="pca", dimension=1),
        basis=ritz.Monomials(3),
    ),
    "basis": partial(embedding, X, basis=ritz.Monomials(4), n_components=4, mu="auto"),
    "weights": partial(embedding, X, fitting={"sample_weight": weights()}, **FIXED),
    "groups": partial(embedding, X, fitting={"groups": np.arange(300) // 20}, **FIXED),
    "diffusion time": partial(embedding, X, diffusion_time=0.3, mu=20.0, **FIXED),
    "float32": partial(embedding, X.astype(np.float32), **FIXED),
    "parts": partial(in_parts, X, n_components=3, basis=SECTIONS),
    "parts, kept first": partial(in_parts, samples("plane", 6000), n_components=3, **FIXED),
    "sums": from_sums,
}
CLUSTERS = {
    "three": partial(clusters, BLOBS, n_clusters=3, length_scale=0.6, n_centers=25),
    "auto": partial(clusters, BLOBS, n_clusters="auto", max_clusters=6),
    "auto, exponential": partial(
        clusters, BLOBS, n_clusters="auto", max_clusters=6, kernel="exponential"
    ),
    "six columns": partial(clusters, MANY_BLOBS, n_clusters=3),
    "six columns, auto": partial(clusters, MANY_BLOBS, n_clusters="auto", max_clusters=5),
    "weights": partial(clusters, BLOBS, weight=weights(), n_clusters=3),
}
SHARED = {
    "auto": partial(shared),
    "auto, exponential": partial(shared, kernel="exponential"),
    "regularized": partial(shared, regularization=1e-2, length_scale=0.5, n_centers=15),
    "linear": partial(shared, basis=ritz.Monomials(1), regularization=1e-3),
    "two bases": partial(shared, basis=(given(GAUSSIAN), ritz.Monomials(2)), regularization=1e-3),
    "one column": partial(shared, columns=1, n_components=1, kernel="exponential", n_centers=20),
    "groups": partial(shared, fitting={"groups": np.arange(300) // 20}, basis=ritz.Monomials(2)),
    "weights": partial(shared, fitting={"sample_weight": weights()}, basis=ritz.Monomials(2)),
}
MODES = {
    "auto": partial(modes),
    "auto, exponential": partial(modes, kernel="exponential"),
    "number": partial(modes, D=2.0, **FIXED),
    "matrix": partial(modes, D=[[1.0, 0.2], [0.2, 0.5]], **FIXED),
    "function": partial(modes, D=stiffness, **FIXED),
    "mobility": partial(modes, mobility=[1.0, 2.0], kT=0.6, n_modes=2, **FIXED),
    "weights": partial(modes, fitting={"sample_weight": weights()}, **FIXED),
    "groups": partial(modes, fitting={"groups": np.arange(300) // 20}, basis=ritz.Monomials(4)),
}
FAMILIES = {
    "embedding": EMBEDDINGS,
    "clustering": CLUSTERS,
    "shared": SHARED,
    "modes": MODES,
    "other": {"geometry": geometry, "network": network},
}
SECTIONS_OVERLAP = "100 and more wide sections, of which rounding decides the last ones"
LOOSE = {
    "embedding: float32": {"tolerance": 1e-3, "reason": "rows of float32"},
    "embedding: auto": {
        "tolerance": 1e-3,
        "loose": {"eigenvalues_": 1e-5, "score": 1e-5},
        "reason": SECTIONS_OVERLAP,
    },
    "embedding: auto, half the centers": {
        "tolerance": 4e-4,
        "loose": {"eigenvalues_": 4e-5, "score": 2e-5},
        "reason": SECTIONS_OVERLAP,
    },
    "embedding: auto, matern": {"tolerance": 2e-7, "reason": SECTIONS_OVERLAP},
    "embedding: auto, ten columns": {"tolerance": 2e-6, "reason": SECTIONS_OVERLAP},
    "embedding: neighbors": {"tolerance": 2e-7, "reason": SECTIONS_OVERLAP},
    "embedding: basis": {
        "loose": {"score": 4e-6},
        "reason": "the scale of the score comes from a fit with wide sections",
    },
    "clustering: auto": {"tolerance": 2e-4, "reason": SECTIONS_OVERLAP},
    "clustering: six columns": {"tolerance": 2e-7, "reason": SECTIONS_OVERLAP},
    "clustering: weights": {"tolerance": 2e-4, "reason": SECTIONS_OVERLAP},
    "shared: auto": {"tolerance": 4e-6, "loose": {"path_": 2e-3}, "reason": SECTIONS_OVERLAP},
    "shared: auto, exponential": {
        "loose": {"path_": 4e-6},
        "reason": "the least penalty of the path leaves correlations near rounding",
    },
    "modes: auto": {
        "tolerance": 2e-4,
        "loose": {"rates_": 2e-5, "timescales_": 2e-5},
        "reason": SECTIONS_OVERLAP,
    },
    "other: network": {
        "tolerance": 1e-3,
        "reason": "torch multiplies in float32, on other processors in another order",
    },
}
CASES = named(FAMILIES, LOOSE)
