"""Seeded samples, small and of no symmetry, so that eigenvalues are simple and well apart."""

from functools import cache

import numpy as np


def normal(seed, *shape):
    """Return standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


@cache
def samples(name, n=300):
    """Return the rows (n, d) of a sample."""
    if name == "line":
        return normal(1, n, 1)
    if name == "plane":
        X = normal(2, n, 2) * [1.0, 0.5]
        return X + np.stack([np.zeros(n), 0.3 * X[:, 0] ** 2], axis=1)
    if name == "space":
        return normal(3, n, 3) * [1.0, 0.7, 0.45]
    if name == "columns":
        return normal(4, n, 10) * 0.8 ** np.arange(10)
    if name == "circle":
        return on_circle(angles(n))
    if name == "sphere":
        X = normal(5, n, 3) * [1.3, 1.0, 0.8]
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    if name == "wells":
        X = 0.4 * normal(6, n, 2)
        X[:, 0] += np.where(np.arange(n) % 3 == 0, -1.0, 0.8)
        return X
    if name == "blobs":
        return 0.35 * normal(7, n, 2) + np.array([[0.0, 0.0], [2.0, 0.3], [0.4, 2.4]])[labels(n)]
    if name == "many blobs":
        corners = normal(8, 3, 6) * 1.2
        return 0.6 * normal(9, n, 6) + corners[labels(n)]
    raise KeyError(name)


def labels(n):
    """Return the blob (n,) of each row."""
    return np.arange(n) % 7 % 3


def angles(n):
    """Return angles (n,) of uneven density."""
    t = 2 * np.pi * np.random.default_rng(10).random(n)
    return t + 0.3 * np.sin(t) + 0.1 * np.cos(2 * t)


def on_circle(t):
    """Return the points (n, 2) of angles."""
    return np.stack([np.cos(t), np.sin(t)], axis=1)


def circle_frames(X):
    """Return tangents (n, 2, 1) of the circle."""
    return np.stack([-X[:, 1], X[:, 0]], axis=1)[:, :, None]


def sphere_frames(X):
    """Return tangent frames (n, 3, 2) of the sphere, by a reflection that turns e_3 to x."""
    sign = np.where(X[:, 2] >= 0, 1.0, -1.0)
    v = X * sign[:, None] + np.array([0.0, 0.0, 1.0])
    H = np.eye(3) - 2 * v[:, :, None] * v[:, None, :] / (v**2).sum(axis=1)[:, None, None]
    return H[:, :, :2]


def second_view(n=300):
    """Return a view (n, 2) that is correlated with the sample of the plane."""
    X = samples("plane", n)
    return np.stack([0.8 * X[:, 0], 0.5 * X[:, 1] + 0.2 * X[:, 0]], axis=1) + 0.5 * normal(11, n, 2)


def points(d, m=5):
    """Return points (m, d) at which to look at functions."""
    return 0.7 * normal(12, m, d)


def weights(n=300):
    """Return weights (n,) between 1/2 and 2, and some zeros."""
    w = 0.5 + 1.5 * np.random.default_rng(13).random(n)
    w[::17] = 0.0
    return w


def far_apart(X, p):
    """Return p rows of X, each the farthest from those before: well-conditioned centers."""
    chosen = [0]
    while len(chosen) < p:
        squares = ((X[:, None, :] - X[None, chosen, :]) ** 2).sum(axis=2)
        chosen.append(int(squares.min(axis=1).argmax()))
    return X[chosen]
