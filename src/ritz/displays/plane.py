"""Where samples in one or two dimensions are, and views of more dimensions in the plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ritz.displays.source import axis_names
from ritz.validation import Array, Names, as_count, parameter_error

# How far beyond samples functions are drawn, as a share of the samples' extent.
MARGIN = 0.04


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid around samples in one or two dimensions.

    Parameters
    ----------
    axes
        The coordinates (m,) of the grid along each axis.
    heights
        The values (..., outputs) of functions on the grid, NaN far from all samples.
    """

    axes: tuple[Array, ...]
    heights: Array

    @classmethod
    def around(
        cls, points: Array, resolution: int, at: Callable[[Array], Array], margin: float = MARGIN
    ) -> Grid:
        """Return the values of functions on a grid, where there are samples nearby."""
        low, high = points.min(axis=0), points.max(axis=0)
        extent = np.where(high > low, high - low, 1.0)
        pad = margin * extent
        axes = tuple(
            np.linspace(a, b, resolution) for a, b in zip(low - pad, high + pad, strict=True)
        )
        grid = np.stack(np.meshgrid(*axes), axis=-1)
        places = grid.reshape(-1, len(axes))
        # Far from all samples a function means nothing.
        distance = cKDTree(points / extent).query(places / extent, distance_upper_bound=margin)[0]
        near = np.isfinite(distance)
        values = at(places[near])
        heights = np.full((len(places), values.shape[1]), np.nan)
        heights[near] = values
        return cls(axes, heights.reshape(*grid.shape[:-1], -1))


def as_resolution(resolution: Any) -> int:
    """Return a number of grid points along an axis."""
    return as_count(resolution, "resolution", "an integer of at least 2", 2)


def as_coordinates(coordinates: Any, names: Names, dimension: int) -> tuple[int, ...] | None:
    """Return the numbers of two or three columns, given by number or name; None for None."""
    if coordinates is None:
        return None
    what = "None, or two or three columns by number or name"
    if isinstance(coordinates, str) or not isinstance(coordinates, tuple | list | np.ndarray):
        raise parameter_error("coordinates", what, repr(coordinates))
    found = tuple(as_column(c, names, dimension, "coordinates", what) for c in coordinates)
    if len(set(found)) != len(found) or len(found) not in (2, 3):
        raise parameter_error("coordinates", what, repr(coordinates))
    return found


def as_column(column: Any, names: Names, dimension: int, argument: str, what: str) -> int:
    """Return the number of a column that is given by its number or its name."""
    if isinstance(column, str):
        if names is None or column not in names:
            known = "columns have no names" if names is None else f"columns are {names}"
            raise parameter_error(argument, what, repr(column), f"The {known}.")
        return names.index(column)
    number = as_count(column, argument, what, lowest=0)
    if number >= dimension:
        raise parameter_error(argument, what, f"column {number} of {dimension}")
    return number


def view(
    points: Array, names: Names, coordinates: tuple[int, ...] | None
) -> tuple[Array, tuple[str, ...]]:
    """Return points (n, 1 to 3) to draw, and the names of axes.

    Up to three columns are drawn as they are, and of more the two principal components of columns
    in units of their standard deviations.
    """
    labels = axis_names(names, points.shape[1])
    if coordinates is not None:
        return points[:, coordinates], tuple(labels[c] for c in coordinates)
    if points.shape[1] <= 3:
        return points, labels
    size = np.maximum(np.abs(points).max(axis=0), np.finfo(np.float64).tiny)
    Z = points / size - (points / size).mean(axis=0)
    deviations = Z.std(axis=0)
    Z = Z / np.where(deviations > 1e-14, deviations, np.inf)
    # Rows of zeros change no component. With them there are two, of a single row too.
    Z = np.pad(Z, ((0, max(0, 2 - len(Z))), (0, 0)))
    U, s, V = np.linalg.svd(Z, full_matrices=False)
    # The largest entry of a component is positive, so that pictures repeat.
    largest = np.abs(V[:2]).argmax(axis=1)
    signs = np.where(V[[0, 1], largest] < 0, -1.0, 1.0)
    share = s**2 / max((s**2).sum(), np.finfo(np.float64).tiny)
    texts = tuple(f"principal component {j + 1} ({share[j]:.0%})" for j in range(2))
    return (U * s)[: len(points), :2] * signs, texts
