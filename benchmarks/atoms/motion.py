"""Molecular dynamics: a cluster in a heat bath, and frictionless motion along any gradient."""

import warnings
from collections.abc import Callable
from math import ceil, exp, sqrt

import numpy as np

from benchmarks.atoms.clusters import (
    Array,
    Configurations,
    centered,
    lennard_jones_minimum,
    pair_sums,
)

# Relaxation times 1 / friction that pass before the first sample.
WARM_UP_TIMES = 10
# An atom farther than this from all others, in units of the potential, has left the cluster.
LOST_DISTANCE = 3.0


def simulate_cluster(
    n_atoms: int,
    n_samples: int,
    temperature: float = 0.05,
    step: float = 0.01,
    stride: int = 20,
    friction: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Configurations:
    r"""Simulate a Lennard-Jones cluster in a heat bath, starting at its lowest energy.

    .. math:: dx = v\,dt, \qquad dv = -\nabla E(x)\,dt - \gamma v\,dt + \sqrt{2 \gamma T}\,dW,

    for atoms of mass 1. The integrator is the BAOAB splitting, whose samples of positions have an
    error of order step^2. The noise has no total momentum, so the center stays at the origin, while
    the cluster rotates.

    Parameters
    ----------
    n_atoms
        Number N of atoms.
    n_samples
        Number n of configurations to return.
    temperature
        Temperature T in units of the depth of the pair potential. Above 0.1 atoms soon leave.
    step
        Time step; the period of the stiffest vibrations is about 0.5.
    stride
        Number of steps between two samples.
    friction
        Friction gamma; samples 1 / gamma apart in time are nearly independent.
    random_state
        Seed or generator.
    """
    rng = np.random.default_rng(random_state)
    decay = exp(-friction * step)
    x = reference = lennard_jones_minimum(n_atoms)[None]
    v = sqrt(temperature) * _random_velocity(n_atoms, rng)
    _, g = pair_sums(x)
    X = np.empty((n_samples, 3 * n_atoms))
    energies, gradients = np.empty(n_samples), np.empty_like(X)
    warm_up = ceil(WARM_UP_TIMES / (friction * step))
    # Overflow is checked after the loop.
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(-warm_up, n_samples * stride):
            v = v - step / 2 * g
            x = x + step / 2 * v
            v = decay * v + sqrt((1 - decay**2) * temperature) * _random_velocity(n_atoms, rng)
            x = x + step / 2 * v
            energy, g = pair_sums(x)
            v = v - step / 2 * g
            if number >= 0 and (number + 1) % stride == 0:
                sample = number // stride
                X[sample], energies[sample], gradients[sample] = x[0], energy[0], g[0]
    if not np.isfinite(X).all():
        raise ValueError(f"Positions overflowed with step={step:g}. Pass 0.01 or less.")
    lost = float((_largest_gap(X) > LOST_DISTANCE).mean())
    if lost > 0:
        warnings.warn(
            f"In {lost:.1%} of the samples an atom is farther than {LOST_DISTANCE:g} from all "
            "others: the cluster fell apart. Pass a lower temperature or a smaller step.",
            stacklevel=2,
        )
    return Configurations(X, energies, gradients, reference[0])


def verlet(
    gradient: Callable[[Array], Array],
    positions: Array,
    velocities: Array,
    step: float,
    n_steps: int,
    mass: float = 1.0,
) -> tuple[Array, Array]:
    r"""Integrate frictionless motion by the velocity Verlet method.

    .. math:: m \ddot x = -\nabla E(x).

    If the field is the gradient of an energy E, the total energy E + m |v|^2 / 2 stays within an
    error of order step^2 of its initial value for any time; otherwise it drifts.

    Parameters
    ----------
    gradient
        `gradient(X)` returns the gradients (n, d) at the rows of X.
    positions, velocities
        Initial values (n, d) of n independent motions.
    step
        Time step.
    n_steps
        Number of steps.
    mass
        The mass m.

    Returns
    -------
    Positions and velocities (n_steps + 1, n, d) at each time, the initial values first.
    """
    X, V = np.empty((2, n_steps + 1, *positions.shape))
    X[0], V[0] = x, v = positions, velocities
    kick = -step / (2 * mass) * gradient(x)
    for number in range(1, n_steps + 1):
        x = x + step * (v + kick)
        if not np.isfinite(x).all():
            raise ValueError(f"Positions are not finite in step {number}. Pass a smaller step.")
        following = -step / (2 * mass) * gradient(x)
        v = v + kick + following
        X[number], V[number], kick = x, v, following
    return X, V


def _random_velocity(n_atoms: int, rng: np.random.Generator) -> Array:
    """Draw a standard normal velocity (1, 3 N) without total momentum."""
    return centered(rng.standard_normal((1, 3 * n_atoms))).reshape(1, -1)


def _largest_gap(X: Array) -> Array:
    """Return the largest distance (n,) of an atom to its nearest neighbor in each cluster."""
    atoms = X.reshape(len(X), -1, 3)
    distances = np.linalg.norm(atoms[:, :, None] - atoms[:, None], axis=3)
    distances[:, *np.diag_indices(atoms.shape[1])] = np.inf
    return np.asarray(distances.min(axis=2).max(axis=1))
