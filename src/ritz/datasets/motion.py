"""Atoms and other points in motion: in a heat bath, or down any gradient without friction."""

import warnings
from collections.abc import Callable
from math import ceil, exp, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ritz.datasets.atoms import Configurations, centered, lennard_jones_minimum, pair_sums
from ritz.datasets.checks import Array, Seed, count, points, real

__all__ = ["simulate_cluster", "verlet"]

RELAXATIONS = 10
REACH = 3.0


def simulate_cluster(
    n_atoms: int,
    n_samples: int,
    temperature: float = 0.05,
    step: float = 0.01,
    stride: int = 20,
    friction: float = 1.0,
    random_state: Seed = None,
) -> Configurations:
    r"""Follow a Lennard-Jones cluster in a heat bath, from its lowest energy on.

    .. math:: dx = v\,dt, \qquad dv = -\nabla E(x)\,dt - \gamma v\,dt + \sqrt{2 \gamma T}\,dW,

    with atoms of mass 1, by the splitting BAOAB, whose samples of positions have an error of
    order step^2 at most. The bath does not push the center, which stays at the origin; the
    cluster turns, unless it is `aligned`. Ten relaxation times 1 / friction pass before the
    first sample.

    Parameters
    ----------
    n_atoms : int
        Number N of atoms.
    n_samples : int
        Number n of configurations to return.
    temperature : float
        Temperature T, in depths of the potential of a pair. Beyond a tenth atoms soon fly away.
    step : float
        Time step; the stiffest vibrations take about 0.5.
    stride : int
        Number of steps between two samples.
    friction : float
        Friction gamma; samples 1 / gamma apart in time are nearly independent.
    random_state : int, numpy Generator or None
        Source of randomness.

    Returns
    -------
    Configurations

    """
    owner = "simulate_cluster"
    n_atoms = count(n_atoms, "n_atoms", owner, at_least=2)
    n_samples = count(n_samples, "n_samples", owner)
    temperature = real(temperature, "temperature", owner, 0.0, np.inf, closed=False)
    step = real(step, "step", owner, 0.0, np.inf, closed=False)
    stride = count(stride, "stride", owner)
    friction = real(friction, "friction", owner, 0.0, np.inf, closed=False)
    rng = np.random.default_rng(random_state)

    kept = exp(-friction * step)
    x = reference = lennard_jones_minimum(n_atoms)[None]
    v = sqrt(temperature) * _push(n_atoms, rng)
    _, g = pair_sums(x)
    X = np.empty((n_samples, 3 * n_atoms))
    energies, gradients = np.empty(n_samples), np.empty_like(X)
    warm_up = ceil(RELAXATIONS / (friction * step))
    # What overflows is reported below.
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(-warm_up, n_samples * stride):
            v = v - step / 2 * g
            x = x + step / 2 * v
            v = kept * v + sqrt((1 - kept**2) * temperature) * _push(n_atoms, rng)
            x = x + step / 2 * v
            energy, g = pair_sums(x)
            v = v - step / 2 * g
            if number >= 0 and (number + 1) % stride == 0:
                sample = number // stride
                X[sample], energies[sample], gradients[sample] = x[0], energy[0], g[0]
    if not np.isfinite(X).all():
        raise ValueError(
            f"The 'step' parameter of {owner} must be small against the vibrations. "
            f"Got {step:g} instead, and positions left the finite numbers. Pass 0.01 or less."
        )
    lost = float((_loneliest(X) > REACH).mean())
    if lost > 0:
        warnings.warn(
            f"In {lost:.1%} of the samples an atom is farther than {REACH:g} from all others: "
            "the cluster fell apart. Pass a lower 'temperature', or a smaller 'step'.",
            stacklevel=2,
        )
    return Configurations(X, energies, gradients, reference[0])


def verlet(
    gradient: Callable[[Array], Array],
    positions: ArrayLike,
    velocities: ArrayLike,
    step: float,
    n_steps: int,
    mass: float = 1.0,
) -> tuple[Array, Array]:
    r"""Move points down a gradient without friction, by the velocity Verlet method.

    .. math:: m \ddot x = -\nabla E(x).

    With the gradient of an energy E, the sum E + m |v|^2 / 2 stays within an error of order
    step^2 of its start, however long the motion; with any other field it drifts.

    Parameters
    ----------
    gradient : callable
        `gradient(X)` gives the gradients at the rows of X, (n, d).
    positions, velocities : arrays of shape (n, d)
        Where n motions start, each on its own.
    step : float
        Time step.
    n_steps : int
        Number of steps.
    mass : float
        The mass m.

    Returns
    -------
    positions, velocities : arrays of shape (n_steps + 1, n, d)
        At each time, the start first.

    """
    step = real(step, "step", "verlet", 0.0, np.inf, closed=False)
    mass = real(mass, "mass", "verlet", 0.0, np.inf, closed=False)
    n_steps = count(n_steps, "n_steps", "verlet")
    x = np.atleast_2d(np.asarray(positions, dtype=np.float64))
    x = points(positions, x.shape[1], "positions", "verlet")
    v = points(velocities, x.shape[1], "velocities", "verlet")
    if len(v) != len(x):
        raise ValueError(
            f"The 'velocities' parameter of verlet must have as many rows as 'positions', "
            f"{len(x)}. Got {len(v)} rows instead."
        )
    X, V = np.empty((2, n_steps + 1, *x.shape))
    X[0], V[0] = x, v
    push = _half_kick(gradient, x, step, mass)
    for number in range(1, n_steps + 1):
        x = x + step * (v + push)
        if not np.isfinite(x).all():
            raise ValueError(
                f"The 'step' parameter of verlet must be small against the motion. Got {step:g} "
                f"instead, and step {number} left the finite numbers. Pass a smaller one, or "
                "look whether the gradient pulls back far from the data."
            )
        following = _half_kick(gradient, x, step, mass)
        v = v + push + following
        X[number], V[number], push = x, v, following
    return X, V


def _push(n_atoms: int, rng: np.random.Generator) -> Array:
    """Draw a standard normal velocity (1, 3 N) that leaves the center in place."""
    return centered(rng.standard_normal((1, 3 * n_atoms))).reshape(1, -1)


def _loneliest(X: Array) -> Array:
    """Return the distance (n,) of the atom with the farthest nearest neighbor to it."""
    atoms = X.reshape(len(X), -1, 3)
    distances = np.linalg.norm(atoms[:, :, None] - atoms[:, None], axis=3)
    distances[:, *np.diag_indices(atoms.shape[1])] = np.inf
    return np.asarray(distances.min(axis=2).max(axis=1))


def _half_kick(gradient: Callable[[Array], Array], x: Array, step: float, mass: float) -> Array:
    """Return the change of velocities (n, d) in half a step."""
    g = np.asarray(gradient(x), dtype=np.float64)
    if g.shape != x.shape:
        raise ValueError(
            f"The 'gradient' parameter of verlet must return an array of the shape of its "
            f"argument, {x.shape}. Got shape {g.shape} instead."
        )
    with np.errstate(over="ignore"):
        return np.asarray(-step / (2 * mass) * g)
