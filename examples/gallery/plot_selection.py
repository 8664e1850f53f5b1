"""
What "auto" compared
====================

Kernel, length scale, regularization and number of centers are chosen by what functions do on rows
they have not seen. The comparison is kept, and can be drawn.
"""

import ritz

X = ritz.datasets.half_moons(1000, random_state=0).X
embedding = ritz.SpectralEmbedding(4, operator="laplacian", random_state=0).fit(X)
print(embedding.selection_)

# %%
# Scores over length scales, lower being better: too narrow kernels see single rows, too wide ones
# know only low polynomials.
display = ritz.SelectionDisplay.from_estimator(embedding)

# %%
# In words, with what to try next:
print(embedding.summary())
