"""
Spherical harmonics
===================

On uniform points of a sphere the eigenvalues of the tangential Laplacian are s (s + 1), each 2
s + 1 times. Polynomials of degree three hold the first sixteen eigenfunctions exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

sphere = ritz.datasets.sphere(3)
X = sphere.sample(20_000, random_state=0)
tangential = ritz.laplacian(tangent=sphere.tangent)
spectrum = ritz.decompose(tangential, ritz.Monomials(3), X, k=16)
print(spectrum)

# %%
# Any rotation of functions with equal eigenvalues is as good as another, so these are not the
# textbook's.
longitude, latitude = np.meshgrid(
    np.linspace(-np.pi, np.pi, 121), np.linspace(-np.pi / 2, np.pi / 2, 61)
)
on_sphere = np.stack(
    [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)],
    axis=-1,
)
values = spectrum(on_sphere.reshape(-1, 3)).reshape(61, 121, 16)
figure, panels = plt.subplots(2, 4, figsize=(10, 4.4), subplot_kw={"projection": "mollweide"})
for panel, j in zip(panels.flat, (1, 2, 3, 4, 5, 9, 12, 15), strict=True):
    panel.pcolormesh(
        longitude, latitude, values[..., j], cmap="RdBu_r", vmin=-3, vmax=3, shading="gouraud"
    )
    panel.set_title(f"λ = {spectrum.values[j]:.2f}", fontsize=10)
    panel.set_xticks([])
    panel.set_yticks([])
