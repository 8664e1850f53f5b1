"""
What two halves of an image share
=================================

The upper and the lower half of an image of a digit are two views of it. The pairs of functions,
one of each half, that correlate most tell what both halves know: mostly, which digit it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import ritz

X, y = load_digits(return_X_y=True)
upper, lower = X[:, :32] / 16, X[:, 32:] / 16
model = ritz.SingularEmbedding(9, random_state=0).fit(upper[:1200], lower[:1200])
seen, unseen = model.transform(upper[:1200]), model.transform(upper[1200:])
shared = LogisticRegression(max_iter=1000).fit(seen, y[:1200]).score(unseen, y[1200:])
print(f"accuracy of nine functions of the upper half on unseen images: {shared:.2f}")

# %%
# Correlations in the samples, and of functions found without a part of the samples on that
# part.
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8))
numbers = np.arange(1, 10)
panels[0].plot(numbers, model.singular_values_, "o-", label="in the samples")
panels[0].plot(numbers, model.held_out_values_, "s-", label="held out")
panels[0].set(xlabel="pair of functions", ylabel="correlation", ylim=(0, 1))
panels[0].legend()
dots = panels[1].scatter(unseen[:, 0], unseen[:, 1], c=y[1200:], cmap="tab10", s=8)
panels[1].set(xlabel="function 1 of the upper half", ylabel="function 2", title="unseen images")
legend = figure.legend(*dots.legend_elements(), title="digit", loc="outside right")
