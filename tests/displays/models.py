"""Small fitted estimators that the tests of pictures, faces and summaries share."""

from functools import cache

import numpy as np
import pandas as pd

import ritz

MOONS = ritz.datasets.half_moons(400, random_state=0)
FEW = dict(n_centers=60, random_state=0)


@cache
def embedding():
    return ritz.SpectralEmbedding(3, operator="laplacian", **FEW).fit(MOONS.X)


@cache
def table():
    """Return an estimator of columns with names and very different widths, and its rows."""
    rng = np.random.default_rng(0)
    columns = {"age": rng.normal(40, 10, 300), "income": rng.lognormal(10, 1, 300)}
    columns |= {"height": rng.normal(1.7, 0.1, 300), "weight": rng.normal(70, 9, 300)}
    frame = pd.DataFrame(columns)
    model = ritz.SpectralEmbedding(2, length_scale=2.0, regularization=1e-2, **FEW)
    return model.fit(frame), frame


@cache
def clusters():
    return ritz.SpectralClustering("auto", operator="laplacian", **FEW).fit(MOONS.X)


@cache
def modes():
    X = np.random.default_rng(0).normal(size=(500, 1))
    return ritz.DiffusionModes(2, **FEW).fit(X), X


@cache
def pair():
    X, Y = ritz.datasets.gaussian_pair(0.8).sample(600, random_state=0)
    return ritz.SingularEmbedding(2, random_state=0).fit(X, Y), X


@cache
def classifier():
    y = np.where(np.arange(400) < 20, MOONS.labels, -1)
    return ritz.LaplacianClassifier(n_components=10, **FEW).fit(MOONS.X, y)


def wave(X):
    return np.sin(X[:, 0]) * X[:, 1]


@cache
def regression():
    X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
    t = np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
    return ritz.HermiteRegressor(random_state=0).fit(X, wave(X), gradient=t)
