"""The minima of the losses, and the bias of their estimates."""

import pytest
import torch

import ritz
from ritz.neural import (
    SpectralLoss,
    contrastive,
    energy,
    mlp,
    two_towers,
    variance_covariance,
    whitening,
)

LAMBDA = torch.tensor([1.0, 2.0, 3.0, 5.0, 8.0, 13.0], dtype=torch.float64)


def loss_of(A, values, mu):
    """The exact loss of the functions sum_i A_ij f_i, where f_i are the eigenfunctions."""
    return energy((A**2 * values[:, None]).sum(0), mu) + whitening(A.T @ A)


def minimum(function, starts):
    """Minimize by L-BFGS from several starts; return the minimum and its argument."""
    found = []
    for start in starts:
        A = start.clone().requires_grad_(True)
        optimizer = torch.optim.LBFGS(
            [A],
            max_iter=500,
            tolerance_grad=1e-12,
            tolerance_change=0,
            line_search_fn="strong_wolfe",
        )

        def closure(A=A, optimizer=optimizer):
            optimizer.zero_grad()
            value = function(A)
            value.backward()
            return value

        optimizer.step(closure)
        found.append((function(A).item(), A.detach()))
    return min(found, key=lambda pair: pair[0])


def starts(n, p, count=8):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(n, p, generator=generator, dtype=torch.float64) for _ in range(count)]


def stated(values, mu, p):
    """The value of the loss at sqrt((1 - lambda_i / mu_i)_+) f_i."""
    return p - (torch.relu(1 - values[:p] / mu) ** 2).sum().item()


def test_with_a_number_mu_the_stated_point_is_the_minimum_up_to_a_rotation():
    p, mu = 4, 7.0
    value, A = minimum(lambda A: loss_of(A, LAMBDA, mu), starts(6, p))
    assert value == pytest.approx(stated(LAMBDA, mu, p), abs=1e-10)
    expected = torch.diag(torch.relu(1 - LAMBDA / mu) * (torch.arange(6) < p))
    torch.testing.assert_close(A @ A.T, expected, rtol=0, atol=1e-6)


def test_eigenvalues_above_mu_vanish():
    value, A = minimum(lambda A: loss_of(A, LAMBDA, 2.5), starts(6, 4))
    assert value == pytest.approx(stated(LAMBDA, 2.5, 4), abs=1e-10)
    assert torch.linalg.svdvals(A)[2:].max() < 1e-4


def test_with_an_increasing_vector_above_twice_the_last_eigenvalue_there_is_no_rotation():
    p, mu = 3, torch.tensor([6.0, 9.0, 14.0], dtype=torch.float64)
    value, A = minimum(lambda A: loss_of(A, LAMBDA, mu), starts(6, p))
    assert value == pytest.approx(stated(LAMBDA, mu, p), abs=1e-10)
    expected = torch.zeros(6, p, dtype=torch.float64)
    expected[range(p), range(p)] = torch.sqrt(1 - LAMBDA[:p] / mu)
    torch.testing.assert_close(A.abs(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("mu", "at_stated", "at_minimum"),
    [
        # A decreasing vector: the functions change places.
        ((10.0, 5.0), 0.83, 0.72),
        # An increasing vector below twice the last eigenvalue: only one function survives.
        ((1.2, 2.4), 2 - 2 / 36, 2 - (1 - 1 / 2.4) ** 2),
    ],
)
def test_counterexamples_where_the_stated_point_is_not_the_minimum(mu, at_stated, at_minimum):
    values, mu = LAMBDA[:2], torch.tensor(mu, dtype=torch.float64)
    assert stated(values, mu, 2) == pytest.approx(at_stated, abs=1e-12)
    value, _ = minimum(lambda A: loss_of(A, values, mu), starts(2, 2))
    assert value == pytest.approx(at_minimum, abs=1e-9)
    assert value < at_stated - 0.1


def test_a_decreasing_vector_is_an_error():
    with pytest.raises(ValueError, match="increasing"):
        SpectralLoss(ritz.laplacian(), mu=[10.0, 5.0])


def test_the_variance_covariance_regularizer_shrinks_functions_but_none_vanishes():
    # One function of eigenvalue lambda keeps the standard deviation min(1, mu / (4 lambda)).
    for value in (0.1, 1.0, 10.0):

        def loss(A, value=value):
            return energy(value * A[0] ** 2, 2.0) + variance_covariance(A.T @ A)

        # The tolerance covers the 1e-4 under the root.
        grid = torch.linspace(0, 1.2, 1201, dtype=torch.float64)
        best = min(grid.tolist(), key=lambda s: loss(torch.tensor([[s]])).item())
        assert best == pytest.approx(min(1.0, 2.0 / (4 * value)), abs=2e-3)


def test_the_minimum_of_two_towers_has_the_largest_singular_values():
    generator = torch.Generator().manual_seed(1)
    T = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    singular = torch.linalg.svdvals(T)

    def loss(C):
        A, B = C[:5], C[5:]
        return two_towers(
            torch.einsum("ip,ij,jp->p", A, T, B),
            (A.T @ A).repeat(2, 1, 1),
            (B.T @ B).repeat(2, 1, 1),
        )

    value, C = minimum(loss, starts(9, 2))
    assert value == pytest.approx(-(singular[:2] ** 2).sum().item(), abs=1e-9)
    assert torch.linalg.svdvals(C[:5] @ C[5:].T)[:2] == pytest.approx(singular[:2], abs=1e-5)


def samples(n, seed=0):
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * (
        torch.tensor([1.0, 0.8, 0.5], dtype=torch.float64)
    )


def seconds(F, parts):
    return torch.stack([f.T @ f / len(f) for f in torch.tensor_split(F, parts)])


def test_with_one_sample_a_part_the_estimate_is_the_u_statistic():
    F = samples(12)
    products = (F @ F.T) ** 2
    off = (products.sum() - products.diagonal().sum()) / (12 * 11)
    expected = off - 2 * (F**2).sum(1).mean() + 3
    torch.testing.assert_close(contrastive(seconds(F, 12)), expected)


def test_with_two_parts_the_estimate_compares_two_halves():
    F = samples(12)
    expected = ((F[:6] @ F[6:].T) ** 2).mean() - 2 * (F**2).sum(1).mean() + 3
    torch.testing.assert_close(contrastive(seconds(F, 2)), expected)


@pytest.mark.parametrize("parts", [2, 4, 10])
def test_the_contrastive_estimate_is_unbiased_and_whitening_has_the_stated_bias(parts):
    # f = (1, 0.8, 0.5) times standard normals: E[f f'] is diagonal with entries d.
    d = torch.tensor([1.0, 0.64, 0.25], dtype=torch.float64)
    truth = ((d - 1) ** 2).sum().item()
    b, draws = 20, 20_000
    batches = samples(b * draws).reshape(draws, b, 3)
    found = torch.stack([contrastive(seconds(F, parts)) for F in batches[:4000]])
    assert found.mean().item() == pytest.approx(truth, abs=4 * (found.std() / 4000**0.5).item())
    second = torch.einsum("sbi,sbj->sij", batches, batches) / b
    biased = ((second - torch.eye(3)) ** 2).sum((1, 2))
    # E|f|^4 = (sum d)^2 + 2 sum d^2 for normals.
    bias = ((d.sum() ** 2 + 2 * (d**2).sum() - (d**2).sum()) / b).item()
    error = (biased.std() / draws**0.5).item()
    assert biased.mean().item() == pytest.approx(truth + bias, abs=4 * error)
    assert bias > 20 * error


def test_for_pairs_and_mu_2_the_loss_is_the_spectral_contrastive_loss():
    torch.manual_seed(0)
    module = mlp(3, (8,), 4).double()
    X = samples(10)
    Y = X + 0.1 * samples(10, 1)
    F, G = (torch.cat([torch.ones(10, 1), module(Z)], 1) for Z in (X, Y))
    # -2 E[f(xi)'f(xi')] + E[(f(xi)'f(xi-))^2] + m, xi- a version of another sample.
    pairs = sum(((A @ B.T) ** 2 for A in (F, G) for B in (F, G)), start=torch.zeros(10, 10)) / 4
    negatives = (pairs.sum() - pairs.diagonal().sum()) / 90
    # The function 1 is the first of five: it has no energy, and adds -2 to -2 E[f(xi)'f(xi')].
    expected = -2 * (F * G).sum(1).mean() + negatives + 5
    loss = SpectralLoss(ritz.pairs(), mu=2.0, n_parts=10)
    torch.testing.assert_close(loss(module, (X, Y)), expected)


def test_both_regularizers_agree_on_many_samples():
    torch.manual_seed(0)
    module = mlp(3, (8,), 4).double()
    X = samples(40_000)
    one, two = (
        SpectralLoss(ritz.laplacian(), 5.0, name)(module, X).item()
        for name in ("contrastive", "whitening")
    )
    assert one == pytest.approx(two, abs=1e-3)
    assert one != two


def test_the_loss_of_a_network_falls_but_not_below_the_minimum():
    # Standard normals in one dimension: eigenvalues 0, 1, 2, ...
    torch.manual_seed(0)
    X = torch.randn(10_000, 1, dtype=torch.float64)
    module = mlp(1, (16,), 2).double()
    bound = 3 - sum((1 - k / 5) ** 2 for k in range(3))
    loss = SpectralLoss(ritz.laplacian(), 5.0)
    optimizer = torch.optim.Adam(module.parameters(), 1e-2)
    losses = []
    for _ in range(60):
        losses.append(loss(module, X).item())
        optimizer.zero_grad()
        loss(module, X[:1000]).backward()
        optimizer.step()
    assert min(losses) > bound - 0.05
    assert losses[-1] < losses[0] - 0.3
