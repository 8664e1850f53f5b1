"""Small clusters of atoms: energies, forces, lowest minima, and how to turn one to another."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from ritz.datasets.checks import Array, count, points

__all__ = [
    "Configurations",
    "align",
    "centered",
    "lennard_jones",
    "lennard_jones_minimum",
    "pair_sums",
]

STARTS = 30
SHAKE = 0.2


@dataclass(frozen=True, eq=False)
class Configurations:
    """Positions of the atoms of one cluster, with their energies and gradients.

    Parameters
    ----------
    X : array of shape (n, 3 N)
        The coordinates of N atoms: three of the first, three of the second, and so on.
    energies : array of shape (n,)
        The potential energy of each configuration.
    gradients : array of shape (n, 3 N)
        Its gradient in the coordinates, minus the force.
    reference : array of shape (3 N,)
        The configuration of lowest energy.

    """

    X: Array
    energies: Array
    gradients: Array
    reference: Array

    def aligned(self) -> "Configurations":
        """Return the same shapes, each moved and turned as near to the reference as it can be.

        Returns
        -------
        Configurations
            Energies are unchanged, gradients turned along with the positions.

        """
        X, gradients = align(self.X, self.gradients, self.reference)
        return Configurations(X, self.energies, gradients, self.reference)


def lennard_jones(positions: ArrayLike) -> tuple[Array, Array]:
    r"""Compute the Lennard-Jones energy of clusters and its gradient, in reduced units.

    .. math:: E(x) = \sum_{i < j} 4 (r_{ij}^{-12} - r_{ij}^{-6}), \qquad r_{ij} = |x_i - x_j|.

    A pair has its least energy, -1, at the distance 2^(1/6).

    Parameters
    ----------
    positions : array of shape (n, 3 N)
        The coordinates of N >= 2 atoms, three after three.

    Returns
    -------
    energies : array of shape (n,)
    gradients : array of shape (n, 3 N)

    Examples
    --------
    >>> from ritz.datasets import lennard_jones
    >>> energies, gradients = lennard_jones([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    >>> float(energies[0]), gradients[0, 3:].tolist()
    (0.0, [-24.0, 0.0, 0.0])

    """
    X = _clusters(positions, "positions", "lennard_jones")
    energies, gradients = pair_sums(X)
    if not (np.isfinite(energies).all() and np.isfinite(gradients).all()):
        raise ValueError(
            "The 'positions' parameter of lennard_jones must keep atoms apart. "
            "Got two atoms in one place instead. Drop those rows first."
        )
    return energies, gradients


def lennard_jones_minimum(n_atoms: int) -> Array:
    """Find the configuration of lowest Lennard-Jones energy, centered at the origin.

    It is the best of 30 descents, always the same, from the places of atoms that repel each
    other in a bowl, shaken: these are compact already.

    Parameters
    ----------
    n_atoms : int
        Number N of atoms. The lowest known minima are found up to 13; for more, there are too
        many minima.

    Returns
    -------
    array of shape (3 N,)

    """
    n_atoms = count(n_atoms, "n_atoms", "lennard_jones_minimum", at_least=2)
    rng = np.random.default_rng(0)
    best, lowest = np.zeros(3 * n_atoms), np.inf
    for _ in range(STARTS):
        start, shake = rng.standard_normal((2, 3 * n_atoms))
        x = minimize(_bowl, 0.5 * start, jac=True).x + SHAKE * shake
        descent = minimize(_cluster, x, jac=True, options={"gtol": 1e-9})
        if descent.fun < lowest:
            best, lowest = descent.x, descent.fun
    return centered(best[None]).reshape(-1)


def align(positions: ArrayLike, gradients: ArrayLike, reference: ArrayLike) -> tuple[Array, Array]:
    r"""Move and turn each cluster as near as it can be to a reference (Kabsch's method).

    .. math:: x_i \mapsto Q (x_i - \bar x), \qquad g_i \mapsto Q g_i, \qquad
        Q = \arg\min_{Q \in SO(3)} \sum_i |Q (x_i - \bar x) - (r_i - \bar r)|^2.

    An energy that depends on distances alone has the gradient Q g at the new positions.

    Parameters
    ----------
    positions, gradients : arrays of shape (n, 3 N)
        The coordinates of N atoms, and gradients there.
    reference : array of shape (3 N,)
        The cluster that tells where to turn.

    Returns
    -------
    positions, gradients : arrays of shape (n, 3 N)
        The positions centered at the origin.

    """
    X = _clusters(positions, "positions", "align")
    G = points(gradients, X.shape[1], "gradients", "align")
    if len(G) != len(X):
        raise ValueError(
            f"The 'gradients' parameter of align must have as many rows as 'positions', "
            f"{len(X)}. Got {len(G)} rows instead."
        )
    target = points(np.atleast_2d(np.asarray(reference)), X.shape[1], "reference", "align")
    if len(target) != 1:
        raise ValueError(
            f"The 'reference' parameter of align must be one configuration, of shape "
            f"({X.shape[1]},). Got {len(target)} of them instead."
        )
    atoms = centered(X)
    U, _, W = np.linalg.svd(atoms.transpose(0, 2, 1) @ centered(target))
    # A reflection may come nearer still, but no motion reaches it.
    U[:, :, 2] *= np.sign(np.linalg.det(U @ W))[:, None]
    Q = U @ W
    return (atoms @ Q).reshape(X.shape), (G.reshape(atoms.shape) @ Q).reshape(X.shape)


def pair_sums(X: Array) -> tuple[Array, Array]:
    """Return energies (n,) and gradients (n, 3 N), not finite where atoms coincide."""
    n_atoms = X.shape[1] // 3
    differences = _differences(n_atoms)
    r = differences @ X.reshape(len(X), n_atoms, 3)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        inverse = 1 / np.einsum("npi,npi->np", r, r)
        sixth = inverse**3
        energies = 4 * (sixth * (sixth - 1)).sum(axis=1)
        slopes = -24 * sixth * (2 * sixth - 1) * inverse
        gradients = differences.T @ (slopes[:, :, None] * r)
    return energies, gradients.reshape(X.shape)


def _cluster(x: Array) -> tuple[float, Array]:
    energies, gradients = pair_sums(x[None])
    return float(energies[0]), gradients[0]


def _bowl(x: Array) -> tuple[float, Array]:
    """Return sum_{i<j} 1 / r_ij^2 + N^(1/3) |x|^2 / 2 and its gradient."""
    n_atoms = len(x) // 3
    stiffness = n_atoms ** (1 / 3)
    differences = _differences(n_atoms)
    r = differences @ x.reshape(n_atoms, 3)
    inverse = 1 / (r**2).sum(axis=1, keepdims=True)
    gradient = differences.T @ (-2 * inverse**2 * r)
    return float(inverse.sum() + stiffness / 2 * x @ x), gradient.ravel() + stiffness * x


@cache
def _differences(n_atoms: int) -> Array:
    """Return the matrix (pairs, N) that takes atoms to the differences of all pairs."""
    first, second = np.triu_indices(n_atoms, 1)
    unit = np.eye(n_atoms)
    matrix = unit[first] - unit[second]
    matrix.setflags(write=False)
    return matrix


def centered(X: Array) -> Array:
    """Return the atoms (n, N, 3) of each row less their mean."""
    atoms = X.reshape(len(X), -1, 3)
    return np.asarray(atoms - atoms.mean(axis=1, keepdims=True))


def _clusters(X: ArrayLike, name: str, owner: str) -> Array:
    """Return finite configurations of at least two atoms as a float64 array (n, 3 N)."""
    array = np.asarray(X, dtype=np.float64)
    n_atoms = array.shape[1] // 3 if array.ndim == 2 else 2
    if array.ndim == 2 and (array.shape[1] % 3 or n_atoms < 2):
        raise ValueError(
            f"The '{name}' parameter of {owner} must have shape (n, 3 N) with N >= 2 atoms. "
            f"Got shape {array.shape} instead. Pass one configuration per row."
        )
    return points(array, 3 * n_atoms, name, owner)
