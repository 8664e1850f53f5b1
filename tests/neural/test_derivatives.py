"""Values and derivatives of a module, against finite differences and torch.autograd."""

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import Network, mlp
from ritz.neural.derivatives import (
    directional_derivatives,
    jacobian,
    partial_derivative,
    values,
)


def network(d, p, seed=0):
    torch.manual_seed(seed)
    return mlp(d, (16, 16), p, torch.nn.Tanh).double()


@pytest.mark.parametrize(("d", "p"), [(2, 5), (5, 2)])
def test_jacobian_in_both_modes_equals_autograd(d, p):
    module, X = network(d, p), torch.randn(7, d, dtype=torch.float64)
    expected = torch.stack(
        [torch.autograd.functional.jacobian(module, row[None])[0, :, 0].T for row in X]
    )
    torch.testing.assert_close(jacobian(module, X, p), expected, rtol=0, atol=1e-13)


def test_directional_derivatives_are_products_with_the_jacobian():
    module, X = network(4, 3), torch.randn(6, 4, dtype=torch.float64)
    U = torch.randn(6, 4, 2, dtype=torch.float64)
    expected = torch.einsum("bdr,bdp->brp", U, jacobian(module, X, 3))
    found = directional_derivatives(module, X, U)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("alpha", [(1, 0), (0, 2), (1, 1), (2, 1)])
def test_partial_derivatives_converge_at_the_rate_of_central_differences(alpha):
    module, X = network(2, 3), torch.randn(5, 2, dtype=torch.float64)
    axis = max(i for i in range(2) if alpha[i])
    lower = tuple(a - (i == axis) for i, a in enumerate(alpha))
    step = torch.zeros(2, dtype=torch.float64)

    def error(h):
        step[axis] = h
        up, down = (partial_derivative(module, X + s, lower) for s in (step, -step))
        difference = (up - down) / (2 * h)
        return (difference - partial_derivative(module, X, alpha)).abs().max().item()

    slope = np.log(error(1e-2) / error(1e-3)) / np.log(10)
    assert slope == pytest.approx(2.0, abs=0.05)


def test_input_gradients_are_differentiable_in_the_parameters():
    module, X = network(3, 2), torch.randn(4, 3, dtype=torch.float64)
    weight = module[0].weight

    def total():
        return jacobian(module, X, 2).square().sum()

    total().backward()
    slope, h = weight.grad[1, 2].item(), 1e-6
    with torch.no_grad():
        weight[1, 2] += h
        up = total()
        weight[1, 2] -= 2 * h
        down = total()
    assert slope == pytest.approx(((up - down) / (2 * h)).item(), rel=1e-7)


def test_a_network_is_a_basis():
    module = network(2, 4)
    basis = Network(module, columns=2)
    X = np.random.default_rng(0).normal(size=(9, 2))
    rows = torch.from_numpy(X)
    assert len(basis) == 4
    np.testing.assert_array_equal(basis(X), values(module, rows).detach().numpy())
    expected = jacobian(module, rows, 4).detach().numpy()
    np.testing.assert_allclose(basis.gradient(X), expected, rtol=0, atol=1e-15)
    second = partial_derivative(module, rows, (1, 1)).detach().numpy()
    np.testing.assert_allclose(basis.partial(X, (1, 1)), second, rtol=0, atol=1e-15)


def test_training_a_module_further_does_not_change_a_basis():
    module = network(2, 4)
    basis = Network(module, columns=2)
    before = basis(np.ones((1, 2)))
    with torch.no_grad():
        module[0].weight.add_(1.0)
    np.testing.assert_array_equal(basis(np.ones((1, 2))), before)


class Powers(torch.nn.Module):
    """The functions x, x^2 and x^3, which span the Hermite polynomials up to degree three."""

    def forward(self, x):
        return torch.cat([x, x**2, x**3], dim=1)


@pytest.mark.parametrize(
    "form",
    [
        ritz.laplacian(),
        ritz.diffusion(2.0),
        ritz.directional(np.ones_like),
        ritz.laplacian() + ritz.potential(lambda x: x[:, 0] ** 2),
        ritz.differential({((2,), (2,)): 1.0}),
    ],
)
def test_a_module_of_monomials_has_the_spectrum_of_monomials(form):
    X = np.random.default_rng(0).normal(size=(2000, 1))
    ours = ritz.decompose(form, Network(Powers()), X, k=4)
    theirs = ritz.decompose(form, ritz.Monomials(3), X, k=4)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.errors, theirs.errors, rtol=1e-6, atol=1e-10)


def test_derivatives_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    basis = Network(network(2, 8))
    one, two = (
        ritz.assemble(ritz.laplacian(), basis, X, random_state=0, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.mean().L, two.mean().L)
