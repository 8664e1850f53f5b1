"""Training on data of any scale, the choice of the best state, and checkpoints."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import ritz
from ritz.neural import SingularNetwork, SpectralNetwork, mlp
from ritz.neural.loader import LoaderStream
from ritz.neural.minibatches import Minibatches
from ritz.streams import as_stream

ROWS = np.random.default_rng(0).normal(size=(1000, 2))


def model(module=lambda: mlp(2, (8,), 2), **options):
    settings = {
        "n_components": 2,
        "mu": 4.0,
        "n_steps": 20,
        "batch_size": 100,
        "evaluate_every": 5,
        "random_state": 0,
    }
    return SpectralNetwork(module, **{**settings, **options})


@pytest.mark.parametrize(("scale", "shift"), [(1e3, 0.0), (1e-3, 0.0), (1.0, 300.0)])
def test_the_default_module_learns_from_data_of_any_scale(scale, shift):
    found = model(None, n_steps=60, mu=4.0 / scale**2).fit(scale * ROWS + shift)
    # The first eigenvalues of standard normals are 1 and 1; here there are a thousand samples.
    np.testing.assert_allclose(found.eigenvalues_ * scale**2, [1, 1], rtol=0.12)
    assert found.alive_.all()


def test_a_constant_column_does_no_harm():
    found = model(None).fit(np.column_stack([ROWS, np.full(1000, 0.1)]))
    assert found.best_step_ > 0
    assert np.isfinite(found.transform(np.zeros((1, 3)))).all()


def test_a_warning_if_the_initial_state_is_the_best():
    with pytest.warns(RuntimeWarning, match="none of 20 steps lowered the loss"):
        found = model(learning_rate=100.0).fit(ROWS)
    assert found.best_step_ == 0


def test_a_potential_that_acts_at_few_rows_is_noticed():
    rows = np.random.default_rng(0).normal(size=(2000, 1))
    form = ritz.laplacian() + ritz.potential(lambda x: 50.0 * (np.abs(x[:, 0]) > 2.6))
    truth = ritz.decompose(form, ritz.Monomials(10), rows, k=2).values
    found = model(
        lambda: mlp(1, (32,), 2), operator=form, n_steps=150, learning_rate=2e-2, mu=10.0
    ).fit(rows)
    # The first eigenvalue is near zero, and its function is nearly constant.
    np.testing.assert_allclose(found.eigenvalues_, truth, atol=0.25)
    assert found.transform(rows).shape == (2000, 2)
    # Without the function 1, the minimal loss is that of these two functions.
    weight, energy = 1 - found.eigenvalues_ / 10, found.spectrum_.ritz_values
    loss = 0.2 * weight @ energy + ((1 - weight) ** 2).sum()
    assert found.score(rows) == pytest.approx(-loss)


def test_without_held_out_rows_a_state_with_an_infinite_loss_is_not_kept():
    options = {"validation_fraction": 0.0, "evaluate_every": 1, "n_steps": 6}

    def exploding(progress):
        return 1e12 if progress >= 4 / 6 else 1e-3

    with pytest.warns(RuntimeWarning, match="state of step 4 is kept"):
        found = model(schedule=exploding, **options).fit(ROWS)
    assert found.best_step_ == 4
    np.testing.assert_array_equal(
        found.module_(torch.ones(1, 2)).detach(),
        # The state after four steps of the same rate.
        model(schedule=lambda t: 1e-3, **{**options, "n_steps": 4})
        .fit(ROWS)
        .module_(torch.ones(1, 2))
        .detach(),
    )
    # The state after the last step is evaluated too.
    with pytest.warns(RuntimeWarning, match="state of step 4 is kept"):
        model(schedule=lambda t: 1e12 if t >= 0.8 else 1e-3, **{**options, "n_steps": 5}).fit(ROWS)


def test_without_held_out_rows_a_loss_that_only_grows_is_an_error():
    with pytest.raises(FloatingPointError, match="learning_rate"):
        model(
            optimizer=lambda p: torch.optim.SGD(p, lr=1e6),
            validation_fraction=0.0,
            evaluate_every=1,
        ).fit(ROWS)


def test_the_parameters_kept_are_those_of_the_best_step():
    def growing(n_steps):
        """The rate at each of the first steps of forty, whatever the number of steps."""
        return lambda progress: 1e3 * (round(progress * n_steps) / 40) ** 4

    found = model(n_steps=40, schedule=growing(40)).fit(ROWS)
    best = found.best_step_
    assert 0 < best < 40
    until_best = model(n_steps=best, schedule=growing(best)).fit(ROWS)
    assert until_best.best_step_ == best
    point = torch.ones(1, 2)
    assert torch.equal(found.module_(point), until_best.module_(point))


def test_held_out_rows_are_not_in_training_batches():
    batches = Minibatches(as_stream(ROWS), 100, 0.1, 0)
    held = np.concatenate([b.index for b in batches.held_out(10_000)])
    trained = np.concatenate([b.index for b in batches.epoch(0)])
    assert 0.07 < len(held) / len(ROWS) < 0.13
    assert not set(held) & set(trained)
    assert len(trained) == len(set(trained)) > len(ROWS) - len(held) - 100


@pytest.mark.parametrize("n", [3, 5, 7])
def test_held_out_batches_have_at_least_two_rows(n):
    held = Minibatches(as_stream(ROWS[:n]), 2, 1 - 1e-9, 0).held_out(100)
    assert sum(map(len, held)) == n
    assert min(map(len, held)) >= 2


class Interrupted(Exception):
    """An exception that interrupts a training."""


def until_halfway(progress):
    if progress >= 0.6:
        raise Interrupted
    return 1.0


def constant(progress):
    return 1.0


def with_dropout():
    return torch.nn.Sequential(mlp(2, (16,), 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 2))


def resumed(path, data, **options):
    """Interrupt a training, and resume it from its checkpoint."""
    with pytest.raises(Interrupted):
        model(schedule=until_halfway, checkpoint=path, **options).fit(data)
    return model(schedule=constant, checkpoint=path, resume=True, **options).fit(data)


def test_a_resumed_training_ends_at_the_same_bits(tmp_path):
    whole = model(schedule=constant, n_directions=1).fit(ROWS)
    found = resumed(tmp_path / "state.pt", ROWS, n_directions=1)
    assert found.losses_ == whole.losses_
    assert found.held_out_losses_ == whole.held_out_losses_
    np.testing.assert_array_equal(found.transform(ROWS), whole.transform(ROWS))


@pytest.mark.parametrize("shuffle", [False, True])
def test_loaders_repeat_and_resume_to_the_same_bits(tmp_path, shuffle):
    loader = DataLoader(torch.from_numpy(ROWS), batch_size=300, shuffle=shuffle)
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    whole, again = (model(with_dropout, schedule=constant).fit(loader) for _ in range(2))
    # The global generator of torch is as it was before.
    assert torch.equal(torch.randn(3), expected)
    for other in (again, resumed(tmp_path / "state.pt", loader, module=with_dropout)):
        assert other.losses_ == whole.losses_
        np.testing.assert_array_equal(other.transform(ROWS), whole.transform(ROWS))


def test_a_loader_that_shuffles_has_another_order_in_each_epoch():
    loader = DataLoader(torch.from_numpy(ROWS), batch_size=1000, shuffle=True)
    stream = LoaderStream(loader, seed=(0,))
    one, two, again = (next(stream.fresh(epoch).blocks()).views[0] for epoch in (0, 1, 0))
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mu", 40.0),
        ("regularizer", "whitening"),
        ("random_state", 1),
        ("batch_size", 50),
        ("validation_fraction", 0.2),
        ("n_directions", 1),
        ("operator", ritz.diffusion(2.0)),
    ],
)
def test_a_checkpoint_with_other_settings_is_an_error(tmp_path, name, value):
    path = tmp_path / "state.pt"
    model(n_steps=2, checkpoint=path).fit(ROWS)
    with pytest.raises(ValueError, match=f"same training.*one with {name}="):
        model(n_steps=4, checkpoint=path, resume=True, **{name: value}).fit(ROWS)


def test_a_training_that_stopped_early_continues_if_patience_allows(tmp_path):
    path = tmp_path / "state.pt"
    other = tmp_path / "state.part"
    other.write_text("not ours")
    options = {"n_steps": 40, "schedule": lambda t: 1e3 * t**4, "checkpoint": path}
    stopped = model(patience=1, **options).fit(ROWS)
    assert stopped.n_steps_ < 40
    assert model(patience=None, resume=True, **options).fit(ROWS).n_steps_ == 40
    assert other.read_text() == "not ours"
    assert sorted(tmp_path.iterdir()) == [other, path]


class Dead(torch.nn.Module):
    """A perceptron whose second output is always zero."""

    def __init__(self):
        super().__init__()
        self.inner = mlp(1, (8,), 2)

    def forward(self, x):
        return self.inner(x) * torch.tensor([1.0, 0.0])


def test_two_networks_with_an_output_that_is_zero_keep_the_other():
    A, B = ritz.datasets.gaussian_pair(0.8).sample(500, random_state=0)
    with pytest.warns(RuntimeWarning, match="Only 1 of 2 pairs"):
        found = SingularNetwork(Dead, Dead, 2, n_steps=20, random_state=0).fit(A, B)
    assert found.singular_values_.shape == (1,)
    assert found.transform(A).shape == (500, 1)
    assert len(found.get_feature_names_out()) == 1
    with pytest.raises(ValueError, match="2 features"):
        found.transform(ROWS)
    with pytest.raises(ValueError, match=r"'y' parameter.*1 column"):
        found.transform(A[:3], ROWS[:3])
