"""What users of HermiteRegressor see: units, missing parts, warnings, error bars, bad input."""

import pickle
import warnings

import numpy as np
import pytest

import ritz
from benchmarks.surfaces import WING_WEIGHT
from ritz.hermite.audit import varying_directions
from ritz.hermite.passes import cap_of

RNG = np.random.default_rng(0)


def hermite(*arguments, **options):
    return ritz.HermiteRegressor(*arguments, **{"random_state": 0, **options})


def branin(X):
    """Return Branin's function and its gradient."""
    a, b = X.T
    inner = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    c = 10 * (1 - 1 / (8 * np.pi))
    y = inner**2 + c * np.cos(a) + 10
    slope = 2 * inner * (-5.1 / (2 * np.pi**2) * a + 5 / np.pi) - c * np.sin(a)
    return y, np.column_stack([slope, 2 * inner])


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-5, 10, n), rng.uniform(0, 15, n)])
    return (X, *branin(X))


TEST = sample(500, 99)


def error(model):
    return np.sqrt(np.mean((model.predict(TEST[0]) - TEST[1]) ** 2)) / TEST[1].std()


def test_gradients_help():
    X, y, t = sample(30)
    plain, both = (hermite().fit(X, y, g) for g in (None, t))
    assert error(both) < 2e-3
    assert error(both) < error(plain) / 10
    slopes = both.predict_gradient(TEST[0])
    assert np.sqrt(np.mean((slopes - TEST[2]) ** 2) / np.mean(TEST[2] ** 2)) < 1e-2
    assert both.score(TEST[0], TEST[1]) > 0.99999
    assert both.residual_ < 1e-10


def test_columns_that_hardly_matter_do_not_spoil_the_other_lengths():
    """Two lengths of wing weight are far beyond the data; bounds on them spoil all others."""
    X = WING_WEIGHT.sobol(30, seed=4)
    model = hermite().fit(X, WING_WEIGHT.value(X), WING_WEIGHT.gradient(X))
    Z = WING_WEIGHT.latin_hypercube(1000, seed=1)
    y = WING_WEIGHT.value(Z)
    assert np.sqrt(np.mean((model.predict(Z) - y) ** 2)) < 2.7e-3 * y.std()


def test_predicted_gradients_are_those_of_the_prediction():
    X, y, t = sample(40)
    for solver in ("qr", "sums"):
        model = hermite(solver=solver).fit(X, y, t)
        h = 1e-2
        slopes = np.column_stack(
            [(model.predict(X + e) - model.predict(X - e)) / (2 * h) for e in h * np.eye(2)]
        )
        np.testing.assert_allclose(model.predict_gradient(X), slopes, rtol=1e-4, atol=1e-2)


def test_units_do_not_matter():
    """Meters for millimeters: gradients follow by the chain rule, and nothing else changes."""
    X, y, t = sample(40)
    scale, shift = np.array([1e3, 1e-2]), np.array([7.0, -3.0])
    one = hermite(random_state=0).fit(X, y, t)
    other = hermite(random_state=0).fit(X * scale + shift, 50 * y + 3, 50 * t / scale)
    # With hardly any penalty, rounding has some effect.
    scaled = other.predict(TEST[0] * scale + shift)
    np.testing.assert_allclose((scaled - 3) / 50, one.predict(TEST[0]), rtol=1e-2, atol=1e-1)
    # A length far beyond the data is determined roughly.
    np.testing.assert_allclose(other.length_scale_, one.length_scale_ * scale, rtol=0.5)


def test_a_constant_is_learned_exactly():
    """The paper's figure: a Gaussian kernel cannot learn a constant without help."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    y, t = np.ones(1000), np.zeros((1000, 2))
    points = np.random.default_rng(1).uniform(-1, 1, size=(500, 2))

    def miss(gradient, constant):
        model = hermite(
            length_scale=0.1,
            n_centers=100,
            constant=constant,
            gradient_weight=1.0,
            regularization=1e-6,
        ).fit(X, y, gradient)
        return np.sqrt(np.mean((model.predict(points) - 1) ** 2))

    assert miss(None, True) < 1e-10
    assert miss(t, True) < 1e-10
    # The Gaussian kernel alone, with few centers.
    assert miss(None, False) > 1e-2


@pytest.mark.parametrize("solver", ["qr", "sums"])
def test_missing_parts(solver):
    X, y, t = sample(80)
    some = t.copy()
    some[RNG.random(t.shape) < 0.4] = np.nan
    few = y.copy()
    few[10:] = np.nan
    whole = hermite(solver=solver).fit(X, y, t)
    partly = hermite(solver=solver).fit(X, y, some)
    rows = hermite(solver=solver).fit(X, few, t)
    none = hermite(solver=solver).fit(X, y)
    assert max(error(model) for model in (whole, partly, rows)) < 5e-3
    if solver == "qr":
        assert error(whole) < error(none)
        assert error(partly) < error(none)


def test_a_coordinate_never_observed():
    X, y, t = sample(60)
    t[:, 1] = np.nan
    model = hermite().fit(X, y, t)
    assert error(model) < error(hermite().fit(X, y))
    assert np.isnan(model.gradient_audit_.factors).tolist() == [False, True]


@pytest.mark.parametrize("solver", ["qr", "sums"])
def test_gradients_alone_have_mean_zero(solver):
    X, y, t = sample(80)
    model = hermite(solver=solver).fit(X, None, t)
    assert abs(model.predict(X).mean()) < 1e-5
    rest = model.predict(TEST[0]) - TEST[1]
    assert rest.std() / TEST[1].std() < 1e-2
    # The constant is unknown, so deviations are those of the difference from the mean.
    assert model.predict(X, return_std=True)[1].max() < 0.1 * y.std()
    # One value fixes the constant.
    y[1:] = np.nan
    fixed = hermite(solver=solver).fit(X, y, t)
    assert error(fixed) < 1e-2


@pytest.mark.parametrize("solver", ["qr", "sums"])
def test_directional_derivatives(solver):
    X, y, t = sample(80)
    axes = np.tile(np.eye(2) * [3.0, 0.5], (80, 1, 1))
    options = {"gradient_weight": 1.0, "regularization": 1e-6, "length_scale": 3.0}
    as_gradient = hermite(solver=solver, **options).fit(X, y, t)
    along = np.einsum("nd,ndr->nr", t, axes)
    as_directions = hermite(solver=solver, **options).fit(X, y, along, directions=axes)
    np.testing.assert_allclose(
        as_gradient.predict(TEST[0]), as_directions.predict(TEST[0]), rtol=1e-5, atol=1e-4
    )
    u = np.random.default_rng(0).normal(size=(80, 2))
    one = hermite(solver=solver, random_state=0)
    one.fit(X, y, (t * u).sum(axis=1), directions=u)
    assert error(one) < 1e-3
    if solver == "qr":
        # The functions include sections of derivatives.
        assert error(one) < error(hermite(random_state=0).fit(X, y))


def test_several_outputs():
    X, y, t = sample(50)
    Y, T = np.column_stack([y, -2 * y]), np.stack([t, -2 * t], axis=2)
    model = hermite().fit(X, Y, T)
    assert model.predict(X).shape == (50, 2)
    assert model.predict_gradient(X).shape == (50, 2, 2)
    one, other = model.predict(TEST[0]).T
    np.testing.assert_allclose(other, -2 * one, rtol=0, atol=1e-6 * np.abs(one).max())
    values, deviations = model.predict(TEST[0], return_std=True)
    assert values.shape == deviations.shape == (500, 2)


def test_noise_of_values_and_gradients_apart():
    """Noisy gradients beside clean values get little weight, and the other way round."""
    X, y, t = sample(150)
    rng = np.random.default_rng(1)
    noisy_t = t + 30 * rng.normal(size=t.shape)
    noisy_y = y + 30 * rng.normal(size=y.shape)
    clean_values = hermite().fit(X, y, noisy_t)
    clean_slopes = hermite().fit(X, noisy_y, t)
    assert clean_values.gradient_weight_ < clean_slopes.gradient_weight_ / 100
    assert error(clean_slopes) < error(hermite().fit(X, noisy_y)) / 3
    path = clean_slopes.path_
    assert len(path.errors) == len(path.gradient_weights) == len(path.regularizations)
    chosen = path.errors[path.gradient_weights == clean_slopes.gradient_weight_].min()
    assert chosen <= path.errors.min() * 1.001


def test_weights_of_gradients_by_row():
    X, y, t = sample(60)
    broken = t.copy()
    broken[:20] *= -5
    trust = np.where(np.arange(60) < 20, 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = hermite().fit(X, y, broken, gradient_sample_weight=trust)
    assert error(model) < 1e-3


@pytest.mark.parametrize("factor", [-1.0, 1000.0, 0.5])
def test_wrong_gradients_are_noticed(factor):
    X, y, t = sample(150)
    t[:, 1] *= factor
    with pytest.warns(UserWarning, match="column 1"):
        model = hermite().fit(X, y, t)
    found = model.gradient_audit_
    assert found.suspicious.tolist() == [False, True]
    assert found.low[1] <= factor <= found.high[1]
    assert "column 1" in str(found)


def test_wrong_gradients_are_noticed_with_a_kernel_in_the_users_units():
    X, y, t = sample(100)
    kernel = ritz.Gaussian(4000.0)
    options = {"gradient_weight": 1.0, "regularization": 1e-8}
    right = hermite(kernel, **options).fit(1e3 * X, y, t / 1e3)
    assert not right.gradient_audit_.suspicious.any()
    np.testing.assert_allclose(right.gradient_audit_.factors, 1, atol=0.05)
    with pytest.warns(UserWarning, match="column 0"):
        wrong = hermite(kernel, **options).fit(1e3 * X, y, t / 1e3 * [-1, 1])
    assert wrong.gradient_audit_.suspicious.tolist() == [True, False]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [15, 60, 150])
def test_right_gradients_raise_no_alarm(n, seed):
    X, y, t = sample(n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        hermite(gradient_weight=1.0, regularization=1e-10).fit(X, y, t)


@pytest.mark.parametrize("factor", [1.0, -1.0])
def test_gradients_are_compared_along_directions_in_which_rows_differ(factor):
    """The sum of two columns is constant: values do not determine the gradient along it."""
    X, y, t = sample(100)
    apart = np.column_stack([X[:, 0], X[:, 1], -X[:, 1], np.full(100, 2.0)])
    slopes = np.column_stack([t[:, 0], 3 * t[:, 1], 2 * t[:, 1], np.sin(X[:, 0])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = hermite().fit(apart, y, factor * slopes).gradient_audit_
    assert len(caught) == (factor < 0)
    np.testing.assert_allclose(found.factors[:3], factor, atol=0.05)
    assert np.isnan(found.factors[3])


def test_directions_that_rows_differ_along():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 1e-9, 1e6]
    np.testing.assert_array_equal(varying_directions(X), np.eye(3))
    fixed = np.column_stack([X, np.full(50, 3.0)])
    np.testing.assert_allclose(varying_directions(fixed), np.diag([1, 1, 1, 0]), atol=1e-12)
    # The mean of tenths is rounded.
    tenths = np.column_stack([X[:, 0], X[:, 1], -X[:, 1], np.full(50, 0.1)])
    expected = [[1, 0, 0, 0], [0, 0.5, -0.5, 0], [0, -0.5, 0.5, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(varying_directions(tenths), expected, atol=1e-9)
    np.testing.assert_array_equal(varying_directions(np.full((7, 2), 0.1)), np.zeros((2, 2)))
    centered = X[:, :2] - X[:, :2].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(varying_directions(centered), [[0.5, -0.5], [-0.5, 0.5]], atol=1e-12)
    # Three rows differ along two directions.
    some = rng.normal(size=(3, 5))
    P = varying_directions(some)
    assert np.trace(P) == pytest.approx(2)
    np.testing.assert_allclose((some - some[0]) @ P, some - some[0], atol=1e-12)


@pytest.mark.parametrize(("solver", "held"), [("qr", 360), ("sums", 40_000)])
def test_fewer_functions_where_memory_is_short(solver, held, monkeypatch):
    X, y, t = sample(60)
    options = {"solver": solver, "length_scale": 3.0, "gradient_weight": 1.0}
    whole = hermite(regularization=1e-6, **options).fit(X, y, t)
    assert whole.n_centers_ > 25
    # Memory for 22 matrices of 25 functions, and for rows of 25 numbers.
    pages = 10 * 25 * (22 * 25 + held)
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PHYS_PAGES": pages}.get(name, 1))
    assert hermite(regularization=1e-6, **options).fit(X, y, t).n_centers_ == 25


def test_fewer_functions_where_numbers_are_many():
    """The cost n p^2 does not grow from one to four million numbers."""
    numbers = (10, 1_000_000, 2_250_000, 4_000_000, 10**9)
    assert [cap_of(n) for n in numbers] == [2400, 2400, 1600, 1200, 1200]


def test_standard_deviations_are_those_of_errors():
    """Random functions of the kernel, of unknown noise: |error| / std is about 1."""
    scores = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, size=(250, 2))
        frequency, phase = rng.normal(size=(2, 200)), rng.uniform(0, 2 * np.pi, 200)
        f = np.sqrt(2 / 200) * np.cos(X @ frequency + phase).sum(axis=1)
        t = -np.sqrt(2 / 200) * np.sin(X @ frequency + phase) @ frequency.T
        y = f + 0.1 * rng.normal(size=250)
        t = t + 0.2 * rng.normal(size=t.shape)
        model = hermite(random_state=0).fit(X[:150], y[:150], t[:150])
        values, deviation = model.predict(X[150:], return_std=True)
        scores.append((values - f[150:]) / deviation)
    z = np.concatenate(scores)
    assert 0.7 < np.sqrt(np.mean(z**2)) < 1.5
    assert 0.85 < np.mean(np.abs(z) < 2) <= 1.0


def test_a_penalty_below_rounding_is_taken_as_given():
    X, y, t = sample(300)
    model = hermite(regularization=1e-16, length_scale=[3.0, 3.0]).fit(X, y, t)
    assert model.regularization_ == 1e-16
    assert np.isfinite(model.path_.errors).all()
    assert error(model) < 1e-4


def test_gradients_alone_in_parts_have_mean_zero_until_a_value_comes():
    X, y, t = sample(600)
    model = hermite(n_centers=150)
    for rows in (slice(0, 200), slice(200, 600)):
        model.partial_fit(X[rows], None, t[rows])
        seen = X[: rows.stop]
        assert abs(model.predict(seen).mean()) < 1e-10 * y.std()
    assert np.abs(model.predict(X) - (y - y.mean())).max() < 2e-2 * y.std()
    _, deviation = model.predict(X, return_std=True)
    assert (deviation > 0).all()
    model.partial_fit(X[:5], y[:5])
    assert np.abs(model.predict(X) - y).max() < 2e-2 * y.std()


def test_partial_fit_adds_up():
    X, y, t = sample(300)
    model = hermite(n_centers=80, random_state=0)
    model.partial_fit(X[:100], y[:100], t[:100])
    first = error(model)
    model.partial_fit(X[100:], y[100:], t[100:])
    assert error(model) < max(first, 5e-3)
    whole = hermite(n_centers=80, random_state=0, solver="sums").fit(X, y, t)
    assert error(model) < 20 * error(whole) + 1e-3


def test_pickles():
    X, y, t = sample(30)
    model = hermite().fit(X, y, t)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rational_quadratic", "exponential"])
def test_other_kernels(kernel):
    X, y, t = sample(100)
    model = hermite(kernel).fit(X, y, t)
    assert error(model) < 0.1


def test_polynomials_are_learned_exactly():
    X = RNG.normal(size=(40, 2))
    y = X[:, 0] ** 3 - 2 * X[:, 0] * X[:, 1]
    t = np.column_stack([3 * X[:, 0] ** 2 - 2 * X[:, 1], -2 * X[:, 0]])
    model = hermite("polynomial").fit(X[:8], y[:8], t[:8])
    np.testing.assert_allclose(model.predict(X), y, atol=1e-4)


BAD = {
    "gradient transposed": ({"gradient": np.zeros((2, 20))}, r"\(n, d\) = \(20, 2\)"),
    "gradient of other outputs": ({"gradient": np.zeros((20, 2, 3))}, "1 output"),
    "infinite gradient": ({"gradient": np.full((20, 2), np.inf)}, "finite"),
    "nothing known": ({"y": np.full(20, np.nan)}, "at least one row"),
    "all missing": (
        {"y": np.full(20, np.nan), "gradient": np.full((20, 2), np.nan)},
        "at least one row",
    ),
    "directions alone": ({"directions": np.zeros((20, 2))}, "'gradient'"),
    "directions of wrong shape": (
        {"gradient": np.zeros(20), "directions": np.zeros((20, 3))},
        "directions",
    ),
    "negative weights": ({"sample_weight": -np.ones(20)}, "weight"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_data(arguments, message):
    X, y, _ = sample(20)
    with pytest.raises(ValueError, match=message):
        hermite().fit(X, **{"y": y, **arguments})


PARAMETERS = {
    "kernel": {"kernel": "cubic"},
    "length_scale": {"length_scale": "long"},
    "gradient_weight": {"gradient_weight": -1.0},
    "regularization": {"regularization": "much"},
    "n_centers": {"n_centers": 0},
    "solver": {"solver": "magic"},
    "centers": {"centers": np.zeros((4, 5))},
}


@pytest.mark.parametrize(("name", "options"), PARAMETERS.items(), ids=PARAMETERS)
def test_bad_parameters(name, options):
    X, y, t = sample(20)
    with pytest.raises((ValueError, TypeError), match=name):
        hermite(**options).fit(X, y, t)


def test_kernel_without_gradients():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-np.sqrt(2 * u))])
    X, y, t = sample(20)
    with pytest.raises(ValueError, match="kernel"):
        hermite(kernel).fit(X, y, t)


def test_more_centers_than_memory_says_how_many():
    X, y, t = sample(50)
    with pytest.raises(ValueError, match=r"at most [\d,]+ on this machine.* GB"):
        hermite(n_centers=10_000_000).fit(X, y, t)


def test_columns_that_depend_on_each_other_raise_no_alarm():
    """Values do not determine the gradient along directions in which no rows differ."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5))
    y, t = np.sin(X).sum(axis=1), np.cos(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        hermite(random_state=0).fit(X, y, t)


def test_deviations_do_not_depend_on_the_route():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=300)
    t = np.column_stack([np.cos(X[:, 0]), np.zeros(300)]) + 0.2 * rng.normal(size=(300, 2))
    options = {
        "length_scale": 1.5,
        "centers": rng.normal(size=(20, 2)),
        "gradient_weight": 0.25,
        "regularization": 1e-2,
    }
    models = [hermite(**options).fit(X, y, t)]
    models += [hermite(solver="sums", **options).fit(X, y, t)]
    models += [hermite(**options).partial_fit(X, y, t)]
    scaled = hermite(**{**options, "regularization": 1.0})
    models += [scaled.fit(X, y, t, sample_weight=np.full(300, 100.0))]
    first = models[0].predict(X, return_std=True)
    for model in models[1:]:
        other = model.predict(X, return_std=True)
        np.testing.assert_allclose(other[0], first[0], atol=1e-3)
        np.testing.assert_allclose(other[1], first[1], rtol=0.02)


def test_the_unit_of_weights_does_not_matter():
    """Weights 1 / sigma^2 may be large or small."""
    X, y, t = sample(100)
    y = y + 10 * np.random.default_rng(0).normal(size=100)
    errors = [
        error(hermite(random_state=0).fit(X, y, t, np.full(100, w))) for w in (1e-4, 1.0, 1e8)
    ]
    np.testing.assert_allclose(errors, errors[1], rtol=0.05)


def test_few_values_among_many_gradients():
    X, y, t = sample(9000)
    y[1:] = np.nan
    model = hermite(n_centers=60, random_state=0).fit(X, y, t)
    assert error(model) < 0.05
    few = hermite(random_state=0).fit(X[:50], y[:50], t[:50])
    assert error(few) < 1e-2


def test_repeated_noisy_rows_have_the_noise_of_their_spread():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.repeat(np.linspace(-2, 2, 6), 40)[:, None]
        y = np.sin(X[:, 0]) + 0.5 * rng.normal(size=240)
        model = hermite(random_state=0).fit(X, y)
        _, deviation = model.predict(X, return_std=True)
        # The mean of 40 has a deviation of 0.08.
        assert deviation.max() < 0.3


def test_penalties_given_are_kept():
    X, y, t = sample(30)
    for given in (0.0, 1e-15, 0.5):
        for gradient in (None, t):
            model = hermite(regularization=given).fit(X, y, gradient)
            assert model.regularization_ == pytest.approx(max(given, 1e-18))
    assert hermite(regularization=0.5, n_folds=2).fit(X, y).regularization_ == 0.5
    held = hermite(regularization=0.0, constant=False).fit(X, y + 500)
    np.testing.assert_allclose(held.solution_.constants, 0.0, atol=1e-8)
    assert np.isfinite(held.predict(X, return_std=True)[1]).all()


def test_columns_constant_but_for_rounding():
    X, y, t = sample(40)
    wide, slopes = np.column_stack([X, np.full(40, 1 / 3)]), np.column_stack([t, np.zeros(40)])
    model = hermite(random_state=0).fit(wide, y, slopes)
    moved = np.column_stack([TEST[0], np.full(500, 1.3)])
    assert np.sqrt(np.mean((model.predict(moved) - TEST[1]) ** 2)) < 0.05 * TEST[1].std()


def test_a_fit_that_fails_changes_nothing():
    X, y, t = sample(30)
    model = hermite(random_state=0).fit(X, y, t)
    before = model.predict(X)
    with pytest.raises(ValueError, match="centers"):
        model.set_params(centers=np.zeros((3, 7))).fit(10 * X, y, t / 10)
    np.testing.assert_array_equal(model.predict(X), before)
    model = hermite(random_state=0).fit(X, y, t)
    with pytest.warns(UserWarning, match="partial_fit"):
        model.partial_fit(X, y, t)
    model = hermite(random_state=0, n_centers=20).partial_fit(X, y, t)
    before = model.predict(X)
    with pytest.raises(ValueError, match="outputs"):
        model.partial_fit(X, np.column_stack([y, y]), np.stack([t, t], axis=2))
    np.testing.assert_array_equal(model.predict(X), before)
    model.set_params(n_folds=3).partial_fit(X[:1], y[:1], t[:1])


def test_masked_values_are_unknown_and_complex_ones_refused():
    X, y, t = sample(40)
    masked = np.ma.masked_array(np.where(np.arange(40) < 5, 1e6, y), np.arange(40) < 5)
    assert error(hermite(random_state=0).fit(X, masked, t)) < 1e-2
    with pytest.raises(ValueError, match="real"):
        hermite().fit(X, y + 1j)


def test_derivatives_along_zero_vectors_are_ignored():
    X, y, t = sample(60)
    U = np.random.default_rng(0).normal(size=(60, 2))
    U[::4] = 0.0
    along = (t * U).sum(axis=1)
    along[::4] = 1e3
    assert error(hermite(random_state=0).fit(X, y, along, directions=U)) < 1e-3


WEIGHTED = {
    "qr": {"solver": "qr"},
    "qr, centers": {"solver": "qr", "centers": sample(25, 7)[0]},
    "sums": {"solver": "sums", "length_scale": 3.0, "regularization": 1e-3, "gradient_weight": 0.1},
    "parts": {"parts": True, "length_scale": 3.0, "regularization": 1e-3, "gradient_weight": 0.1},
}


@pytest.mark.parametrize("kind", ["values", "gradients", "directions"])
@pytest.mark.parametrize("options", WEIGHTED.values(), ids=WEIGHTED)
def test_weights_are_repetitions(options, kind):
    """A row of weight 2 is a row given twice: predictions, deviations, penalties and lengths."""
    X, y, t = sample(40)
    rng = np.random.default_rng(0)
    y = y + 5 * rng.normal(size=40)
    data = {"X": X, "y": y}
    if kind == "gradients":
        data["gradient"] = t + rng.normal(size=t.shape)
    if kind == "directions":
        data["directions"] = rng.normal(size=(40, 2))
        data["gradient"] = (t * data["directions"]).sum(axis=1)
    options = dict(options)
    fit = "partial_fit" if options.pop("parts", False) else "fit"
    times = np.arange(40) % 3
    twice = {name: np.repeat(array, times, axis=0) for name, array in data.items()}
    one = getattr(hermite(**options), fit)(**data, sample_weight=times.astype(float))
    other = getattr(hermite(**options), fit)(**twice)
    np.testing.assert_allclose(one.regularization_, other.regularization_, rtol=1e-3)
    np.testing.assert_allclose(one.length_scale_, other.length_scale_, rtol=1e-3)
    for a, b in zip(*(m.predict(TEST[0], return_std=True) for m in (one, other)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3)


def test_weights_of_gradients_are_repetitions():
    X, y, t = sample(40)
    t = t + np.random.default_rng(0).normal(size=t.shape)
    missing = np.full(40, np.nan)
    one = hermite().fit(X, y, t, gradient_sample_weight=np.full(40, 2.0))
    other = hermite().fit(np.vstack([X, X]), np.append(y, missing), np.vstack([t, t]))
    for a, b in zip(*(m.predict(TEST[0], return_std=True) for m in (one, other)), strict=True):
        # The search for length scales ends where rounding no longer moves the likelihood.
        np.testing.assert_allclose(a, b, rtol=1e-2)


def test_noise_does_not_stand_for_what_columns_do_where_gradients_have_gaps():
    """Two columns act by their product alone, which a fit with noise takes for noise."""
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (120, 5)), rng.uniform(-1, 1, (500, 5))

    def function(X):
        a, b, c, d, e = X.T
        waves = np.sin(3 * a) * (1 + 10 * c**4) + 7 * np.sin(3 * b) ** 2
        return waves + d * e / 2

    a, b, c, d, e = X.T
    slopes = [3 * np.cos(3 * a) * (1 + 10 * c**4), 21 * np.sin(6 * b)]
    slopes += [40 * np.sin(3 * a) * c**3, e / 2, d / 2]
    gradient = np.where(rng.random(X.shape) < 1 / 3, np.nan, np.stack(slopes, axis=1))
    model = ritz.HermiteRegressor(random_state=0).fit(X, function(X), gradient)
    assert model.length_scale_.max() < 1000 * X.std()
    error = model.predict(new) - function(new)
    assert error.std() < 0.06 * function(new).std()
    assert "agree" in str(model.summary()) or "do not tell" in str(model.summary())
