"""
Which columns move a function
=============================

Eigenfunctions have gradients. The mean squared partial derivative of a function along a column
says how much that column moves it. The data are scikit-learn's: thirty measurements of 569
tumors, benign and malignant.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import ritz

data = load_breast_cancer()
embedding = ritz.SpectralEmbedding(2, scale="standard", random_state=0).fit(data.data)
points = embedding.transform(data.data)
# The functions of `spectrum_` are those of the scaled columns, and the first one is the
# constant.
slopes = embedding.spectrum_[1:].gradient(data.data / embedding.scale_)
moves = np.mean(slopes**2, axis=0)
moves /= moves.sum(axis=0)

# %%
# The first function tells malignant from benign tumors, though it has not seen the diagnosis.
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(1, 0.8))
for kind, name in enumerate(data.target_names):
    some = data.target == kind
    panels[0].scatter(*points[some].T, s=10, label=name)
panels[0].set(xlabel="function 1", ylabel="function 2")
panels[0].legend()
most = np.argsort(moves[:, 0])[-8:]
panels[1].barh(data.feature_names[most], moves[most, 0])
panels[1].set(xlabel="share of the squared gradient of function 1")
