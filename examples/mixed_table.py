"""Cluster a table that has numbers, a column of categories, and gaps in both.

The numbers are scikit-learn's wine data. The column `region` is generated: it follows the cultivar
for four wines of five. One entry of twenty is removed at random.
"""

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ritz

rng = np.random.default_rng(0)
wine = load_wine(as_frame=True)
regions = np.array(["north", "south", "west"], dtype=object)
region = np.where(rng.uniform(size=178) < 0.8, regions[wine.target], rng.choice(regions, 178))
table = wine.data.assign(region=region)
table = table.mask(rng.uniform(size=table.shape) < 0.05)
print(f"{table.isna().sum().sum()} of {table.size:,} entries are missing")

prepare = ColumnTransformer(
    [
        ("numbers", make_pipeline(StandardScaler(), KNNImputer()), list(wine.data)),
        (
            "categories",
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OneHotEncoder(handle_unknown="ignore"),
            ),
            ["region"],
        ),
    ],
    # At full weight rows of different regions lie as far apart as 1.4 standard deviations.
    transformer_weights={"categories": 0.5},
)
clusters = make_pipeline(prepare, ritz.SpectralClustering(3, random_state=0))
labels = clusters.fit_predict(table)
agreement = adjusted_rand_score(wine.target, labels)
print(f"adjusted Rand index of clusters and cultivars: {agreement:.2f}")
