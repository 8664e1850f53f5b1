"""
Eigenfunctions on two half-moons
================================

Sixteen eigenfunctions of the Laplacian from 100,000 points in a second or two. The second
function is nearly a step, as the two moons are nearly apart; the others are cosines along each
moon.
"""

import ritz

X = ritz.datasets.half_moons(100_000, random_state=0).X
basis = ritz.Nystrom(ritz.Gaussian(0.25), n_centers=200, centers="rpcholesky")
spectrum = ritz.decompose(ritz.laplacian(), basis, X, k=16, random_state=0)
print(spectrum)

# %%
# A cosine cos(j s) along an arc of length pi has the eigenvalue j², and each moon has one: the
# values come in pairs near 1, 4, 9, 16.
display = ritz.EigenfunctionDisplay.from_spectrum(spectrum, X)
