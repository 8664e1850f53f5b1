"""scikit-learn's digits: accuracy on unseen digits from embeddings, and from few labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import ritz
from benchmarks import TINY

COMPONENTS = 30
SEEDS, LABEL_SEEDS = (2, 2) if TINY else (5, 10)
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def splits(seeds: int) -> Iterator[tuple[int, Split]]:
    """Yield seed, training images, unseen images, and the digits of both (70% and 30%)."""
    X, y = load_digits(return_X_y=True)
    for seed in range(seeds):
        yield seed, train_test_split(X / 16, y, test_size=0.3, random_state=seed, stratify=y)


EMBEDDINGS: dict[str, Callable[[int], Any]] = {
    "ritz, operator='neighbors'": lambda seed: ritz.SpectralEmbedding(
        COMPONENTS, operator="neighbors", random_state=seed
    ),
    "ritz, operator='neighbors', n_centers=500": lambda seed: ritz.SpectralEmbedding(
        COMPONENTS, operator="neighbors", n_centers=500, random_state=seed
    ),
    "ritz, operator='laplacian'": lambda seed: ritz.SpectralEmbedding(
        COMPONENTS, random_state=seed
    ),
    "Isomap, 5 neighbors": lambda seed: Isomap(n_components=COMPONENTS),
    "Isomap, 10 neighbors": lambda seed: Isomap(n_components=COMPONENTS, n_neighbors=10),
    **{
        f"KernelPCA, gamma={gamma}": lambda seed, gamma=gamma: KernelPCA(
            COMPONENTS, kernel="rbf", gamma=gamma
        )
        for gamma in (0.03, 0.1, 0.3)
    },
    **{
        f"Nystroem, gamma={gamma}": lambda seed, gamma=gamma: Nystroem(
            gamma=gamma, n_components=COMPONENTS, random_state=seed
        )
        for gamma in (0.03, 0.1, 0.3)
    },
    **{
        f"LocallyLinearEmbedding, {k} neighbors": lambda seed, k=k: LocallyLinearEmbedding(
            n_components=COMPONENTS, n_neighbors=k, random_state=seed
        )
        for k in (5, 10)
    },
    "PCA": lambda seed: PCA(COMPONENTS, random_state=seed),
}


def probe(seeds: int = SEEDS) -> dict[str, list[float]]:
    """Return the accuracy of a linear classifier on 30 components of unseen digits."""
    result: dict[str, list[float]] = {name: [] for name in EMBEDDINGS}
    for seed, (A, B, a, b) in splits(seeds):
        for name, make in EMBEDDINGS.items():
            linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
            embedding = make(seed).fit(A)
            linear.fit(embedding.transform(A), a)
            result[name].append(linear.score(embedding.transform(B), b))
    return result


def transductive(seeds: int = SEEDS) -> dict[str, list[float]]:
    """Return the same for scikit-learn's SpectralEmbedding, which has to see all images."""
    result: dict[str, list[float]] = {}
    for _, (A, B, a, b) in splits(seeds):
        for k in (None, 7, 10):
            model = SpectralEmbedding(COMPONENTS, n_neighbors=k, random_state=0)
            Z = model.fit_transform(np.vstack([A, B]))
            linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
            score = linear.fit(Z[: len(A)], a).score(Z[len(A) :], b)
            result.setdefault(f"SpectralEmbedding, n_neighbors={k}", []).append(score)
    return result


FEW_LABELS: dict[str, Callable[[int], Any]] = {
    "ritz.LaplacianClassifier()": lambda seed: ritz.LaplacianClassifier(random_state=seed),
    "the same, operator='laplacian'": lambda seed: ritz.LaplacianClassifier(
        operator="laplacian", random_state=seed
    ),
    "LabelSpreading()": lambda seed: LabelSpreading(max_iter=200),
    "LabelSpreading(gamma=4)": lambda seed: LabelSpreading(gamma=4, max_iter=200),
    "LabelSpreading(kernel='knn')": lambda seed: LabelSpreading(kernel="knn", max_iter=200),
    "LabelSpreading(kernel='knn', n_neighbors=10)": lambda seed: LabelSpreading(
        kernel="knn", n_neighbors=10, max_iter=200
    ),
}


def few_labels(seeds: int = LABEL_SEEDS, per_class: int = 10) -> dict[str, list[float]]:
    """Return the accuracy on unseen digits from ten labels a class and all training images."""
    result: dict[str, list[float]] = {name: [] for name in FEW_LABELS}
    for seed, (A, B, a, b) in splits(seeds):
        rng = np.random.default_rng(seed)
        y = np.full(len(a), -1)
        for digit in range(10):
            chosen = rng.choice(np.flatnonzero(a == digit), per_class, replace=False)
            y[chosen] = digit
        for name, make in FEW_LABELS.items():
            result[name].append(make(seed).fit(A, y).score(B, b))
    return result


def lines(result: dict[str, list[float]]) -> list[str]:
    return [
        f"{name:<46} {np.mean(scores):.3f} ± {np.std(scores, ddof=1) / len(scores) ** 0.5:.3f}"
        for name, scores in result.items()
    ]


if __name__ == "__main__":
    print(f"{COMPONENTS} components, linear probe on unseen digits")
    print("\n".join(lines(probe())))
    print("\nThe same for an embedding that also sees the unseen digits")
    print("\n".join(lines(transductive())))
    print("\nTen labels a class, unseen digits")
    print("\n".join(lines(few_labels())))
