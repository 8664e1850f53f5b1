"""The estimators find known spectra, and repeat themselves to the bit."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch.utils.data import DataLoader, TensorDataset

import ritz
from ritz.neural import Augmented, Network, SingularNetwork, SpectralNetwork, mlp
from ritz.streams import as_stream

CIRCLE = ritz.datasets.circle()
X = CIRCLE.sample(3000, random_state=0)
LAPLACIAN = ritz.laplacian(tangent=CIRCLE.tangent)
# The eigenvalues over the true functions on these samples.
EXACT = ritz.decompose(LAPLACIAN, ritz.Monomials(2), X, k=5).values[1:]


def on_the_circle(**options):
    settings = {
        "module": lambda: mlp(2, (32, 32), 4),
        "operator": LAPLACIAN,
        "n_components": 4,
        "mu": 12.0,
        "n_steps": 100,
        "batch_size": 250,
        "learning_rate": 2e-2,
        "evaluate_every": 50,
        "random_state": 0,
    }
    return SpectralNetwork(**{**settings, **options})


@pytest.fixture(scope="module")
def fitted():
    return on_the_circle().fit(X)


@pytest.mark.parametrize(
    ("regularizer", "steps"),
    [("contrastive", 100), ("whitening", 100), ("variance_covariance", 200)],
)
def test_every_regularizer_finds_the_spectrum_of_the_circle(regularizer, steps):
    model = on_the_circle(regularizer=regularizer, n_steps=steps).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, EXACT, rtol=0.02)
    assert model.spectrum_.values[0] == 0.0
    assert model.alive_.all()


def test_a_vector_mu_and_random_directions_give_the_same_spectrum():
    gaussian = ritz.datasets.gaussian(2)
    rows = gaussian.sample(4000, random_state=0)
    for options in ({"mu": [4.0, 4.5]}, {"mu": 4.0, "n_directions": 1}):
        model = on_the_circle(
            module=lambda: mlp(2, (32,), 2), operator="laplacian", n_components=2, **options
        ).fit(rows)
        np.testing.assert_allclose(model.eigenvalues_, [1, 1], rtol=0.1)


def outputs_before(model, form, rows):
    """The eigenvalues mu (1 - s) that the variances s of principal components suggest."""
    columns = model.n_features_in_
    basis = ritz.bases.Centered(Network(model.module_, columns=columns), np.zeros(4))
    mean = ritz.assemble(form, basis, rows, n_folds=1).mean()
    covariance = mean.Phi[1:, 1:] - np.outer(mean.Phi[0, 1:], mean.Phi[0, 1:])
    return model.mu_ * (1 - np.linalg.eigvalsh(covariance)[::-1])


def noisy(x, rng):
    """Return versions of normals whose pairs have the correlation 0.64."""
    return 0.8 * x + 0.6 * rng.normal(size=x.shape)


NORMALS = np.random.default_rng(0).normal(size=(3000, 1))
PROBLEMS = {
    "circle": CIRCLE,
    "sphere": ritz.datasets.sphere(3),
    "torus": ritz.datasets.torus((6.0, 4.0)),
    "disk": ritz.datasets.disk(),
    "normal": ritz.datasets.gaussian(2),
    "square": ritz.datasets.cube(2),
    "interval": ritz.datasets.cube(1),
}


def problem_of(name):
    """Return an operator, samples, and the first four eigenvalues after the constant's."""
    if name == "pairs":
        return ritz.pairs(), Augmented(NORMALS, noisy), 2 - 2 * 0.64 ** np.arange(1, 5)
    problem = PROBLEMS[name]
    form = ritz.laplacian() if problem.tangent is None else ritz.laplacian(tangent=problem.tangent)
    # With few rows the sampling error dominates both, and either may be closer by chance.
    return form, problem.sample(10_000, random_state=0), problem.eigenvalues(5)[1:]


@pytest.mark.parametrize("steps", [20, 60])
@pytest.mark.parametrize("name", [*PROBLEMS, "pairs"])
def test_rayleigh_ritz_at_least_halves_the_error_of_eigenvalues(name, steps):
    form, rows, truth = problem_of(name)

    def module():
        return mlp(as_stream(rows, form.views).dimensions[0], (32, 32), 4)

    with warnings.catch_warnings():
        # A few steps do not learn all components; that warning is tested elsewhere.
        warnings.filterwarnings("ignore", "Components", RuntimeWarning)
        model = on_the_circle(module=module, operator=form, mu="auto", n_steps=steps).fit(rows)
    before = np.abs(outputs_before(model, form, rows) - truth).sum()
    after = np.abs(model.eigenvalues_ - truth).sum()
    assert after < before / 2


def test_the_result_is_a_spectrum_like_any_other(fitted):
    spectrum = fitted.spectrum_
    assert isinstance(spectrum, ritz.Spectrum)
    assert spectrum.errors.shape == (5,)
    assert (spectrum.errors[1:] > 0).all()
    values = spectrum(X)
    np.testing.assert_allclose(values.T @ values / len(X), np.eye(5), atol=1e-9)
    assert spectrum.gradient(X[:3]).shape == (3, 2, 5)
    np.testing.assert_array_equal(fitted.transform(X[:9]), spectrum[1:](X[:9]))
    truth = CIRCLE.eigenfunctions(X, 5)
    overlap = np.linalg.svd(values.T @ truth / len(X), compute_uv=False)
    assert overlap.min() > 0.97
    with pytest.raises(TypeError, match="never code"):
        spectrum.save("nothing.npz")


def test_the_score_is_near_that_of_the_true_functions_and_lower_after_a_short_training(fitted):
    rows = CIRCLE.sample(20_000, random_state=1)
    # The minimal loss of five functions with the eigenvalues 0, 1, 1, 4, 4.
    least = 5 - ((1 - np.array([0, 1, 1, 4, 4]) / 12) ** 2).sum()
    assert fitted.score(rows) == pytest.approx(-least, abs=0.05)
    hasty = on_the_circle(n_steps=3).fit(X)
    assert hasty.score(rows) < fitted.score(rows) - 0.1
    auto = clone(fitted).set_params(mu="auto", n_steps=60).fit(X)
    # With "auto", mu is 1.1 times the last eigenvalue.
    least = 5 - ((1 - np.array([0, 1, 1, 4, 4]) / 4.4) ** 2).sum()
    assert auto.score(rows) == pytest.approx(-least, abs=0.1)
    assert auto.score(torch.from_numpy(rows)) == auto.score(rows)
    with pytest.raises(ValueError, match="2 features"):
        auto.score(np.ones((5, 3)))
    with pytest.raises(ValueError, match="2 columns"):
        auto.score(ritz.Batches([np.ones((5, 3))]))


class Twice(torch.nn.Module):
    """Two functions, each of them twice."""

    def __init__(self):
        super().__init__()
        self.functions = mlp(2, (32, 32), 2)

    def forward(self, X):
        return self.functions(X).repeat(1, 2)


def test_functions_that_were_not_found_cost_one_each_in_the_score():
    rows = CIRCLE.sample(20_000, random_state=1)
    with pytest.warns(RuntimeWarning, match="Only 2 of 4"):
        half = on_the_circle(module=Twice).fit(X)
    # At best the function 1 and the two of eigenvalue 1 were found.
    assert half.score(rows) < -(5 - 1 - 2 * (11 / 12) ** 2) + 0.05


def test_the_score_shows_that_few_rows_in_many_dimensions_are_not_enough():
    sphere = ritz.datasets.sphere(10)
    form = ritz.laplacian(tangent=sphere.tangent)
    unseen = sphere.sample(5000, random_state=1)
    models = [
        on_the_circle(
            module=lambda: mlp(10, (32, 32), 4), operator=form, mu=27.0, patience=None
        ).fit(sphere.sample(n, random_state=0))
        for n in (100, 4000)
    ]
    few, many = models
    # Functions adapt to few rows and have too little energy on them; the true eigenvalue is 9.
    assert few.eigenvalues_[0] < many.eigenvalues_[0]
    assert few.score(unseen) < many.score(unseen)


def test_a_fitted_network_can_be_pickled_and_cloned(fitted):
    same = pickle.loads(pickle.dumps(on_the_circle(module=mlp(2, (8,), 4), n_steps=5).fit(X)))
    assert same.transform(X[:3]).shape == (3, 4)
    fresh = clone(fitted)
    assert not hasattr(fresh, "spectrum_")
    assert fresh.get_params()["mu"] == 12.0


def test_a_seed_gives_the_same_bits_and_does_not_change_torch_s_generator():
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    one, two, other = (on_the_circle(n_steps=20, random_state=s).fit(X) for s in (0, 0, 1))
    assert torch.equal(torch.randn(3), expected)
    assert one.losses_ == two.losses_
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    assert one.losses_ != other.losses_


def test_fit_does_not_change_the_module_it_is_given():
    module = mlp(2, (8,), 4)
    before = module[0].weight.clone()
    model = on_the_circle(module=module, n_steps=5).fit(X)
    assert torch.equal(module[0].weight, before)
    assert not torch.equal(model.module_[0].weight, before)


@pytest.fixture(scope="module")
def briefly_fitted():
    return on_the_circle(n_steps=20).fit(X)


@pytest.mark.parametrize("kind", ["tensor", "loader", "batches", "labels"])
def test_all_kinds_of_data_give_the_same_training(kind, briefly_fitted):
    rows = torch.from_numpy(X)
    data = {
        "tensor": rows,
        "loader": DataLoader(rows, batch_size=300),
        "batches": ritz.Batches(lambda: iter(np.array_split(X, 7))),
        "labels": DataLoader(TensorDataset(rows, torch.zeros(len(X))), batch_size=512),
    }[kind]
    model = on_the_circle(n_steps=20).fit(data)
    assert model.spectrum_.n_rows == len(X)
    # Up to 65,536 rows of a stream are shuffled in the same order as those of an array.
    assert model.losses_ == briefly_fitted.losses_
    np.testing.assert_allclose(model.eigenvalues_, briefly_fitted.eigenvalues_, rtol=1e-9)


def test_the_state_kept_is_the_best_on_held_out_rows():
    # A growing learning rate makes the loss rise in the end.
    model = on_the_circle(
        n_steps=200,
        evaluate_every=10,
        patience=4,
        learning_rate=1e-3,
        schedule=lambda t: 1 + 3e3 * t**2,
    ).fit(X)
    steps, losses = zip(*model.held_out_losses_, strict=True)
    assert model.best_step_ == steps[int(np.argmin(losses))]
    assert model.n_steps_ == model.best_step_ + 40


def test_an_operator_that_does_not_kill_the_constant_learns_all_functions():
    # -f'' + x f' + x^2 f = lambda f: lambda_n = (sqrt(5) - 1) / 2 + sqrt(5) n.
    rows = np.random.default_rng(0).normal(size=(4000, 1))
    form = ritz.laplacian() + ritz.potential(lambda x: x[:, 0] ** 2)
    expected = ritz.decompose(form, ritz.Monomials(8), rows, k=2).values
    root = 5**0.5
    np.testing.assert_allclose(expected, [(root - 1) / 2, (root - 1) / 2 + root], rtol=0.1)
    model = on_the_circle(
        module=lambda: mlp(1, (32,), 2), operator=form, n_components=2, mu=8.0
    ).fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=0.05)
    assert model.transform(rows[:5]).shape == (5, 2)


def test_two_networks_find_the_correlations_of_two_views():
    problem = ritz.datasets.gaussian_pair(0.8)
    A, B = problem.sample(6000, random_state=0)
    model = SingularNetwork(
        lambda: mlp(1, (32,), 2),
        lambda: mlp(1, (32,), 2),
        n_components=2,
        n_steps=200,
        batch_size=500,
        random_state=0,
    ).fit(A, B)
    np.testing.assert_allclose(model.singular_values_, [0.8, 0.64], atol=0.04)
    left, right = model.transform(A, B)
    correlations = (left * right).mean(axis=0)
    np.testing.assert_allclose(correlations, model.spectrum_.ritz_values[1:], atol=1e-9)


def test_importing_ritz_does_not_need_torch_and_ritz_neural_says_how_to_install_it():
    code = "import sys, ritz; assert 'torch' not in sys.modules; sys.modules['torch'] = None\n"
    code += "try:\n    import ritz.neural\nexcept ImportError as error:\n    print(error)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'ritz[torch]'" in out.stdout
