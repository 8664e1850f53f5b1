"""
Error bars, and values that repeat
==================================

Samples split a repeated eigenvalue into different ones. ritz asks how far apart noise alone
would put them, reports the mean of those that are one value as far as the samples can tell, and
gives standard errors from eight folds of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

torus = ritz.datasets.torus((2 * np.pi, 3.0))
figure, panel = plt.subplots(figsize=(8, 4))
truth = torus.eigenvalues(13)[1:]
for shift, n in [(-0.2, 500), (0.0, 2000), (0.2, 8000)]:
    X = torus.sample(n, random_state=0)
    tangential = ritz.laplacian(tangent=torus.tangent)
    spectrum = ritz.decompose(tangential, ritz.Monomials(4), X, k=13)[1:]
    # 95% of Student's t with seven degrees of freedom.
    panel.errorbar(
        np.arange(1, 13) + shift,
        spectrum.values,
        2.36 * spectrum.errors,
        fmt="o",
        ms=4,
        capsize=3,
        label=f"n = {n:,}",
    )
panel.hlines(
    truth, np.arange(1, 13) - 0.4, np.arange(1, 13) + 0.4, color="black", label="true values"
)
panel.set(xlabel="eigenvalue", ylabel="value and 95% interval", xticks=np.arange(1, 13))
panel.legend()
print(spectrum)

# %%
# The same for a single spectrum is a display; values that are one repeated value are joined.
display = ritz.SpectrumDisplay.from_spectrum(spectrum)
