"""Values of combinations at a row do not depend on the other rows, to the last bit."""

import numpy as np
import pytest

import ritz
from ritz.bases import Combination
from ritz.rows import EQUAL_ROWS, equal_products, in_equal_parts

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kernel", [ritz.Gaussian(4.0), ritz.Matern(2.5, 4.0)])
@pytest.mark.parametrize(("d", "p", "k"), [(3, 700, 20), (50, 700, 20), (200, 80, 7), (40, 463, 1)])
def test_a_row_alone_and_among_others(kernel, d, p, k):
    X, A = RNG.normal(size=(300, d)), RNG.normal(size=(p, k))
    sections = ritz.KernelSections(kernel, RNG.normal(size=(p, d)))
    functions = Combination(sections, A, RNG.normal(size=k))
    values = functions(X)
    np.testing.assert_allclose(values, sections(X) @ A + functions.constants, rtol=1e-9, atol=1e-9)
    for some in (slice(0, 1), slice(5, 6), slice(24, 73), slice(3, 300), slice(299, 300)):
        np.testing.assert_array_equal(functions(X[some]), values[some])


@pytest.mark.parametrize("n", [0, 1, 23, 24, 25, 72])
def test_parts_of_equal_size_are_put_together_again(n):
    X, W = RNG.normal(size=(n, 5)), RNG.normal(size=(5, 3))
    sizes = []

    def double(part):
        sizes.append(len(part))
        return 2 * part

    if n:
        np.testing.assert_array_equal(in_equal_parts(double, X), 2 * X)
        assert set(sizes) == {EQUAL_ROWS}
    np.testing.assert_allclose(equal_products(X, W), X @ W, rtol=1e-12)
