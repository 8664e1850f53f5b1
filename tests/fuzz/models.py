"""Entries of the estimators: their fits, and the methods of a fitted one."""

import inspect
import os
import tempfile

import numpy as np
import pandas as pd

import ritz
from tests.fuzz.entry import entry
from tests.fuzz.inputs import (
    ANY,
    AUTO,
    CHOICE,
    COUNT,
    FILE,
    FIXED_POINTS,
    LABELS,
    LENGTHS,
    NONNEGATIVE,
    OBJECT,
    POINTS,
    POSITIVE,
    ROWS_OF_ONE,
    Kind,
    optional,
)
from tests.fuzz.oracles import heavier, permuted, repeated


def model_parts(model, at):
    """Return the fitted numbers, and what the estimator says of points of the same dimension."""
    parts = {}
    for name in ("eigenvalues_", "rates_", "singular_values_"):
        if hasattr(model, name):
            parts["best estimates"] = getattr(model, name)
    if hasattr(getattr(model, "spectrum_", None), "ritz_values"):
        parts["values"] = model.spectrum_.ritz_values
    if at.shape[1] != model.n_features_in_:
        return parts
    if hasattr(model, "feature_names_in_"):
        at = pd.DataFrame(at, columns=model.feature_names_in_)
    if hasattr(model, "transform"):
        return parts | {"functions": model.transform(at)}
    if hasattr(model, "cluster_centers_"):
        return parts | {"labels": model.predict(at)}
    classifies = hasattr(model, "predict_proba")
    return parts | {"prediction": model.predict_proba(at) if classifies else model.predict(at)}


def file_parts(model, at):
    """Return what an estimator says after it was saved and read."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.ritz")
        return model_parts(ritz.load(f"{folder}/model.ritz"), at)


class Fitted(dict):
    """The arguments of a method; `before` are those of the fit before it."""

    def __init__(self, before, arguments):
        super().__init__(arguments)
        self.before = before

    def __or__(self, more):
        return Fitted(self.before, dict(self) | more)


def estimator_entries(cls, parameters, data, methods, twins=(permuted, heavier), name="", **kinds):
    """Add `fit`, `partial_fit` where there is one, and the methods of a fitted estimator."""
    name, own = name or cls.__name__, cls._get_param_names()
    more = {"keep_sums": True} if "keep_sums" in own else {}
    if "checkpoint" in inspect.signature(cls.fit).parameters:
        more["checkpoint"], kinds = None, kinds | {"checkpoint": FILE}

    def good(c):
        return more | parameters(c) | data(c) | {"at": c.points}

    def setup(a, fit=True):
        model = cls(**{key: a[key] for key in own})
        rest = {key: value for key, value in a.items() if key not in own and key != "at"}
        return model.fit(**rest) if fit else model

    def fit(model, at, method="fit", **a):
        model.set_params(**{key: a.pop(key) for key in own})
        return model_parts(getattr(model, method)(**a), at)

    entry(f"{name}.fit", fit, good, None, twins, setup, **kinds)
    if hasattr(cls, "partial_fit"):
        taken = {"at", *own, *inspect.signature(cls.partial_fit).parameters}

        def partial(c):
            return {key: value for key, value in good(c).items() if key in taken}

        def partial_fit(model, **a):
            return fit(model, method="partial_fit", **a)

        def fresh(a, fit=True):
            return setup(a, fit=False)

        entry(f"{name}.partial_fit", partial_fit, partial, None, (), fresh, **kinds)

    def summary(model):
        found = model.summary()
        return {"parts": [bool(found.chosen), bool(found.sure), bool(found.next)]}

    def nothing_more(c):
        return Fitted(good(c), {})

    def fitted(a, fit=True):
        return setup(a.before)

    def all_parts(a, result):
        return {"parts": [True] * 3}

    entry(f"{name}.summary", summary, nothing_more, all_parts, (), fitted)
    points = FIXED_POINTS.without("one row") | Kind(bad={"no rows": lambda X: X[:0]})

    if hasattr(cls, "save") and len(methods):

        def saved(c):
            return Fitted(good(c), {"at": c.points})

        entry(f"{name}.save", file_parts, saved, None, (), fitted, **kinds)
    for method, rest in methods.items():

        def call(model, method=method, **a):
            return getattr(model, method)(**a)

        def made(c, rest=rest):
            return Fitted(good(c), {"X": c.points} | rest(c))

        # `fit_predict` fits anew, to rows of any number of columns.
        fixed = {} if method == "fit_predict" else {"X": points}
        entry(f"{name}.{method}", call, made, None, (), fitted, **kinds | fixed)


def nothing(c):
    return {}


def to_file(c):
    suffix = c.one_of("csv", "parquet", "feather")
    return dict(path=os.path.join(tempfile.gettempdir(), f"values.{suffix}"), keep=())


def rows(c):
    return dict(X=c.X, y=None, sample_weight=c.weights, groups=c.groups)


def other_rows(c):
    return dict(X=c.Y, y=None, sample_weight=None)


def values_of(X):
    return np.sin(X).sum(axis=1)


def other_values(c):
    return dict(y=values_of(c.points), sample_weight=None)


def metric(c):
    # In one column all rows of length 1 are one or two.
    return c.one_of("euclidean", "cosine") if c.X.shape[1] > 1 else "euclidean"


BASIS = dict(kernel="gaussian", length_scale="auto", n_centers=12, basis=None)
BASIS |= dict(regularization="auto", n_folds=3, random_state=0, n_jobs=1, verbose=None)
KERNEL_KINDS = dict(
    kernel=CHOICE,
    length_scale=LENGTHS | AUTO,
    n_centers=COUNT | AUTO,
    regularization=NONNEGATIVE | AUTO,
)
BASIS_KINDS = KERNEL_KINDS | dict(basis=optional(OBJECT))

estimator_entries(
    ritz.SpectralEmbedding,
    lambda c: (
        BASIS
        | dict(n_components=2, operator=c.one_of("auto", "laplacian", "neighbors"), n_neighbors=4)
        | dict(scale=c.one_of("auto", "standard", None), metric=metric(c))
        | dict(diffusion_time=c.one_of(None, 0.5), mu="auto")
    ),
    rows,
    dict(transform=nothing, transform_to=to_file, score=other_rows),
    (permuted, repeated, heavier),
    y=ANY,
    diffusion_time=optional(NONNEGATIVE),
    scale=optional(CHOICE),
    **BASIS_KINDS,
)
entry(
    "SpectralEmbedding.fit_sums",
    lambda model, sums, at: model_parts(model.fit_sums(sums), at),
    lambda c: dict(sums=c.sums(), at=c.points),
    setup=lambda a, fit=True: ritz.SpectralEmbedding(1),
)
estimator_entries(
    ritz.DiffusionModes,
    lambda c: (
        BASIS | dict(n_modes=2, D=None, lag=None, dt=1.0, mobility=c.one_of(None, 2.0), kT=0.5)
    ),
    rows,
    dict(transform=nothing, transform_to=to_file),
    (permuted, repeated, heavier),
    y=ANY,
    mobility=optional(POSITIVE).without("[1.0, 2.0]", "array([0., 1., 2.])", "0.0"),
    **BASIS_KINDS,
)
estimator_entries(
    ritz.DiffusionModes,
    lambda c: BASIS | dict(n_modes=2, D="displacements", lag=2, dt=0.5, mobility=None, kT=1.0),
    lambda c: rows(c) | dict(groups=None),
    {},
    (heavier,),
    "DiffusionModes.of_trajectories",
    y=ANY,
    D=CHOICE.without("3", "None", "['a']", "{}"),
    mobility=ANY,
    kT=ANY,
    **BASIS_KINDS,
)
estimator_entries(
    ritz.SpectralClustering,
    lambda c: (
        BASIS
        | dict(n_clusters=2, max_clusters=4, operator="auto", scale="auto", n_neighbors=4)
        | dict(metric=metric(c))
    ),
    lambda c: dict(X=c.X, y=None, sample_weight=c.weights),
    dict(predict=nothing, predict_proba=nothing, predict_to=to_file, fit_predict=other_rows),
    y=ANY,
    n_clusters=COUNT | AUTO,
    scale=optional(CHOICE),
    **BASIS_KINDS,
)
estimator_entries(
    ritz.SingularEmbedding,
    lambda c: BASIS | dict(n_components=2),
    lambda c: rows(c) | dict(y=c.Y),
    dict(
        transform=lambda c: dict(y=c.points),
        transform_to=to_file,
        score=lambda c: dict(y=c.points, sample_weight=None),
    ),
    y=POINTS.without("one axis", "one row", "3.0", "None"),
    **BASIS_KINDS,
)


def some_known(c):
    y = values_of(c.X)
    y[c.rng.random(c.n) < 0.3] = np.nan
    return dict(X=c.X, y=y, sample_weight=c.weights)


LABELED = BASIS | dict(smoothness="auto", n_components=5, operator="auto", n_neighbors=3)
LABELED |= dict(scale="auto", metric="euclidean")
LABELED_KINDS = BASIS_KINDS | dict(smoothness=NONNEGATIVE | AUTO, scale=optional(CHOICE))
estimator_entries(
    ritz.LaplacianRegressor,
    lambda c: LABELED,
    some_known,
    dict(predict=nothing, predict_to=to_file, score=other_values),
    **LABELED_KINDS,
)
estimator_entries(
    ritz.LaplacianClassifier,
    lambda c: LABELED | dict(unlabeled=-1),
    lambda c: dict(X=c.X, y=(c.X[:, 0] > 0).astype(int), sample_weight=c.weights),
    dict(
        predict=nothing,
        predict_to=to_file,
        predict_proba=nothing,
        score=lambda c: dict(y=(c.points[:, 0] > 0).astype(int), sample_weight=None),
    ),
    y=LABELS,
    **LABELED_KINDS,
)
GRADIENT = ("inf", "words", "complex", "3.0", "dates")
estimator_entries(
    ritz.HermiteRegressor,
    lambda c: (
        dict(kernel=c.one_of("gaussian", "matern52"), length_scale=c.one_of("auto", 1.5))
        # With fewer functions than numbers, ties between functions are decided by rounding.
        | dict(n_centers="auto", gradient_weight="auto", regularization=c.one_of("auto", 1e-6))
        | dict(random_state=0, centers=None, constant=True, n_folds=3, n_jobs=1, verbose=None)
        | dict(solver=c.one_of("auto", "qr", "sums"))
    ),
    lambda c: (
        dict(X=c.X, y=values_of(c.X), sample_weight=c.weights)
        | dict(gradient=c.one_of(None, np.cos(c.X)), directions=None, gradient_sample_weight=None)
    ),
    dict(
        predict=lambda c: dict(return_std=c.one_of(True, False)),
        predict_to=to_file,
        predict_gradient=nothing,
        score=other_values,
    ),
    (permuted,),
    **KERNEL_KINDS
    | dict(n_centers=(COUNT | AUTO).without("1"), centers=ANY, X=ROWS_OF_ONE)
    | dict(gradient=Kind(bad={label: POINTS.bad[label] for label in GRADIENT}))
    | dict(gradient_weight=NONNEGATIVE | AUTO),
)
