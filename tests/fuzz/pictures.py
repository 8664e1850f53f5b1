"""Entries of pictures and reports: their numbers are those of what they draw."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import ritz
from tests.fuzz.entry import entry
from tests.fuzz.inputs import (
    COUNT,
    FIXED_POINTS,
    GROUPS,
    NONNEGATIVE,
    OBJECT,
    TARGETS,
    Kind,
    constants,
    optional,
)

RESOLUTION = Kind(bad=constants(0, 1, None, "words", 1.5))
PAIR = Kind(bad=constants("no such", 3, object(), (0, 9), (0,), (0, 0)))
ROWS = FIXED_POINTS.without("one row") | Kind(bad={"no rows": lambda X: X[:0]})


def drawn(make, numbers):
    """Return a call that draws, closes the figure, and returns numbers of the display."""

    def call(**a):
        try:
            return numbers(make(**a))
        finally:
            pyplot.close("all")

    return call


def in_the_plane(c):
    X = c.normal(60, 2)
    return ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 3, random_state=0)


def functions_there(a, result):
    return {"values": np.abs(a["spectrum"](a["X"]))}


entry(
    "EigenfunctionDisplay.from_spectrum",
    drawn(ritz.EigenfunctionDisplay.from_spectrum, lambda shown: {"values": np.abs(shown.values)}),
    lambda c: dict(
        spectrum=in_the_plane(c),
        X=c.normal(20, 2),
        n_functions=3,
        coordinates=None,
        columns=2,
        resolution=6,
        n_points=50,
    ),
    functions_there,
    X=ROWS,
    coordinates=PAIR,
    n_functions=optional(COUNT).without("1"),
    n_points=COUNT.without("1"),
    resolution=RESOLUTION,
)
entry(
    "EmbeddingDisplay.from_spectrum",
    drawn(ritz.EmbeddingDisplay.from_spectrum, lambda shown: {"0": np.abs(shown.embedding)}),
    lambda c: dict(
        spectrum=in_the_plane(c),
        X=c.normal(20, 2),
        color=c.one_of(np.arange(20) % 3, c.normal(20)),
        components=(1, 2),
        n_points=50,
    ),
    lambda a, result: {"0": np.abs(a["spectrum"](a["X"])[:, 1:])},
    X=ROWS,
    color=GROUPS.without("words", "one", "own", "3.0"),
    components=PAIR | Kind(bad=constants(None)),
    n_points=COUNT.without("1"),
)
entry(
    "SpectrumDisplay.from_spectrum",
    drawn(ritz.SpectrumDisplay.from_spectrum, lambda shown: {"values": shown.values}),
    lambda c: dict(spectrum=in_the_plane(c), n_functions=2),
    lambda a, result: {"values": a["spectrum"].values[:2]},
    n_functions=optional(COUNT),
)


@cache
def comparison():
    X = np.random.default_rng(0).normal(size=(150, 2))
    bases = [ritz.Nystrom(ritz.Gaussian(length), 8) for length in (1.0, 2.0)]
    return ritz.select(ritz.laplacian(), X, 2, bases, random_state=0)


entry(
    "SelectionDisplay.from_selection",
    drawn(ritz.SelectionDisplay.from_selection, lambda shown: {"0": len(shown.figure_.axes)}),
    lambda c: dict(selection=comparison()),
    lambda a, result: {"0": 1},
    selection=OBJECT,
)


def clusters(c):
    X = np.vstack([c.normal(20, 2), 9 + c.normal(20, 2)])
    model = ritz.SpectralClustering(2, n_centers=10, length_scale=3.0, operator="laplacian")
    return dict(estimator=model.fit(X), X=X, coordinates=None, resolution=6, n_points=50)


entry(
    "ClusterDisplay.from_estimator",
    drawn(ritz.ClusterDisplay.from_estimator, lambda shown: {"shares": np.sort(shown.shares)}),
    clusters,
    lambda a, result: {"shares": np.full(2, 0.5)},
    X=ROWS,
    estimator=OBJECT,
    coordinates=PAIR,
    n_points=COUNT.without("1"),
    resolution=RESOLUTION,
)


def regression(c):
    X = c.normal(40, 2)
    y = np.sin(X).sum(axis=1)
    model = ritz.HermiteRegressor(length_scale=2.0, random_state=0).fit(X[:20], y[:20])
    return dict(estimator=model, X=X[20:], y=y[20:], output=0, noise=0.1, n_points=50)


def predicted(a, result):
    mean, deviation = a["estimator"].predict(a["X"], return_std=True)
    return {"0": mean, "1": np.hypot(deviation, a["noise"])}


entry(
    "CalibrationDisplay.from_estimator",
    drawn(
        ritz.CalibrationDisplay.from_estimator,
        lambda shown: (shown.predictions, shown.deviations),
    ),
    regression,
    predicted,
    X=ROWS,
    y=TARGETS.without("NaN", "masked"),
    estimator=OBJECT,
    output=Kind(bad=constants(-1, 1, 1.5, "words", None)),
    noise=NONNEGATIVE,
    n_points=COUNT.without("1"),
)


def reported(**a):
    with tempfile.TemporaryDirectory() as folder:
        path = a.pop("path")
        path = path if not isinstance(path, str) else Path(folder) / path
        html = ritz.report(path=path, **a).read_text("utf-8")
    return {"0": [f"<td>{value:.6g}</td>" in html for value in a["model"].values]}


entry(
    "report",
    reported,
    lambda c: dict(
        model=in_the_plane(c)[1:], X=c.normal(20, 2), path="page.html", y=c.normal(20), n_points=9
    ),
    lambda a, result: {"0": [1, 1]},
    X=ROWS,
    model=OBJECT,
    path=Kind(bad=constants(3, None, object())),
    y=GROUPS.without("words", "one", "own", "3.0"),
    n_points=COUNT.without("1"),
)
