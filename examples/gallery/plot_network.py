"""
Eigenfunctions learned by a network
===================================

A network of two small layers learns the first functions of a circle by gradient descent on the
spectral loss. A Rayleigh-Ritz solve on what it learned gives ordered eigenvalues with errors.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz
from ritz.neural import SpectralNetwork, mlp

circle = ritz.datasets.circle()
X = circle.sample(5000, random_state=0)
network = SpectralNetwork(
    lambda: mlp(2, (32, 32), 4),
    ritz.laplacian(tangent=circle.tangent),
    4,
    mu=12.0,
    n_steps=200,
    batch_size=500,
    random_state=0,
).fit(X)
print(network.spectrum_)

# %%
# The functions are cosines and sines of the angle, once and twice around.
angle = np.linspace(-np.pi, np.pi, 200)
values = network.transform(np.column_stack([np.cos(angle), np.sin(angle)]))
figure, panel = plt.subplots(figsize=(7, 3.5))
for j, value in enumerate(network.eigenvalues_):
    panel.plot(angle, values[:, j], label=f"λ = {value:.2f}")
panel.set(xlabel="angle", ylabel="function")
panel.legend(loc="upper right")
