"""Self-supervision on scikit-learn's digits: a network against kernel sections.

Pairs are two versions of an image, each shifted by up to a pixel and rotated by up to 15 degrees.
The operator is the energy E|f(xi) - f(xi')|^2 of their difference, for the network as for the
sections. A linear classifier on its first eigenfunctions is scored on unseen images.
`python -m benchmarks.augmented 1 5` runs one seed and five training steps.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ritz
from benchmarks.digits import splits
from ritz.neural import Augmented, SpectralNetwork

COMPONENTS = 30
SHIFT, DEGREES = 1.0, 15.0
LENGTHS = (1.0, 1.5, 2.0, 3.0)


def shift_and_rotate(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return each 8 by 8 image shifted and rotated at random, by linear interpolation."""
    angle = np.radians(rng.uniform(-DEGREES, DEGREES, len(X)))
    # Coordinates run from -1 to 1 over eight pixels.
    shift = rng.uniform(-SHIFT, SHIFT, (len(X), 2)) / 4
    cos, sin = np.cos(angle), np.sin(angle)
    maps = np.stack([cos, -sin, shift[:, 0], sin, cos, shift[:, 1]], axis=1).reshape(-1, 2, 3)
    images = torch.from_numpy(X).reshape(-1, 1, 8, 8)
    grid = torch.nn.functional.affine_grid(
        torch.from_numpy(maps), list(images.shape), align_corners=False
    )
    moved = torch.nn.functional.grid_sample(images, grid, align_corners=False)
    return moved.reshape(len(X), 64).numpy()


def convolutional() -> torch.nn.Module:
    """Return a small network for images of 8 by 8 pixels."""
    return torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8, 8)),
        torch.nn.Conv2d(1, 32, 3, padding=1),
        torch.nn.SiLU(),
        torch.nn.Conv2d(32, 64, 3, padding=1, stride=2),
        torch.nn.SiLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(64 * 16, 128),
        torch.nn.SiLU(),
        torch.nn.Linear(128, COMPONENTS),
    )


def probe(embed, A, a, B, b) -> float:
    """Return the accuracy of a linear classifier on the embedding of unseen images."""
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    return linear.fit(embed(A), a).score(embed(B), b)


def kernel_sections(A: np.ndarray, length: float, seed: int) -> ritz.Spectrum:
    """Return the spectrum over 1,000 Gaussian kernel sections, ten pairs an image."""
    pairs = Augmented(A, shift_and_rotate, copies=10, seed=seed)
    basis = ritz.Nystrom(ritz.Gaussian(length), n_centers=1000)
    return ritz.decompose(
        ritz.pairs(), basis, pairs, 1 + COMPONENTS, regularization=1e-6, random_state=seed
    )


def network(A: np.ndarray, seed: int, steps: int) -> SpectralNetwork:
    """Return a network trained on fresh pairs."""
    pairs = Augmented(A, shift_and_rotate, seed=seed)
    return SpectralNetwork(
        convolutional,
        ritz.pairs(),
        COMPONENTS,
        mu=2.0,
        n_steps=steps,
        batch_size=250,
        learning_rate=3e-3,
        patience=None,
        random_state=seed,
    ).fit(pairs)


def main(seeds: int = 3, steps: int = 800) -> None:
    rows: dict[str, list[float]] = {}
    values: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    for seed, (A, B, a, b) in splits(seeds):

        def note(name, make, seed=seed, A=A, B=B, a=a, b=b):
            start = perf_counter()
            embed, found = make()
            seconds.setdefault(name, perf_counter() - start)
            values.setdefault(name, found)
            rows.setdefault(name, []).append(probe(embed, A, a, B, b))

        def by_kernels(length, A=A, seed=seed):
            spectrum = kernel_sections(A, length, seed)
            return spectrum[1:], spectrum.values[1:]

        def by_network(A=A, seed=seed):
            model = network(A, seed, steps)
            return model.transform, model.eigenvalues_

        for length in LENGTHS:
            note(f"kernel sections, length {length}", lambda length=length: by_kernels(length))
        note("network", by_network)
        pca = PCA(COMPONENTS, random_state=seed).fit(A)
        note("PCA", lambda pca=pca: (pca.transform, np.full(COMPONENTS, np.nan)))
        note("pixels", lambda: (lambda X: X, np.full(COMPONENTS, np.nan)))
        for name, scores in rows.items():
            error = np.std(scores, ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else np.nan
            some = ", ".join(f"{v:.3f}" for v in values[name][[0, 4, 9, 19, 29]])
            print(
                f"{name:<32} {np.mean(scores):.3f} ± {error:.3f}   {some}   {seconds[name]:.0f} s"
            )
        print(flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
