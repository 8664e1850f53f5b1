"""The geometry that a spectrum gives the points: diffusion distances, heat kernel, metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.search import NearestRows
from ritz.spectrum.spectrum import Spectrum
from ritz.validation import (
    LARGEST_SIZE,
    Array,
    as_count,
    as_number,
    parameter_error,
    renamed,
)


def diffusion_map(spectrum: Spectrum, X: Array, t: float) -> Array:
    """Return exp(-t lambda_j) f_j(x), (n, k): Euclidean distances there are diffusion distances.

    Parameters
    ----------
    spectrum
        Eigenvalues and eigenfunctions; the constant, if it is among them, changes no distance.
    X
        Points (n, d).
    t
        The time, nonnegative, in units of one over the eigenvalues'.
    """
    shrink = decay(spectrum, t)
    return with_squares(spectrum(X) * shrink)


def decay(spectrum: Spectrum, t: float) -> Array:
    """Return exp(-t lambda_j), (k,)."""
    if not isinstance(spectrum, Spectrum):
        raise parameter_error("spectrum", "a Spectrum", type(spectrum).__name__, kind=TypeError)
    time = as_number(t, "t", "a nonnegative number", 0.0)
    return np.asarray(np.exp(-time * spectrum.values))


def with_squares(values: Array) -> Array:
    """Return functions at points X; raise if their squares overflow."""
    if (size := np.abs(values).max(initial=0.0)) > LARGEST_SIZE:
        what = "points at which squares of the functions are finite"
        raise parameter_error("X", what, f"functions up to {size:.2g}")
    return values


def diffusion_distance(spectrum: Spectrum, X: Array, Y: Array, t: float) -> Array:
    """Return sqrt(sum_j exp(-2 t lambda_j) (f_j(x) - f_j(y))^2), (n,), for rows in pairs.

    Parameters
    ----------
    spectrum, t
        As in `diffusion_map`.
    X, Y
        Points (n, d) each, compared row by row; one row goes with all of the other's.
    """
    left = diffusion_map(spectrum, X, t)
    with renamed(X="Y"):
        right = diffusion_map(spectrum, Y, t)
    if len(left) != len(right) and 1 not in (len(left), len(right)):
        raise parameter_error("Y", f"of {len(left)} rows, as X, or 1", f"{len(right)} rows")
    # Unlike a root of squares, this does not overflow.
    return np.asarray(np.hypot.reduce(left - right, axis=1))


def heat_kernel(spectrum: Spectrum, X: Array, Y: Array, t: float) -> Array:
    """Return sum_j exp(-t lambda_j) f_j(x) f_j(y), (n, m), as far as the eigenfunctions go.

    It is the density, relative to the samples' law, of the diffusion at time t from x.

    Parameters
    ----------
    spectrum, t
        As in `diffusion_map`, the constant included.
    X, Y
        Points (n, d) and (m, d).
    """
    half = as_number(t, "t", "a nonnegative number", 0.0) / 2
    left = diffusion_map(spectrum, X, half)
    with renamed(X="Y"):
        right = diffusion_map(spectrum, Y, half)
    return left @ right.T


def pullback_metric(spectrum: Spectrum, X: Array, t: float) -> Array:
    """Return sum_j exp(-2 t lambda_j) grad f_j(x) grad f_j(x)', (n, d, d).

    The diffusion distance of x and x + v is sqrt(v' M(x) v) for small v.

    Parameters
    ----------
    spectrum, X, t
        As in `diffusion_map`.
    """
    shrink = decay(spectrum, t)
    slopes = with_squares(spectrum.gradient(X) * shrink)
    return np.asarray(slopes @ slopes.transpose(0, 2, 1))


def diffusion_neighbors(
    spectrum: Spectrum, X: Array, Y: Array, t: float, n_neighbors: int = 5
) -> tuple[Array, Any]:
    """Return distances and numbers (m, n_neighbors) of the rows of X nearest to the points Y.

    The search is exact, on the diffusion map, and takes all cores.

    Parameters
    ----------
    spectrum, t
        As in `diffusion_map`.
    X, Y
        Points (n, d) to search among, and points (m, d) to search for.
    n_neighbors
        How many.
    """
    k = as_count(n_neighbors, "n_neighbors")
    among = diffusion_map(spectrum, X, t)
    if k > len(among):
        raise parameter_error("n_neighbors", f"at most {len(among)}, the rows of X", k)
    nearest = NearestRows(among)
    with renamed(X="Y"):
        points = diffusion_map(spectrum, Y, t)
    return nearest(points, k, n_jobs=None)
