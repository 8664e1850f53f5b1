"""Timescales of deeptime's triple well in the plane: the truth, ours and a Markov model's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import diags_array, kron
from scipy.sparse.linalg import eigsh

import ritz

# Frames between the two times of a pair, and how many timescales are asked for.
LAG, SLOWEST = 10, 3
# Points of the grid of the truth in each direction, and its box.
GRID, BOX = 120, ((-2.5, 2.5), (-2.0, 2.8))
# deeptime integrates dx = -grad V dt + sigma dW with this sigma, which is its kT of 1/2 sigma^2.
NOISE = 1.09


def energy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the potential of deeptime's triple_well_2d."""
    first = 3 * np.exp(-(x**2) - (y - 1 / 3) ** 2) - 3 * np.exp(-(x**2) - (y - 5 / 3) ** 2)
    wells = -5 * np.exp(-((x - 1) ** 2) - y**2) - 5 * np.exp(-((x + 1) ** 2) - y**2)
    return np.asarray(first + wells + 0.2 * x**4 + 0.2 * (y - 1 / 3) ** 4)


@cache
def true_timescales(dt: float) -> np.ndarray:
    """Return the slowest timescales, by the generator on a grid with detailed balance."""
    axes = [np.linspace(*side, GRID) for side in BOX]
    x, y = np.meshgrid(*axes, indexing="ij")
    beta = 2 / NOISE**2
    weight = np.exp(-beta * (energy(x, y) - energy(x, y).min()))
    # Rates between neighbors a and b are D / h^2 sqrt(w_b / w_a), which sqrt(w) makes symmetric.
    steps = [axis[1] - axis[0] for axis in axes]
    D = NOISE**2 / 2
    path = diags_array([np.ones(GRID - 1)] * 2, offsets=(-1, 1), shape=(GRID, GRID))
    eye = diags_array(np.ones(GRID))
    rates = D / steps[0] ** 2 * kron(path, eye) + D / steps[1] ** 2 * kron(eye, path)
    root = np.sqrt(weight.ravel())
    out = (rates @ root) / root
    values = eigsh(diags_array(out) - rates, 1 + SLOWEST, sigma=-1e-3, return_eigenvectors=False)
    return 1 / np.sort(values)[1:]


def our_timescales(data: tuple[np.ndarray, float], seed: int) -> Any:
    trajectories, dt = data
    X, Y, groups = ritz.lagged(list(trajectories), LAG)
    model = ritz.SingularEmbedding(SLOWEST, random_state=seed).fit(X, Y, groups=groups)
    return -LAG * dt / np.log(model.spectrum_.values[1 : 1 + SLOWEST])


def msm_timescales(data: tuple[np.ndarray, float], seed: int, clusters: int) -> Any:
    from deeptime.clustering import KMeans
    from deeptime.markov.msm import MaximumLikelihoodMSM

    trajectories, dt = data
    model = KMeans(clusters, max_iter=50, fixed_seed=seed).fit(np.concatenate(trajectories))
    paths = [model.transform(path) for path in trajectories]
    msm = MaximumLikelihoodMSM(lagtime=LAG).fit_fetch(paths, count_mode="sliding")
    return msm.timescales(k=SLOWEST) * dt
