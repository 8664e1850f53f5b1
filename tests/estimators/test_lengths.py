"""Length scales chosen from the data."""

import numpy as np
import pytest

import ritz
from ritz.estimators.defaults import auto_length_scale
from ritz.estimators.lengths import choose_length_scale
from ritz.kernels.distances import FEW


@pytest.mark.parametrize("n", [30, 500])
def test_equal_weights_of_any_size_give_the_same_quantile(n):
    """Weights that differ by rounding take the other way, by sorting."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    equal = auto_length_scale(X, np.ones(n), 0)
    nearly = np.ones(n)
    nearly[0] += 1e-12
    assert auto_length_scale(X, nearly, 0) == pytest.approx(equal, rel=1e-3)
    assert auto_length_scale(X, np.full(n, 3.0), 0) == equal


@pytest.mark.parametrize("form", [ritz.laplacian(), ritz.graph(ritz.Gaussian(0.5))])
def test_threads_do_not_change_the_energies(form):
    # Of so many columns that threads are worth it, two have a say.
    X = np.random.default_rng(0).normal(size=(300, FEW + 1))
    X[:, 2:] *= 0.01
    weight = np.ones(300)
    one, three = (
        choose_length_scale(form, ritz.Gaussian, 1.0, X, weight, 3, 0, 0.0, n_jobs)
        for n_jobs in (1, 3)
    )
    assert one == three
    assert len(one[1]) == 5
