"""
Clusters of penguins
====================

Four measurements of 342 penguins of three species, which ``palmerpenguins`` brings along.
Clusters are found without the species, and a function tells the cluster of a penguin that was
not measured yet.
"""

import pandas as pd
from palmerpenguins import load_penguins

import ritz

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = load_penguins().dropna(subset=columns)
clusters = ritz.SpectralClustering(n_clusters=3, random_state=0).fit(penguins[columns])
print("units of the columns:", clusters.scale_)
print(pd.crosstab(penguins["species"].to_numpy(), clusters.labels_))

# %%
# The columns have very different widths, so they are put in units of their standard deviations.
display = ritz.ClusterDisplay.from_estimator(clusters, penguins[columns], coordinates=columns[:2])

# %%
# A new penguin gets a cluster without a new fit.
new = pd.DataFrame([[39.0, 18.5, 190.0, 3700.0]], columns=columns)
print("a new penguin is in cluster", clusters.predict(new)[0])
