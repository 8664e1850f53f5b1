"""Small clusters of atoms: energies, forces, lowest minima, and alignment to a reference."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]

# Number of descents, and the standard deviation of the perturbation of each start, that find the
# lowest known minima of up to 13 atoms.
N_DESCENTS = 30
PERTURBATION = 0.2


@dataclass(frozen=True, eq=False)
class Configurations:
    """Positions of the atoms of one cluster, with their energies and gradients.

    Parameters
    ----------
    X
        The coordinates (n, 3 N) of N atoms: three of the first, three of the second, and so on.
    energies
        The potential energy (n,) of each configuration.
    gradients
        The gradient (n, 3 N) of the energy, which is minus the force.
    reference
        The configuration (3 N,) of lowest energy.
    """

    X: Array
    energies: Array
    gradients: Array
    reference: Array

    def aligned(self) -> "Configurations":
        """Return the configurations aligned to the reference, with their gradients rotated."""
        X, gradients = align(self.X, self.gradients, self.reference)
        return Configurations(X, self.energies, gradients, self.reference)


def lennard_jones(positions: ArrayLike) -> tuple[Array, Array]:
    r"""Return the Lennard-Jones energies (n,) of clusters (n, 3 N) and their gradients (n, 3 N).

    .. math:: E(x) = \sum_{i < j} 4 (r_{ij}^{-12} - r_{ij}^{-6}), \qquad r_{ij} = |x_i - x_j|.

    A pair has its lowest energy, -1, at the distance 2^(1/6).
    """
    energies, gradients = pair_sums(np.asarray(positions, dtype=np.float64))
    if not (np.isfinite(energies).all() and np.isfinite(gradients).all()):
        raise ValueError("Two atoms are at the same position. Drop those rows first.")
    return energies, gradients


def lennard_jones_minimum(n_atoms: int) -> Array:
    """Return the configuration (3 N,) of lowest Lennard-Jones energy, centered at the origin.

    It is the best of 30 descents with a fixed seed. They start near minima of atoms that repel
    each other in a quadratic well, which are compact already. Up to 13 atoms this finds the lowest
    known minimum; larger clusters have too many minima.
    """
    rng = np.random.default_rng(0)
    best, lowest = np.zeros(3 * n_atoms), np.inf
    for _ in range(N_DESCENTS):
        start, perturbation = rng.standard_normal((2, 3 * n_atoms))
        x = minimize(_repulsion_in_well, 0.5 * start, jac=True).x + PERTURBATION * perturbation
        descent = minimize(_single_cluster, x, jac=True, options={"gtol": 1e-9})
        if descent.fun < lowest:
            best, lowest = descent.x, descent.fun
    return centered(best[None]).reshape(-1)


def align(positions: ArrayLike, gradients: ArrayLike, reference: ArrayLike) -> tuple[Array, Array]:
    r"""Translate and rotate each cluster as close as possible to a reference (Kabsch's method).

    .. math:: x_i \mapsto Q (x_i - \bar x), \qquad g_i \mapsto Q g_i, \qquad
        Q = \arg\min_{Q \in SO(3)} \sum_i |Q (x_i - \bar x) - (r_i - \bar r)|^2.

    An energy that depends on distances only has the gradient Q g at the new positions.

    Parameters
    ----------
    positions, gradients
        The coordinates (n, 3 N) of N atoms, and gradients there.
    reference
        The configuration (3 N,) to align to.

    Returns
    -------
    Positions (n, 3 N), centered at the origin, and rotated gradients (n, 3 N).
    """
    X, G = (np.asarray(array, dtype=np.float64) for array in (positions, gradients))
    atoms = centered(X)
    U, _, W = np.linalg.svd(atoms.transpose(0, 2, 1) @ centered(np.asarray(reference)[None]))
    # A reflection may come closer, but it is not a rigid motion.
    U[:, :, 2] *= np.sign(np.linalg.det(U @ W))[:, None]
    Q = U @ W
    return (atoms @ Q).reshape(X.shape), (G.reshape(atoms.shape) @ Q).reshape(X.shape)


def pair_sums(X: Array) -> tuple[Array, Array]:
    """Return energies (n,) and gradients (n, 3 N), which are not finite where atoms coincide."""
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


def centered(X: Array) -> Array:
    """Return the atoms (n, N, 3) of each row with their mean subtracted."""
    atoms = X.reshape(len(X), -1, 3)
    return np.asarray(atoms - atoms.mean(axis=1, keepdims=True))


def _single_cluster(x: Array) -> tuple[float, Array]:
    energies, gradients = pair_sums(x[None])
    return float(energies[0]), gradients[0]


def _repulsion_in_well(x: Array) -> tuple[float, Array]:
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
    """Return the matrix (pairs, N) that maps atoms to the differences of all pairs."""
    first, second = np.triu_indices(n_atoms, 1)
    unit = np.eye(n_atoms)
    matrix = unit[first] - unit[second]
    matrix.setflags(write=False)
    return matrix
