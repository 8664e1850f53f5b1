"""Pictures of a spectrum, for those who would rather look than read (extra `plot`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ritz.kernels.sections import squared_distances
from ritz.rows import sample_rows
from ritz.spectrum import Spectrum
from ritz.validation import Array, as_count, as_rows, column_names, parameter_error, require_names


def level_lines(
    spectrum: Spectrum,
    X: Array,
    *,
    columns: int = 4,
    resolution: int = 160,
    n_points: int = 4000,
) -> Any:
    """Draw each eigenfunction over samples in the plane: its values, and its level lines.

    Parameters
    ----------
    spectrum
        A spectrum of functions of two variables.
    X
        Samples (n, 2); lines are drawn where there are samples nearby.
    columns
        The number of panels in a row.
    resolution
        The number of grid points along each axis.
    n_points
        How many of the samples to draw.

    Returns
    -------
    A matplotlib figure.
    """
    if not isinstance(spectrum, Spectrum):
        raise parameter_error("spectrum", "a Spectrum", type(spectrum).__name__, kind=TypeError)
    columns, n_points = as_count(columns, "columns"), as_count(n_points, "n_points")
    resolution = as_count(resolution, "resolution")
    if resolution < 2:
        raise parameter_error("resolution", "at least 2", resolution)
    require_names(column_names(X), spectrum.names, "X")
    X = as_rows(X, "X", spectrum.dimension)
    if not len(X):
        raise parameter_error("X", "at least one sample", f"shape {X.shape}")
    if X.shape[1] != 2:
        raise parameter_error("X", "samples in the plane (n, 2)", f"{X.shape[1]} columns")
    pyplot = _pyplot()
    points = X[sample_rows(X, n_points, seed=0)]
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.04 * (high - low).max()
    axes = [np.linspace(low[i] - pad, high[i] + pad, resolution) for i in range(2)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    values, heights = spectrum.at_rows(points), spectrum.at_rows(grid)
    # Far from all samples a function means nothing.
    heights[squared_distances(grid, points).min(axis=1) > pad**2] = np.nan

    rows = -(-spectrum.size // columns)
    width = 2.6 * columns
    aspect = float((high - low + 2 * pad)[1] / (high - low + 2 * pad)[0])
    figure, panels = pyplot.subplots(
        rows,
        columns,
        figsize=(width, rows * (2.6 * aspect + 0.35)),
        squeeze=False,
        constrained_layout=True,
    )
    for j, panel in enumerate(panels.flat):
        panel.set_axis_off()
        if j >= spectrum.size:
            continue
        top = np.quantile(np.abs(values[:, j]), 0.99) or 1.0
        panel.scatter(*points.T, c=values[:, j], cmap="RdBu_r", vmin=-top, vmax=top, s=1.5, lw=0)
        if np.ptp(values[:, j]) > 1e-9:
            height = heights[:, j].reshape(resolution, resolution)
            levels = np.linspace(-top, top, 12)
            panel.contour(*axes, height, levels=levels, colors="black", linewidths=0.6)
        panel.set_aspect("equal")
        panel.set_title(rf"$\lambda_{{{j}}}$ = {spectrum.values[j]:.3g}", fontsize=10)
    return figure


def _pyplot() -> Any:
    try:
        return import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError("Pictures need matplotlib: pip install 'ritz[plot]'.") from None
