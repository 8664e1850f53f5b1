"""Pictures of a spectrum: their panels, and errors that name the argument."""

import numpy as np
import pytest

import ritz
from ritz.report import level_lines

X = np.random.default_rng(0).normal(size=(100, 2))
SPECTRUM = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 3, random_state=0)


def test_each_function_has_a_panel():
    figure = level_lines(SPECTRUM, X, columns=2.0, resolution=8)
    titles = [axes.get_title() for axes in figure.axes]
    assert sum(bool(title) for title in titles) == len(SPECTRUM)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spectrum", None),
        ("X", X[:0]),
        ("columns", 0),
        ("columns", "two"),
        ("resolution", 1),
        ("n_points", None),
    ],
)
def test_errors_name_the_argument(name, value):
    arguments = {"spectrum": SPECTRUM, "X": X, "resolution": 8} | {name: value}
    with pytest.raises((ValueError, TypeError), match=f"The '{name}' parameter"):
        level_lines(**arguments)
