"""
An operator of your own: energy levels in a well
================================================

A Schrödinger operator in two lines. Samples that are uniform on a square take the place of a
mesh, and the potential is a double well along the first axis.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz


def potential(x):
    return 60 * (x[:, 0] ** 2 - 0.5) ** 2 + 20 * x[:, 1] ** 2


def H(f, g, x):
    return f.gradient @ g.gradient + potential(x) * (f.value * g.value)


X = np.random.default_rng(0).uniform(-1.5, 1.5, size=(50_000, 2))
basis = ritz.Nystrom(ritz.Gaussian(0.5), n_centers=200)
levels = ritz.decompose(ritz.form(H, symmetric=True), basis, X, k=4, random_state=0)
print(levels)

# %%
# The two lowest states are a symmetric and an antisymmetric combination of a state in each
# well, and their energies differ by little: the particle tunnels.
axis = np.linspace(-1.5, 1.5, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
states = levels(grid).reshape(120, 120, 4)
figure, panels = plt.subplots(1, 4, figsize=(10, 2.9), sharey=True)
for j, panel in enumerate(panels):
    top = np.abs(states[..., j]).max()
    panel.contourf(axis, axis, states[..., j], levels=np.linspace(-top, top, 16), cmap="RdBu_r")
    panel.contour(
        axis,
        axis,
        potential(grid).reshape(120, 120),
        levels=[5, 15, 30],
        colors="gray",
        linewidths=0.5,
    )
    panel.set(title=f"energy {levels.values[j]:.2f}", aspect="equal")
