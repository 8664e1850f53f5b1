"""Errors for modules, operators and settings that cannot work, and for training that diverges."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import ritz
from ritz.neural import (
    Augmented,
    Network,
    SingularLoss,
    SingularNetwork,
    SpectralLoss,
    SpectralNetwork,
    Standardized,
    auto_mu,
    contrastive,
    energy,
    mlp,
    two_towers,
    variance_covariance,
    whitening,
)

X = np.random.default_rng(0).normal(size=(400, 2))


def model(module=None, **options):
    settings = {"n_steps": 30, "batch_size": 100, "evaluate_every": 5, "mu": 5.0, "random_state": 0}
    return SpectralNetwork(
        module, n_components=3, **{"operator": "laplacian", **settings, **options}
    )


class Wrapped(torch.nn.Module):
    """A linear layer followed by a function."""

    def __init__(self, function, outputs=3):
        super().__init__()
        self.layer, self.function = torch.nn.Linear(2, outputs), function

    def forward(self, x):
        return self.function(self.layer(x))


class Rounded(torch.nn.Module):
    """The nearest integers."""

    def forward(self, x):
        return x.round()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Wrapped(lambda y: y[:, 0]), r"returns a tensor \(b, p\).*shape \(\d+,\)"),
        (Wrapped(lambda y: y[:-1]), r"returns a tensor \(b, p\).*rows"),
        (Wrapped(lambda y: y.tolist()), r"returns a tensor \(b, p\).*list"),
        (Wrapped(lambda y: y, outputs=5), "n_components=3 outputs.*5 outputs"),
        (torch.nn.Linear(7, 3), "the torch error"),
        (Wrapped(torch.round), "differentiable in its parameters.*Rounding"),
        (Wrapped(torch.sign), "differentiable in its parameters.*Rounding"),
        (Wrapped(lambda y: y.detach()), "differentiable in its parameters.*detached"),
        (Wrapped(lambda y: y + 1j), "real numbers.*complex"),
        (Wrapped(lambda y: y.long()), "real numbers.*int64"),
        (Wrapped(lambda y: torch.from_numpy(np.sin(y.numpy()))), "the torch error"),
        (torch.nn.Identity(), "parameters that can be trained"),
    ],
)
def test_modules_that_cannot_be_trained(module, message):
    with pytest.raises(ValueError, match=f"'module'.*{message}"):
        model(module).fit(X)
    with pytest.raises(ValueError, match=f"'right'.*{message}"):
        SingularNetwork(lambda: mlp(2, (4,), 3), module, 3, n_steps=5).fit(X, X)


def test_batch_normalization_where_the_operator_takes_derivatives():
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 3))
    with pytest.raises(ValueError, match="LayerNorm"):
        model(module).fit(X)


def test_a_module_that_rounds_its_input_where_the_operator_takes_derivatives():
    module = torch.nn.Sequential(Rounded(), torch.nn.Linear(2, 3))
    with pytest.raises(ValueError, match=r"differentiable in its input.*all zero.*Rounding"):
        model(module).fit(X)
    with pytest.raises(
        ValueError, match=r"differentiable in its input.*outputs that vary.*Rounding"
    ):
        SpectralLoss(ritz.laplacian(), 5.0)(module, X)
    # Pairs take no derivatives.
    assert SpectralLoss(ritz.pairs(), 2.0)(module, (X, X + 1.0)).isfinite()


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (Wrapped(lambda y: y[:, 0]), ValueError, r"returns a tensor \(b, p\)"),
        (Wrapped(lambda y: y.detach()), ValueError, "differentiable in its parameters"),
        (Wrapped(lambda y: y.long()), ValueError, "real numbers"),
        (
            Wrapped(lambda y: y * float("nan")),
            FloatingPointError,
            "not been changed since the last step",
        ),
        (torch.sin, TypeError, r"torch\.nn\.Module"),
    ],
)
def test_modules_that_cannot_be_trained_in_a_loop_of_your_own(module, error, message):
    with pytest.raises(error, match=message):
        SpectralLoss(ritz.laplacian(), 5.0)(module, X)
    with pytest.raises(error, match=message):
        SingularLoss()(mlp(2, (4,), 3), module, X, X)


def test_arguments_that_are_not_modules():
    with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
        Network(np.sin)
    with pytest.raises(TypeError, match=r"torch\.nn\.Module.*one that returns int"):
        model(lambda: 3).fit(X)
    with pytest.raises(TypeError, match=r"'module'.*without arguments.*Got float instead"):
        model(3.0).fit(X)


@pytest.mark.parametrize("function", [lambda x: x, np.sin, torch.sin, torch.nn.Linear])
def test_a_function_of_rows_is_not_a_module(function):
    match = "'{}'.*function without arguments that returns one.*which needs some"
    with pytest.raises(TypeError, match=match.format("module")):
        model(function).fit(X)
    with pytest.raises(TypeError, match=match.format("right")):
        SingularNetwork(lambda: mlp(2, (4,), 2), function, 2).fit(X, X)


def test_a_basis_that_mixes_rows():
    with pytest.raises(ValueError, match="each row independently"):
        ritz.decompose(ritz.laplacian(), Network(Wrapped(lambda y: y - y.mean(0))), X, k=2)


def test_the_size_of_a_basis_before_its_columns_are_known():
    with pytest.raises(ValueError, match="columns=d"):
        len(Network(mlp(2, (4,), 3)))


class Explosive(torch.nn.Module):
    """A perceptron that returns NaN in training after a number of calls."""

    def __init__(self, calls):
        super().__init__()
        self.inner, self.calls = mlp(2, (16,), 3), calls

    def forward(self, x):
        if self.training:
            self.calls -= 1
        return self.inner(x) * (float("nan") if self.training and self.calls < 0 else 1.0)


def test_nan_stops_training_with_a_warning_and_the_best_state_is_kept():
    with pytest.warns(RuntimeWarning, match="at step 13.*state of step 10 is kept"):
        fitted = model(lambda: Explosive(calls=27)).fit(X)
    assert (fitted.n_steps_, fitted.best_step_) == (13, 10)
    assert np.isfinite(fitted.losses_).all()
    whole = model(lambda: Explosive(calls=10**9), patience=None)
    whole.fit(X)
    assert fitted.losses_ == whole.losses_[: fitted.n_steps_]


@pytest.mark.parametrize("side", [0, 1])
def test_nan_in_one_of_two_networks_stops_both(side):
    modules = [lambda: mlp(2, (8,), 3), lambda: mlp(2, (8,), 3)]
    modules[side] = lambda: Explosive(calls=13)
    with pytest.warns(RuntimeWarning, match="at step 13.*state of step 10 is kept"):
        fitted = SingularNetwork(
            *modules, 3, n_steps=30, batch_size=100, evaluate_every=5, random_state=0
        ).fit(X, X + np.random.default_rng(1).normal(size=X.shape))
    assert (fitted.n_steps_, fitted.best_step_) == (13, 10)
    assert np.isfinite(fitted.singular_values_).all()


def test_nan_from_the_start_is_an_error():
    with pytest.raises(ValueError, match="finite outputs"):
        model(Wrapped(lambda y: y * float("nan"))).fit(X)


def test_a_learning_rate_that_is_far_too_large():
    with pytest.raises(FloatingPointError, match="learning_rate"):
        model(
            optimizer=lambda p: torch.optim.SGD(p, lr=1e12), evaluate_every=30, patience=None
        ).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mu": -1.0}, "positive"),
        ({"mu": [3.0, 2.0, 1.0]}, "increasing"),
        ({"mu": [1.0, 2.0]}, "one for each output"),
        ({"mu": "large"}, "'auto', a number or a vector"),
        ({"regularizer": "none"}, "'whitening' or"),
        ({"n_directions": 0}, "positive integer"),
        ({"operator": ritz.cross()}, "SingularNetwork"),
        ({"operator": ritz.graph(ritz.Gaussian(1.0))}, "average over rows"),
        ({"validation_fraction": 1.0}, r"\[0, 1\)"),
        ({"n_steps": 0}, "positive integer"),
        ({"checkpoint": "no/such/folder/state.pt"}, "existing folder"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        model(**options).fit(X)


@pytest.mark.parametrize("name", ["optimizer", "schedule"])
def test_settings_that_must_be_functions(name):
    with pytest.raises(TypeError, match=f"{name}.*a function of.*Got 'adam'"):
        model(**{name: "adam"}).fit(X)


def test_files_that_are_not_a_checkpoint_of_this_module(tmp_path):
    names = ("text", "other.pt", "list.pt", "number.pt", "state.pt")
    text, other, plain, number, state = (tmp_path / name for name in names)
    text.write_text("hello")
    torch.save({"weights": torch.ones(3)}, other)
    torch.save([1, 2], plain)
    torch.save({"problem": 3}, number)
    for path in (text, other, plain, number):
        with pytest.raises(ValueError, match=f"{path}, which is not one"):
            model(checkpoint=path, resume=True).fit(X)
    model(lambda: mlp(2, (8,), 3), n_steps=5, checkpoint=state).fit(X)
    with pytest.raises(ValueError, match=r"same module.*size mismatch"):
        model(lambda: mlp(2, (9,), 3), checkpoint=state, resume=True).fit(X)


ROWS = torch.from_numpy(X)


@pytest.mark.parametrize(
    ("operator", "data", "message"),
    [
        (
            "laplacian",
            TensorDataset(ROWS, ROWS + 1),
            r"2 tensors of the same.*ritz\.pairs\(\)",
        ),
        ("laplacian", torch.zeros(400, 1, 4, 4), r"\(100, 1, 4, 4\).*nn\.Unflatten"),
        ("laplacian", [{"x": row} for row in ROWS], "items of dict"),
        (ritz.pairs(), ROWS, r"start with 2 of them.*items of \(100, 2\) instead"),
        (ritz.pairs(), TensorDataset(ROWS, torch.zeros(400)), r"items of \(100, 2\), \(100,\)"),
    ],
)
def test_loaders_without_the_views_of_the_operator(operator, data, message):
    with pytest.raises(ValueError, match=message):
        model(operator=operator).fit(DataLoader(data, batch_size=100))


def test_images_that_are_not_flattened():
    with pytest.raises(ValueError, match=r"an array \(n, d\).*nn\.Unflatten"):
        model().fit(torch.zeros(100, 1, 4, 4))


def test_bad_input_of_losses():
    with pytest.raises(ValueError, match="SingularLoss"):
        SpectralLoss(ritz.cross(), 1.0)
    with pytest.raises(TypeError, match=r"ritz\.laplacian\(\)"):
        SpectralLoss("laplacian", 1.0)
    with pytest.raises(ValueError, match="at least 2 rows"):
        SpectralLoss(ritz.laplacian(), 1.0)(mlp(2, (4,), 2), X[:1])
    with pytest.raises(ValueError, match="second view"):
        SingularNetwork().fit(X)


def test_bad_augmentations():
    with pytest.raises(TypeError, match="function of samples and a generator"):
        Augmented(X, None)
    with pytest.raises(ValueError, match="400 rows"):
        next(Augmented(X, lambda x, rng: x[:3]).blocks())


SQUARES = torch.ones(4, 3, 3)
NAMED_ARGUMENTS = {
    "energies": lambda: energy([1.0], 2.0),
    "second": lambda: whitening(np.eye(3)),
    "parts": lambda: contrastive(torch.eye(3)),
    "covariance": lambda: variance_covariance(None),
    "correlations": lambda: two_towers(3.0, SQUARES, SQUARES),
    "left": lambda: two_towers(torch.ones(3), "left", SQUARES),
    "right": lambda: two_towers(torch.ones(3), SQUARES, np.ones((4, 3, 3))),
    "inputs": lambda: mlp(None, (4,), 2),
    "hidden": lambda: mlp(2, 4, 2),
    "hidden as text": lambda: mlp(2, "44", 2),
    "first_scale": lambda: mlp(2, (4,), 2, first_scale="large"),
    "rows": lambda: Standardized(np.full((3, 2), np.nan)),
    "rows of a size that float32 cannot hold": lambda: Standardized(1e-100 * X),
    "X": lambda: Network(mlp(2, (4,), 2)).fit(X[:0]),
    "m": lambda: auto_mu(ritz.laplacian(), ritz.Batches([X]), [1.0, 2.0]),
    "seed": lambda: Augmented(X, lambda x, rng: x, seed=-1),
    "regularizer": lambda: SpectralLoss(ritz.laplacian(), 1.0, np.array(["a", "b"])),
    "learning_rate": lambda: model(learning_rate=1e300).fit(X),
}


@pytest.mark.parametrize("case", NAMED_ARGUMENTS)
def test_errors_name_the_argument(case):
    with pytest.raises((ValueError, TypeError), match=f"The '{case.split()[0]}' parameter"):
        NAMED_ARGUMENTS[case]()


def test_hidden_units_may_be_an_array():
    assert str(mlp(3, np.array([8, 4]), 2)) == str(mlp(3, (8, 4), 2))


def test_whole_numbers_may_be_floats():
    module = mlp(2, (4,), 2)
    losses = [SpectralLoss(ritz.laplacian(), 1.0, n_parts=n)(module, X) for n in (4, 4.0)]
    assert losses[0] == losses[1]
    assert Augmented(X, lambda x, rng: x, copies=2.0).n_rows == 2 * len(X)
