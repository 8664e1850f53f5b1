"""Surrogates of a Lennard-Jones cluster: errors of energy and forces, and drift in motion.

Aligned clusters of N atoms satisfy six linear equations (no translation and no rotation against
the reference), so they lie in a space of 3 N - 6 dimensions. Functions are fitted to all 3 N
columns, and to coordinates in that space.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import ritz
from benchmarks.atoms.clusters import Array, Configurations, align, lennard_jones
from benchmarks.atoms.motion import simulate_cluster, verlet
from ritz.atomic import write_atomically

TEMPERATURE = 0.05
SIZES = (25, 50, 100, 200, 400)
SHOWN = (25, 100)
MOTIONS, STEPS, STEP = 20, 500, 0.01
PICTURE = Path(__file__).parents[2] / "docs" / "atoms.png"


@dataclass(frozen=True, eq=False)
class Aligned:
    """The function x -> f(align(x)), invariant to translations and rotations, and its gradient.

    Parameters
    ----------
    model
        A fitted regressor f of the coordinates `align(x) @ axes`.
    reference
        The cluster (3 N,) to align to.
    axes
        Orthonormal columns (3 N, k).
    """

    model: Any
    reference: Array
    axes: Array

    def energy(self, X: Array) -> Array:
        """Return f (n,) at clusters (n, 3 N)."""
        return np.asarray(self.model.predict(self._aligned(X)[0] @ self.axes))

    def gradient(self, X: Array) -> Array:
        """Return its gradient (n, 3 N) by the chain rule.

        A small displacement of x displaces align(x) equally, up to the translation and rotation
        that keep it aligned. The gradient of x -> f(align(x)), rotated to the reference, is
        therefore g_i - s x r_i minus its mean, where g is the gradient of f, r the reference, and
        s such that the total torque vanishes.
        """
        A, Q = self._aligned(X)
        G = (self.model.predict_gradient(A @ self.axes) @ self.axes.T).reshape(len(X), -1, 3)
        x, r = A.reshape(G.shape), self.reference.reshape(-1, 3)
        r = r - r.mean(axis=0)
        # sum_i x_i x (s x r_i) = M s.
        M = np.einsum("ij,nij->n", r, x)[:, None, None] * np.eye(3) - np.einsum("ij,nik->njk", r, x)
        s = np.linalg.solve(M, np.cross(x, G).sum(axis=1)[:, :, None])[:, None, :, 0]
        G = G - np.cross(s, r[None])
        G -= G.mean(axis=1, keepdims=True)
        return np.asarray((G @ Q.transpose(0, 2, 1)).reshape(X.shape))

    def _aligned(self, X: Array) -> tuple[Array, Array]:
        """Return aligned clusters (n, 3 N) and the rotations (n, 3, 3) applied to their rows."""
        # Rotating unit vectors in place of gradients gives the rotation.
        unit = np.zeros_like(X)
        unit[:, :9] = np.eye(3).ravel()
        A, rotated = align(X, unit, self.reference)
        return A, rotated[:, :9].reshape(-1, 3, 3)


def internal(clusters: Configurations) -> Array:
    """Return orthonormal axes (3 N, 3 N - 6) of the space of aligned clusters."""
    r = clusters.reference.reshape(-1, 3)
    units = np.eye(3)
    shifts = [np.tile(e, len(r)) for e in units]
    turns = [np.cross(e, r - r.mean(axis=0)).ravel() for e in units]
    return np.linalg.svd(np.array(shifts + turns))[2][6:].T


@cache
def sample(n_atoms: int, n: int, seed: int) -> Configurations:
    """Return nearly independent configurations, one relaxation time apart."""
    return simulate_cluster(n_atoms, n, TEMPERATURE, stride=100, random_state=seed)


def fit(clusters: Configurations, n: int, axes: Array, gradients: bool) -> tuple[Aligned, float]:
    """Return the function fitted to the first n configurations, and the seconds it took."""
    seen = clusters.aligned()
    slopes = seen.gradients[:n] @ axes if gradients else None
    model = ritz.HermiteRegressor(random_state=0)
    start = time.perf_counter()
    model.fit(seen.X[:n] @ axes, seen.energies[:n], gradient=slopes)
    return Aligned(model, clusters.reference, axes), time.perf_counter() - start


def errors(function: Aligned, unseen: Configurations) -> tuple[float, float, float]:
    """Return errors of energies (RMS) and of forces (RMS, median), relative to their spread."""
    energies = function.energy(unseen.X) - unseen.energies
    missed = np.linalg.norm(function.gradient(unseen.X) - unseen.gradients, axis=1)
    size = np.sqrt((unseen.gradients**2).sum(axis=1).mean())
    return (
        float(np.sqrt((energies**2).mean()) / unseen.energies.std()),
        float(np.sqrt((missed**2).mean()) / size),
        float(np.median(missed) / size),
    )


def starts(clusters: Configurations, seed: int) -> tuple[Array, Array]:
    """Draw positions, and thermal velocities without total momentum and angular momentum."""
    rng = np.random.default_rng(seed)
    X = clusters.X[rng.choice(len(clusters.X), MOTIONS, replace=False)]
    x = X.reshape(MOTIONS, -1, 3)
    v = np.sqrt(TEMPERATURE) * rng.standard_normal(x.shape)
    v -= v.mean(axis=1, keepdims=True)
    inertia = (x**2).sum(axis=(1, 2))[:, None, None] * np.eye(3) - x.transpose(0, 2, 1) @ x
    spin = np.linalg.solve(inertia, np.cross(x, v).sum(axis=1)[:, :, None])[:, None, :, 0]
    return X, (v - np.cross(spin, x)).reshape(X.shape)


def total_energy(gradient: Any, X: Array, V: Array) -> Array:
    """Return the true total energy (steps, motions) of motions under a fitted gradient."""
    X, V = verlet(gradient, X, V, STEP, STEPS)
    potential = lennard_jones(X.reshape(-1, X.shape[2]))[0].reshape(X.shape[:2])
    return np.asarray(potential + (V**2).sum(axis=2) / 2)


def drift(energy: Array) -> tuple[float, float]:
    """Return drift and fluctuation, RMS over motions, in units of the temperature.

    The drift is the rise of a line fitted to the energy over the whole motion, the fluctuation the
    RMS distance from that line.
    """
    t = np.linspace(-0.5, 0.5, len(energy))
    rise = t @ energy / (t @ t)
    rest = energy - energy.mean(axis=0) - np.outer(t, rise)
    sizes = np.sqrt((rise**2).mean()), np.sqrt((rest**2).mean())
    return float(sizes[0] / TEMPERATURE), float(sizes[1] / TEMPERATURE)


def draw(curves: dict[str, list[tuple[float, float, float]]], motions: dict[str, Array]) -> None:
    """Write the picture: errors of forces against n, and the energy of one motion."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
    for (name, found), color in zip(curves.items(), ("C0", "C1"), strict=True):
        _, rms, median = zip(*found, strict=True)
        left.loglog(SIZES, rms, "o-", color=color, ms=4, label=f"{name}, RMS")
        left.loglog(SIZES, median, "s--", color=color, ms=4, label=f"{name}, median")
    left.set_xticks(SIZES, [str(n) for n in SIZES])
    left.minorticks_off()
    left.set_xlabel("configurations n")
    left.set_ylabel("relative error of forces")
    left.legend(fontsize=8)
    looks = (("0.6", "-", 3.0), ("C0", "--", 1.0), ("C1", "-", 1.0))
    for (name, energy), (color, style, width) in zip(motions.items(), looks, strict=True):
        t = STEP * np.arange(len(energy))
        right.plot(t, energy[:, 0], style, color=color, lw=width, label=name)
    right.set_xlabel("time")
    right.set_ylabel("true total energy")
    right.legend(fontsize=8)
    with write_atomically(PICTURE) as file:
        figure.savefig(file, format="png", dpi=110)


def main() -> None:
    curves: dict[str, list[tuple[float, float, float]]] = {}
    fitted: dict[str, Aligned] = {}
    print(f"temperature {TEMPERATURE}, errors on 1,000 configurations of another simulation")
    print(f"{'':<46} {'energy':>8} {'forces':>8} {'median':>8} {'seconds':>8}")
    for n_atoms in (3, 4):
        seen, unseen = sample(n_atoms, max(SIZES), 0), sample(n_atoms, 1000, 1)
        every, few = np.eye(3 * n_atoms), internal(seen)
        for axes in (every, few) if n_atoms == 3 else (few,):
            for gradients in (True, False):
                kind = "with gradients" if gradients else "values only"
                case = f"{n_atoms} atoms, {axes.shape[1]} coordinates, {kind}"
                for n in SIZES:
                    function, seconds = fit(seen, n, axes, gradients)
                    found = errors(function, unseen)
                    if axes.shape[1] == 9:
                        curves.setdefault(kind, []).append(found)
                    if n_atoms == 3 and n in SHOWN:
                        fitted[f"{case.removeprefix('3 atoms, ')}, n = {n}"] = function
                    numbers = " ".join(f"{error:8.1e}" for error in found)
                    print(f"{case:<38} n = {n:<3} {numbers} {seconds:8.1f}", flush=True)
    X, V = starts(sample(3, 1000, 1), 0)
    motions = {"true gradient": total_energy(lambda X: lennard_jones(X)[1], X, V)}
    for name, function in fitted.items():
        motions[name] = total_energy(function.gradient, X, V)
    print(f"\n{MOTIONS} motions of {STEPS} steps: true total energy, in units of the temperature")
    print(f"{'driven by':<46} {'drift':>8} {'fluctuation':>12}")
    for name, energy in motions.items():
        rise, rest = drift(energy)
        print(f"{name:<46} {rise:8.1e} {rest:12.1e}")
    shown = {"true gradient": motions["true gradient"]}
    for n in sorted(SHOWN, reverse=True):
        shown[f"fitted to n = {n}"] = motions[f"9 coordinates, with gradients, n = {n}"]
    draw(curves, shown)


if __name__ == "__main__":
    main()
