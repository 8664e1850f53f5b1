"""
Cells, and the genes that move them
===================================

``ritz.scanpy`` writes its results where scanpy looks for them. Here it embeds 700 blood
cells that come with scanpy, and ranks the genes that move a function.
"""

import warnings

import matplotlib.pyplot as plt
import scanpy

import ritz.scanpy

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    cells = scanpy.datasets.pbmc68k_reduced()
model = ritz.scanpy.embed(cells, n_components=10)
genes = ritz.scanpy.rank_genes(cells, n_genes=5)
print(genes[genes["function"] <= 3].pivot(index="rank", columns="function", values="gene"))

# %%
# The first functions tell kinds of cells apart.
points = cells.obsm["X_ritz"]
figure, panel = plt.subplots(figsize=(7, 4.5))
for kind in cells.obs["bulk_labels"].cat.categories:
    some = (cells.obs["bulk_labels"] == kind).to_numpy()
    panel.scatter(points[some, 0], points[some, 1], s=8, label=kind)
panel.set(xlabel="function 1", ylabel="function 2")
legend = figure.legend(loc="outside right", fontsize="small", markerscale=2)
