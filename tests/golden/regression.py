"""Golden cases of regression on values and gradients, and of learning from few labels."""

from functools import partial

import numpy as np

import ritz
from tests.golden.case import Trial, attributes, named
from tests.golden.data import labels, normal, points, samples, weights

BLOBS, MANY_BLOBS, WELLS = samples("blobs"), samples("many blobs"), samples("wells")
FIXED = {"length_scale": 0.5, "n_centers": 20}


def few_labels(rows, t, *, weight=None, names=None, **options):
    """Classify from some labels."""
    y = np.where(np.arange(len(rows)) < 20, labels(len(rows)), -1)
    if names is not None:
        y = np.append(names, "?")[y]
    model = ritz.LaplacianClassifier(random_state=0, n_jobs=t.n_jobs, **options)
    model.fit(t.rows(rows), t.rows(y), sample_weight=None if weight is None else t.rows(weight))
    new = rows[:30] + 0.1
    return attributes(model, "eigenvalues_", "smoothness_", "intercept_") | {
        "coef_": np.abs(model.coef_),
        "path": model.path_.errors,
        "shares": model.predict_proba(new),
        "classes": np.searchsorted(model.classes_, model.predict(new)),
        "score": model.score(rows, labels(len(rows))) if names is None else 0.0,
    }


def few_targets(rows, t, *, outputs=1, **options):
    """Regress on some targets."""
    y = np.stack([np.sin(2 * rows[:, 0]), rows[:, 1] ** 2], axis=1)
    y += 0.05 * normal(40, len(rows), 2)
    y[30:] = np.nan
    y = y[:, 0] if outputs == 1 else y
    model = ritz.LaplacianRegressor(random_state=0, n_jobs=t.n_jobs, **options)
    model.fit(t.rows(rows), t.rows(y))
    return attributes(model, "eigenvalues_", "smoothness_", "intercept_") | {
        "coef_": np.abs(model.coef_),
        "path": model.path_.errors,
        "predict": model.predict(points(2, 20)),
        "score": model.score(rows, y),
    }


def surface(x):
    """Return values (n,) and gradients (n, 2) of a smooth function."""
    a, b = x.T
    value = np.sin(1.5 * a) * b + 0.3 * b**2
    return value, np.stack([1.5 * np.cos(1.5 * a) * b, np.sin(1.5 * a) + 0.6 * b], axis=1)


def observations(n, noise=0.02):
    """Return rows, noisy values and noisy gradients."""
    rows = np.random.default_rng(41).uniform(-1.5, 1.5, size=(n, 2))
    value, slope = surface(rows)
    return rows, value + noise * normal(42, n), slope + noise * normal(43, n, 2)


def regression(n, t, *, kind="values and gradients", parts=1, noise=0.02, exact=False, **options):
    """Fit values and gradients; in an exact fit rounding decides all but the predictions."""
    rows, y, slope = observations(n, noise)
    fitting = {"gradient": slope}
    if kind == "values":
        fitting = {}
    elif kind == "gradients":
        y = None
    elif kind == "some gradients":
        slope[::3] = np.nan
        slope[1::5, 0] = np.nan
        y[::4] = np.nan
    elif kind == "directions":
        U = normal(44, n, 2)
        fitting = {"gradient": (slope * U).sum(axis=1), "directions": U}
    elif kind == "two directions":
        U = normal(45, n, 2, 2)
        fitting = {"gradient": np.einsum("ni,nir->nr", slope, U), "directions": U}
    elif kind == "weights":
        fitting |= {"sample_weight": weights(n), "gradient_sample_weight": weights(n)[::-1]}
    elif kind == "outputs":
        y = np.stack([y, y**2], axis=1)
        fitting = {"gradient": np.stack([slope, 2 * y[:, :1] * slope], axis=2)}
    elif kind == "float32":
        rows = rows.astype(np.float32)
    if "n_centers" in options and options["solver"] == "qr":
        # Functions are chosen by pivots that begin with the first row.
        t = Trial(n_jobs=t.n_jobs)
    model = ritz.HermiteRegressor(random_state=0, n_jobs=t.n_jobs, **options)
    for part in np.array_split(np.arange(n), parts):
        some = {name: t.rows(value[part]) for name, value in fitting.items()}
        fit = model.fit if parts == 1 else model.partial_fit
        fit(t.rows(rows[part]), None if y is None else t.rows(y[part]), **some)
    new = points(2, 12)
    values, deviations = model.predict(new, return_std=True)
    result = {"values": values, "gradients": model.predict_gradient(new)}
    if not exact:
        names = ("length_scale_", "gradient_weight_", "regularization_")
        result |= attributes(model, *names) | {"deviations": deviations}
        result["least error"] = None if model.path_ is None else model.path_.errors.min()
    return result


LABELS = {
    "classifier": partial(few_labels, BLOBS, n_components=20),
    "classifier, fixed": partial(few_labels, BLOBS, smoothness=0.1, n_components=10, **FIXED),
    "classifier, names": partial(
        few_labels, BLOBS, names=["a", "b", "c"], unlabeled="?", n_components=20, **FIXED
    ),
    "classifier, laplacian": partial(
        few_labels, BLOBS, operator="laplacian", n_components=15, weight=weights(), **FIXED
    ),
    "classifier, six columns": partial(few_labels, MANY_BLOBS, n_components=20),
    "regressor": partial(few_targets, WELLS, n_components=20),
    "regressor, fixed": partial(few_targets, WELLS, smoothness=1e-3, n_components=10, **FIXED),
    "regressor, outputs": partial(few_targets, WELLS, outputs=2, n_components=15, **FIXED),
}
QR = {"solver": "qr", "length_scale": [1.2, 1.5], "gradient_weight": 0.5, "regularization": 1e-3}
SUMS = QR | {"solver": "sums", "n_centers": 20}
REGRESSIONS = {
    "qr": partial(regression, 20, **QR),
    "qr, values": partial(regression, 30, kind="values", **QR),
    "qr, gradients": partial(regression, 20, kind="gradients", **QR),
    "qr, some gradients": partial(regression, 25, kind="some gradients", **QR),
    "qr, directions": partial(regression, 25, kind="directions", **QR),
    "qr, two directions": partial(regression, 25, kind="two directions", **QR),
    "qr, weights": partial(regression, 25, kind="weights", **QR),
    "qr, outputs": partial(regression, 20, kind="outputs", **QR),
    "qr, float32": partial(regression, 20, kind="float32", **QR),
    "qr, no constant": partial(regression, 20, constant=False, **QR),
    "qr, few functions": partial(regression, 30, n_centers=25, **QR),
    "qr, given centers": partial(regression, 30, centers=2 * points(2, 15), **QR),
    "qr, matern": partial(regression, 20, kernel="matern52", **QR),
    "qr, matern 3/2": partial(regression, 20, kernel="matern32", **QR),
    "qr, rational quadratic": partial(regression, 20, kernel="rational_quadratic", **QR),
    "qr, exponential": partial(regression, 30, kind="values", kernel="exponential", **QR),
    "qr, kernel": partial(
        regression, 20, kernel=ritz.Gaussian(1.3), **(QR | {"length_scale": "auto"})
    ),
    "qr, weights chosen": partial(
        regression, 30, **(QR | {"gradient_weight": "auto", "regularization": "auto"})
    ),
    "auto": partial(regression, 20, noise=0.1),
    "auto, exact": partial(regression, 20, noise=0.0, exact=True),
    "auto, exact values": partial(regression, 20, kind="values", noise=0.0, exact=True),
    "auto, values": partial(regression, 60, kind="values", noise=0.1),
    "auto, matern": partial(regression, 20, noise=0.1, kernel="matern52"),
    "sums": partial(regression, 150, **SUMS),
    "sums, values": partial(regression, 150, kind="values", **SUMS),
    "sums, some gradients": partial(regression, 150, kind="some gradients", **SUMS),
    "sums, directions": partial(regression, 150, kind="directions", **SUMS),
    "sums, weights": partial(regression, 150, kind="weights", **SUMS),
    "sums, outputs": partial(regression, 150, kind="outputs", **SUMS),
    "sums, weights chosen": partial(
        regression, 200, **(SUMS | {"gradient_weight": "auto", "regularization": "auto"})
    ),
    "sums, given centers": partial(
        regression, 150, centers=2 * points(2, 15), **(SUMS | {"n_centers": "auto"})
    ),
    "parts": partial(regression, 150, parts=3, **SUMS),
    "parts, weights chosen": partial(
        regression, 200, parts=3, **(SUMS | {"gradient_weight": "auto", "regularization": "auto"})
    ),
    "parts, gradients": partial(regression, 150, kind="gradients", parts=3, **SUMS),
}
SMALL_PENALTY = "errors of rows left out, where a tiny penalty leaves differences near rounding"
# Reversed rows and the BLAS of other processors move cases of labels that choose their basis by up
# to about a third of what is allowed.
SECTIONS_OVERLAP = "100 and more wide sections, of which rounding decides the last ones"
QR_ROUNDING = "derivatives of a function whose coefficients are large and cancel"
LOOSE = {
    "labels: classifier": {
        "tolerance": 4e-5,
        "loose": {"eigenvalues_": 4e-4, "coef_": 6e-5, "path": 2e-4},
        "reason": SECTIONS_OVERLAP,
    },
    "labels: classifier, names": {"loose": {"path": 1e-4}, "reason": SMALL_PENALTY},
    "labels: classifier, six columns": {
        "tolerance": 4e-7,
        "loose": {"path": 5e-6},
        "reason": SMALL_PENALTY,
    },
    "labels: regressor": {
        "tolerance": 4e-5,
        "loose": {"eigenvalues_": 4e-4, "coef_": 6e-4, "path": 4e-4, "predict": 4e-4},
        "reason": SECTIONS_OVERLAP,
    },
    "hermite: auto, exact": {
        "tolerance": 3e-4,
        "loose": {"gradients": 4e-3},
        "reason": "without noise the length scales are those at which rounding begins",
    },
    "hermite: auto, exact values": {
        "tolerance": 1e-4,
        "reason": "without noise the penalty is near rounding",
    },
    "hermite: qr, two directions": {"tolerance": 2e-8, "reason": QR_ROUNDING},
    "hermite: qr, kernel": {"tolerance": 2e-8, "reason": QR_ROUNDING},
    "hermite: qr, weights chosen": {"tolerance": 2e-8, "reason": QR_ROUNDING},
    "hermite: parts, weights chosen": {
        "tolerance": 2e-8,
        "reason": "sums of products square the condition number",
    },
}
FAMILIES = {"labels": LABELS, "hermite": REGRESSIONS}
CASES = named(FAMILIES, LOOSE)
