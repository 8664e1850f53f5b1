"""Averages of forms over tensors equal those of the assembly, and have gradients."""

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import Network, mlp
from ritz.neural.averages import averages, merged
from ritz.neural.jet import TensorJet, unit_directions
from ritz.rows import Block
from ritz.streams import as_stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X + 0.3 * RNG.normal(size=X.shape)
U = RNG.normal(size=(60, 3, 2))
FRAMES = np.linalg.qr(RNG.normal(size=(60, 3, 2)))[0]
MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]])

FORMS = {
    "laplacian": ritz.laplacian(),
    "tangent": ritz.laplacian(tangent=FRAMES),
    "line": ritz.laplacian(tangent=FRAMES[:, :, :1]),
    "density": ritz.laplacian(density_correction=1.0),
    "diffusion": ritz.diffusion(MATRIX),
    "field": ritz.diffusion(lambda x: 1 + x[:, 0] ** 2),
    "matrices": ritz.diffusion(np.tile(MATRIX, (60, 1, 1))),
    "directional": ritz.directional(U),
    "potential": ritz.laplacian() + 2.0 * ritz.potential(lambda x: x[:, 1]),
    "differential": ritz.differential({((1, 0, 0), (1, 0, 0)): 1.0, ((0, 0, 2), (0, 0, 2)): 0.5}),
    "neighbors": ritz.neighbors(4, weights="uniform"),
    "towards": ritz.neighbors(4, kind="directional", weights="uniform"),
    "pairs": ritz.pairs(),
    "custom": ritz.form(
        lambda f, g, x: f.gradient @ g.gradient + x[:, 0] ** 2 * (f.value * g.value),
        symmetric=True,
    ),
    "elsewhere": ritz.form(
        lambda f, g, x: (f.value - 0.5 * f.at(x + 1).value) * (g.value - 0.5 * g.at(x + 1).value),
        symmetric=True,
    ),
    "two places": ritz.form(
        lambda f, g, x: f.gradient @ g.at(x + 0.1).gradient + f.at(x + 0.1).gradient @ g.gradient,
        symmetric=True,
    ),
}


def network(d=3, p=4):
    torch.manual_seed(0)
    return mlp(d, (8,), p, torch.nn.Tanh).double()


@pytest.mark.parametrize("name", FORMS)
def test_averages_equal_those_of_the_assembly(name):
    form, module = FORMS[name], network()
    data = (X, Y) if form.views == 2 else X
    # Zero offsets: the functions of the assembly are exactly the outputs of the module.
    basis = ritz.bases.Centered(Network(module, columns=3), np.zeros(4))
    expected = ritz.assemble(form, basis, data, n_folds=1, random_state=0).mean()
    stream = as_stream(data, form.views)
    seed = int(np.random.default_rng(0).integers(2**63, size=3)[0])
    prepared = form.prepare(stream.sample(10_000, seed))
    block = stream.whole("all of it")
    jet = TensorJet(module, block.views[0])
    found = averages(prepared, jet, jet, block, 3)
    np.testing.assert_allclose(found.energy.detach(), np.diag(expected.L), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.second_moments.detach(), expected.Phi, rtol=1e-11, atol=1e-13)
    assert found.kills_one == (not expected.L[0].any())
    found.energy.sum().backward()
    assert module[0].weight.grad.abs().max() > 0


def test_averages_of_two_modules_equal_those_of_the_assembly():
    left, right = network(), network(3, 4)
    bases = [ritz.bases.Centered(Network(m, columns=3), np.zeros(4)) for m in (left, right)]
    expected = ritz.assemble(ritz.cross(), bases, (X, Y), n_folds=1).mean()
    block = as_stream((X, Y), 2).whole("all of it")
    found = averages(ritz.cross(), TensorJet(left, X), TensorJet(right, Y), block, 2)
    np.testing.assert_allclose(found.energy.detach(), np.diag(expected.L), rtol=1e-12)
    second = torch.einsum("k,kij->ij", found.share, found.right).detach()
    np.testing.assert_allclose(second, expected.Psi, rtol=1e-12)


@pytest.mark.parametrize("weight", [np.ones(60), np.arange(1.0, 61.0)])
def test_merged_batches_equal_one_batch(weight):
    module = network()

    def batch(rows):
        block = Block((X[rows],), weight[rows], np.arange(60)[rows])
        jet = TensorJet(module, block.views[0])
        return averages(ritz.laplacian(), jet, jet, block, 2)

    whole, parts = batch(slice(0, 60)), [batch(slice(0, 20)), batch(slice(20, 60))]
    both = merged(parts)
    torch.testing.assert_close(both.energy, whole.energy, rtol=1e-13, atol=0)
    torch.testing.assert_close(both.second_moments, whole.second_moments, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("d", [3, 10, 40])
def test_random_unit_directions_scaled_by_d_are_unbiased_with_bounded_variance(d):
    # d <v, U>^2 for |v| = 1 has mean 1 and variance 2 (d - 1) / (d + 2), below 2 for every d.
    v = torch.zeros(d, dtype=torch.float64)
    v[0] = 1.0
    n = 200_000
    U = unit_directions(n, d, 1, torch.Generator().manual_seed(0))[:, :, 0]
    torch.testing.assert_close(U.norm(dim=1), torch.ones(n, dtype=torch.float64))
    estimates = d * (U @ v) ** 2
    variance = 2 * (d - 1) / (d + 2)
    assert estimates.mean().item() == pytest.approx(1.0, abs=4 * np.sqrt(variance / n))
    assert estimates.var().item() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize("name", ["laplacian", "diffusion", "tangent", "field", "two places"])
def test_energies_along_random_directions_average_to_the_energy(name):
    form, module = FORMS[name], network()

    def energy(copies, r=None, generator=None):
        index = np.tile(np.arange(60), copies)
        block = Block((X[index],), np.ones(len(index)), index)
        jet = TensorJet(module, block.views[0], r, generator)
        with torch.no_grad():
            return averages(form, jet, jet, block, 1).energy[1:]

    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([energy(50, 2, generator) for _ in range(16)])
    error = draws.std(dim=0) / 16**0.5
    assert ((draws.mean(dim=0) - energy(1)).abs() < 4 * error).all()
    assert (error < 0.01 * energy(1)).all()
