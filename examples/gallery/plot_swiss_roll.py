"""
Distances along a rolled sheet
==============================

Two points of a rolled sheet can be near in space and far along the sheet. The diffusion
distance, from the eigenfunctions of the energy along neighbors, follows the sheet.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

roll = ritz.datasets.swiss_roll(4000, random_state=0)
embedding = ritz.SpectralEmbedding(12, operator="neighbors", random_state=0).fit(roll.X)
spectrum = embedding.spectrum_
start = roll.X[np.argmin(roll.parameters[:, 0])][None]
t = 0.5 / embedding.eigenvalues_[0]
along = ritz.diffusion_distance(spectrum, roll.X, start, t)
straight = np.linalg.norm(roll.X - start, axis=1)

# %%
# Distances from the inner end of the roll, in space and along the sheet.
figure = plt.figure(figsize=(9, 4))
for place, (distance, title) in enumerate(
    [(straight, "in space"), (along, "diffusion distance")], start=1
):
    panel = figure.add_subplot(1, 2, place, projection="3d")
    panel.scatter(*roll.X.T, c=distance, cmap="viridis", s=4)
    panel.view_init(elev=8, azim=-75)
    panel.set_title(title)
for name, distance in [("in space", straight), ("diffusion distance", along)]:
    order = np.corrcoef(distance.argsort().argsort(), roll.parameters[:, 0].argsort().argsort())[
        0, 1
    ]
    print(f"rank correlation with the position along the sheet, {name}: {order:.2f}")
