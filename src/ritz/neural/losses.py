"""Losses whose minimum is a spectrum: an energy, and what keeps functions apart."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

EPS = 1e-4


def energy(energies: Tensor, mu: Any) -> Tensor:
    """Return 2 sum_j E_L(f_j) / mu_j.

    Together with `whitening` or `contrastive`, and with mu a number, the least value for m
    functions is m - sum_j (1 - lambda_j / mu)_+^2, where f = (sqrt((1 - lambda_j / mu)_+) f_j) up
    to a rotation. With a vector mu that increases as lambda does this holds without the rotation if
    mu_1 >= 2 lambda_m; with others it need not.

    Parameters
    ----------
    energies
        The numbers E_L(f_j), (m,).
    mu
        A positive number, or one for each function (m,).
    """
    return 2 * (energies / mu).sum()


def whitening(second: Tensor) -> Tensor:
    """Return |E[f f'] - I|^2.

    Over a batch of b samples it exceeds its expectation's value by (E|f|^4 - |E[f f']|^2) / b in
    the mean: a biased estimate, which shrinks functions.

    Parameters
    ----------
    second
        The second moments E[f f'], (m, m).
    """
    return ((second - _identity(second)) ** 2).sum()


def contrastive(parts: Tensor) -> Tensor:
    """Return E[(f(X)'f(X'))^2] - 2 E|f(X)|^2 + m for independent X and X', without bias.

    It is the mean of <A_k - I, A_l - I> over pairs k != l of independent estimates A of E[f f'].
    Where samples have unequal weights, the estimates are quotients of sums, unbiased only for
    large parts.

    Parameters
    ----------
    parts
        Second moments (K, m, m) over K >= 2 independent parts of a batch: two halves, or as many
        parts as samples, which is the U-statistic.
    """
    return _between_parts(parts - _identity(parts), parts - _identity(parts))


def variance_covariance(covariance: Tensor) -> Tensor:
    """Return sum_j (1 - sqrt(C_jj + 1e-4))_+ + sum_{i != j} C_ij^2, the regularizer of VICReg.

    Functions are not thinned out as by `whitening`: one of eigenvalue lambda keeps the standard
    deviation min(1, mu / (4 lambda)), about, and none of them dies.

    Parameters
    ----------
    covariance
        The matrix C (m, m).
    """
    diagonal = covariance.diagonal()
    hinge = torch.relu(1 - (diagonal + EPS).sqrt()).sum()
    return hinge + (covariance**2).sum() - (diagonal**2).sum()


def two_towers(correlations: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Return -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2], Y' independent of X, without bias.

    Up to a constant it is |T - sum_j f_j g_j'|^2 for the operator T with <f, T g> = E[f(X) g(Y)].
    The least value for m pairs is -sum_j s_j^2, the largest singular values squared.

    Parameters
    ----------
    correlations
        The numbers E[f_j(X) g_j(Y)], (m,).
    left, right
        Second moments of f(X) and g(Y) over K >= 2 independent parts of a batch, (K, m, m).
    """
    return -2 * correlations.sum() + _between_parts(left, right)


def _identity(like: Tensor) -> Tensor:
    return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)


def _between_parts(A: Tensor, B: Tensor) -> Tensor:
    """Return the mean of <A_k, B_l> over k != l."""
    K = len(A)
    return ((A.sum(0) * B.sum(0)).sum() - (A * B).sum()) / (K * (K - 1))
