"""
How many functions do the samples determine?
============================================

``n_components="auto"`` keeps the functions that two halves of the samples agree on. Here on the
150 flowers of scikit-learn's iris data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import ritz

X, y = load_iris(return_X_y=True)
kept = ritz.SpectralEmbedding("auto", random_state=0).fit(X)
print("functions kept:", len(kept.eigenvalues_))
more = ritz.SpectralEmbedding(8, random_state=0).fit(X)

# %%
# Stability is the cosine of the largest angle between the functions that two halves of the rows
# give: near one the samples determine a function, near zero they do not.
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8))
functions = np.arange(1, 1 + len(more.eigenvalues_))
panels[0].bar(functions, more.spectrum_.stability[1:])
panels[0].set(xlabel="function", ylabel="stability", ylim=(0, 1))
display = ritz.EmbeddingDisplay.from_estimator(more, X, color=y, ax=panels[1])
panels[1].set_title("three species")
