"""Losses whose minimum is a spectrum: an energy, and regularizers that keep functions apart."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ritz.validation import parameter_error


def energy(energies: Tensor, mu: Any) -> Tensor:
    """Return 2 sum_j E_L(f_j) / mu_j.

    Add `whitening` or `contrastive` to it, for m functions. If mu is a number, the minimum of the
    sum is m - sum_j (1 - lambda_j / mu)_+^2, attained at f = (sqrt((1 - lambda_j / mu)_+) f_j) up
    to a rotation. If mu is a vector that increases as lambda does and mu_1 >= 2 lambda_m, the same
    holds without the rotation, each lambda_j being divided by its own mu_j. For other vectors it
    need not hold.

    Parameters
    ----------
    energies
        The numbers E_L(f_j), (m,).
    mu
        A positive number, or one for each function (m,).
    """
    _require_tensor(energies, "energies", 1)
    return 2 * (energies / mu).sum()


def whitening(second: Tensor) -> Tensor:
    """Return |E[f f'] - I|^2.

    Estimated on a batch of b samples it is biased: its expectation is too large by
    (E|f|^4 - |E[f f']|^2) / b, which shrinks the functions.

    Parameters
    ----------
    second
        The second moments E[f f'], (m, m).
    """
    _require_tensor(second, "second", 2)
    return ((second - _identity(second)) ** 2).sum()


def contrastive(parts: Tensor) -> Tensor:
    """Return an unbiased estimate of E[(f(X)'f(X'))^2] - 2 E|f(X)|^2 + m, X' independent of X.

    It is the mean of <A_k - I, A_l - I> over pairs k != l of independent estimates A of E[f f'].
    Where samples have unequal weights, each estimate is a quotient of sums, and the bias only
    vanishes as the parts grow.

    Parameters
    ----------
    parts
        Second moments (K, m, m) over K >= 2 independent parts of a batch. Two parts are two
        halves of it; one part for each sample gives the U-statistic.
    """
    _require_tensor(parts, "parts", 3)
    return _mean_over_pairs(parts - _identity(parts), parts - _identity(parts))


def variance_covariance(covariance: Tensor) -> Tensor:
    """Return sum_j (1 - sqrt(C_jj + 1e-4))_+ + sum_{i != j} C_ij^2, the regularizer of VICReg.

    Unlike `whitening` it lets no function vanish: one of eigenvalue lambda keeps a standard
    deviation of about min(1, mu / (4 lambda)).

    Parameters
    ----------
    covariance
        The matrix C (m, m).
    """
    _require_tensor(covariance, "covariance", 2)
    diagonal = covariance.diagonal()
    hinge = torch.relu(1 - (diagonal + 1e-4).sqrt()).sum()
    return hinge + (covariance**2).sum() - (diagonal**2).sum()


def two_towers(correlations: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Return an unbiased estimate of -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2], Y' independent of X.

    Up to a constant it is |T - sum_j f_j g_j'|^2 for the operator T with <f, T g> = E[f(X) g(Y)].
    Its minimum for m pairs is -sum_j s_j^2 over the m largest singular values.

    Parameters
    ----------
    correlations
        The numbers E[f_j(X) g_j(Y)], (m,).
    left, right
        Second moments of f(X) and g(Y) over K >= 2 independent parts of a batch, (K, m, m).
    """
    _require_tensor(correlations, "correlations", 1)
    _require_tensor(left, "left", 3)
    _require_tensor(right, "right", 3)
    return -2 * correlations.sum() + _mean_over_pairs(left, right)


def _require_tensor(value: Any, name: str, ndim: int) -> None:
    """Raise unless an argument is a tensor with that many axes."""
    axes = "axis" if ndim == 1 else "axes"
    if not isinstance(value, Tensor):
        what = f"a tensor with {ndim} {axes}"
        raise parameter_error(name, what, type(value).__name__, kind=TypeError)
    if value.ndim != ndim:
        raise parameter_error(name, f"a tensor with {ndim} {axes}", f"shape {tuple(value.shape)}")


def _identity(like: Tensor) -> Tensor:
    return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)


def _mean_over_pairs(A: Tensor, B: Tensor) -> Tensor:
    """Return the mean of <A_k, B_l> over k != l."""
    K = len(A)
    return ((A.sum(0) * B.sum(0)).sum() - (A * B).sum()) / (K * (K - 1))
