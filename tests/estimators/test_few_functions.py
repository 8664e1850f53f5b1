"""Estimators that are asked for more functions than there are find all of them and say so."""

import numpy as np
import pytest
from sklearn.base import clone

import ritz
from tests.bad_input import X, Y

# Of polynomials of degree 2 in two columns, five are not constant.
QUADRATIC = ritz.Monomials(2)
MODELS = {
    "eigenvalues_": ritz.SpectralEmbedding(9, basis=QUADRATIC, diffusion_time=0.1),
    "rates_": ritz.DiffusionModes(9, basis=QUADRATIC),
    "singular_values_": ritz.SingularEmbedding(9, basis=QUADRATIC),
}


def fitted(model):
    expected = r"Only 5 of 9 functions.*Lower n_(components|modes)"
    with pytest.warns(UserWarning, match=expected) as warned:
        result = clone(model).fit(X, Y)
    # The warning points to the line that called fit.
    assert warned[0].filename == __file__
    return result


@pytest.mark.parametrize("values", MODELS)
def test_attributes_and_output_have_the_number_found(values):
    model = fitted(MODELS[values])
    assert getattr(model, values).shape == (5,)
    assert model.transform(X).shape == (len(X), 5)
    names = model.get_feature_names_out()
    assert len(names) == 5
    frame = model.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(names)


@pytest.mark.parametrize("values", MODELS)
def test_they_are_those_of_a_fit_that_asks_for_as_many(values):
    model = MODELS[values]
    name = "n_modes" if values == "rates_" else "n_components"
    five = clone(model).set_params(**{name: 5}).fit(X, Y)
    few = fitted(model)
    np.testing.assert_allclose(getattr(few, values), getattr(five, values), rtol=1e-12)
    np.testing.assert_allclose(few.transform(X), five.transform(X), rtol=1e-7, atol=1e-9)


def test_both_views_and_held_out_correlations_have_the_number_found():
    model = fitted(MODELS["singular_values_"])
    left, right = model.transform(X, Y)
    assert left.shape == right.shape == (len(X), 5)
    assert model.held_out_values_.shape == model.singular_value_errors_.shape == (5,)
    assert np.isfinite(model.score(X, Y))


def test_functions_that_were_not_found_add_nothing_to_the_score():
    five = ritz.SpectralEmbedding(5, basis=QUADRATIC, mu=20.0).fit(X)
    few = fitted(ritz.SpectralEmbedding(9, basis=QUADRATIC, mu=20.0))
    assert few.score(X) == pytest.approx(five.score(X))


def test_partial_fit_warns_and_goes_on():
    model = ritz.SpectralEmbedding(9, basis=QUADRATIC)
    for part in np.array_split(X, 3):
        with pytest.warns(UserWarning, match="Only 5 of 9"):
            model.partial_fit(part)
    assert model.transform(X).shape == (len(X), 5)


def test_a_view_with_two_values_has_one_pair_of_functions():
    model = ritz.SingularEmbedding(3, random_state=0)
    with pytest.warns(UserWarning, match="Only 1 of 3 functions"):
        model.fit(X, (X[:, 0] > 0).astype(float))
    assert model.transform(X).shape == (len(X), 1)
