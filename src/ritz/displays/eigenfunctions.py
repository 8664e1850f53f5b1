"""Pictures of the functions themselves: lines, level lines, and colored samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ritz.displays.plane import Grid, as_coordinates, as_resolution, view
from ritz.displays.source import Source
from ritz.pictures import COLORS, GRAY, ink, outer_panels, panels_for, plain
from ritz.validation import Array, as_count

# The width of a panel in inches.
WIDTH = 2.6
# Level lines in each panel.
N_LEVELS = 12


@dataclass(eq=False, repr=False)
class EigenfunctionDisplay:
    """Eigenfunctions over samples, a panel each.

    Functions of one variable are curves; functions of two variables have level lines over the
    colored samples; in three dimensions samples are colored by the function's value, and in more
    by the value over two principal components, or over two or three columns.

    Parameters
    ----------
    points
        Samples (n, 1 to 3) to draw.
    values
        The functions (n, k) there.
    titles
        What stands above each panel (k,).
    axis_names
        The names of the axes.
    grid
        The functions on a grid around samples in one or two dimensions, or None.

    Attributes
    ----------
    ax_
        The matplotlib axes (k,) of the panels.
    figure_
        Their figure.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(1000, random_state=0).X
    >>> spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(4), X, k=4, random_state=0)
    >>> display = ritz.EigenfunctionDisplay.from_spectrum(spectrum, X)
    >>> len(display.ax_)
    4
    """

    points: Array
    values: Array
    titles: tuple[str, ...]
    axis_names: tuple[str, ...]
    grid: Grid | None = None
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_spectrum(
        cls,
        spectrum: Any,
        X: Any,
        *,
        n_functions: int | None = None,
        coordinates: Any = None,
        columns: int = 4,
        resolution: int = 160,
        n_points: int = 4000,
        ax: Any = None,
    ) -> Self:
        """Draw the functions of a spectrum; of a singular spectrum the left ones.

        Parameters
        ----------
        spectrum
            A `Spectrum` or a `SingularSpectrum`.
        X
            Samples (n, d); curves and level lines are drawn where there are samples nearby.
        n_functions
            The most functions to draw, the first ones; None for all.
        coordinates
            Two or three columns, by number or name, that make the axes; None for up to three
            columns as they are and two principal components of more.
        columns
            The number of panels in a row.
        resolution
            The number of grid points along each axis.
        n_points
            How many of the samples to draw.
        ax
            Matplotlib axes whose place the panels take, or an array of axes, one a function; a new
            figure if None.
        """
        source = Source.of_spectrum(spectrum, n_functions).with_functions("spectrum")
        return cls._drawn(source, X, coordinates, columns, resolution, n_points, ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        n_functions: int | None = 16,
        coordinates: Any = None,
        columns: int = 4,
        resolution: int = 160,
        n_points: int = 4000,
        ax: Any = None,
    ) -> Self:
        """Draw the functions of a fitted estimator but the constant.

        The parameters are those of `from_spectrum`.
        """
        source = Source.of_estimator(estimator, n_functions).with_functions("estimator")
        return cls._drawn(source, X, coordinates, columns, resolution, n_points, ax)

    @classmethod
    def _drawn(
        cls,
        source: Source,
        X: Any,
        coordinates: Any,
        columns: Any,
        resolution: Any,
        n_points: Any,
        ax: Any,
    ) -> Self:
        columns, resolution = as_count(columns, "columns"), as_resolution(resolution)
        points, _ = source.points(X, n_points)
        chosen = as_coordinates(coordinates, source.names, points.shape[1])
        shown, names = view(points, source.names, chosen)
        grid = None
        if chosen is None and points.shape[1] <= 2:
            grid = Grid.around(points, resolution, source.at)
        display = cls(shown, source.at(points), source.titles, names, grid)
        return display.plot(ax, columns=columns)

    def plot(self, ax: Any = None, *, columns: int = 4) -> Self:
        """Draw the panels; the parameters are those of `from_spectrum`."""
        columns, d = as_count(columns, "columns"), self.points.shape[1]
        extent = np.ptp(self.points, axis=0)
        aspect = 0.75
        if d == 2 and self._same_unit:
            aspect = float(np.clip(extent[1] / max(extent[0], 1e-300), 0.3, 2.0))
        if d == 3:
            aspect = 1.0
        size = (WIDTH, WIDTH * aspect + 0.45)
        projection = "3d" if d == 3 else None
        self.ax_ = panels_for(ax, self.values.shape[1], columns, size, projection)
        self.figure_ = self.ax_[0].figure
        # Panels of one grid share the labels of the outer ones.
        outer = outer_panels(self.ax_)
        for j, panel in enumerate(self.ax_):
            draw = (self._curve, self._levels, self._cloud)[d - 1]
            draw(panel, j)
            panel.set_title(self.titles[j], fontsize=10)
            panel.tick_params(labelsize=8)
            panel.locator_params(nbins=4)
            self._label(panel, *outer[j])
        return self

    @property
    def _same_unit(self) -> bool:
        """Whether both axes may have one scale without making one of them a line."""
        extent = np.ptp(self.points, axis=0)
        return bool(extent.max() < 8 * max(extent.min(), 1e-300))

    def _label(self, panel: Any, left: bool, bottom: bool) -> None:
        names = tuple(map(plain, self.axis_names))
        d = len(names)
        if d == 3:
            for set_label, name in zip(
                (panel.set_xlabel, panel.set_ylabel, panel.set_zlabel), names, strict=True
            ):
                set_label(name, fontsize=8, labelpad=-6)
            panel.tick_params(pad=-3, labelsize=7)
            for axis in (panel.xaxis, panel.yaxis, panel.zaxis):
                # Faint walls suit light and dark pages.
                axis.set_pane_color((0.5, 0.5, 0.5, 0.08))
            return
        if bottom:
            panel.set_xlabel(names[0], fontsize=8)
        else:
            panel.tick_params(labelbottom=False)
        if left:
            panel.set_ylabel("value" if d == 1 else names[1], fontsize=8)
        elif d == 2:
            panel.tick_params(labelleft=False)

    def _top(self, j: int) -> float:
        """Return the size that colors and levels reach to: a few far values do not decide."""
        return float(np.quantile(np.abs(self.values[:, j]), 0.99)) or 1.0

    def _colors(self, j: int) -> dict[str, Any]:
        top = self._top(j)
        return {"c": self.values[:, j], "cmap": "coolwarm", "vmin": -top, "vmax": top}

    def _curve(self, panel: Any, j: int) -> None:
        x = self.points[:, 0]
        if self.grid is None:
            panel.plot(x, self.values[:, j], ".", color=COLORS[0], ms=2)
        else:
            panel.axhline(0.0, color=GRAY, lw=0.6)
            panel.plot(self.grid.axes[0], self.grid.heights[:, j], color=COLORS[0], lw=1.6)
        # The samples stand below the curve, in units of the axes' height.
        place = panel.get_xaxis_transform()
        some = x[:: max(1, len(x) // 500)]
        panel.plot(some, np.full(len(some), 0.02), "|", color=GRAY, transform=place, ms=4, mew=0.3)
        panel.margins(y=0.12)

    def _levels(self, panel: Any, j: int) -> None:
        size = 1.5 if self.grid is not None else float(np.clip(4e3 / len(self.points), 2, 14))
        panel.scatter(*self.points.T, **self._colors(j), s=size, lw=0, rasterized=True)
        if self.grid is not None and np.ptp(self.values[:, j]) > 1e-9:
            top = self._top(j)
            levels = np.linspace(-top, top, N_LEVELS)
            height = self.grid.heights[..., j]
            panel.contour(*self.grid.axes, height, levels=levels, colors=[ink()], linewidths=0.6)
        if self._same_unit:
            panel.set_aspect("equal")

    def _cloud(self, panel: Any, j: int) -> None:
        size = float(np.clip(6e3 / len(self.points), 2, 14))
        panel.scatter(*self.points.T, **self._colors(j), s=size, lw=0, rasterized=True)
        extent = np.ptp(self.points, axis=0)
        if extent.max() < 4 * max(extent.min(), 1e-300):
            panel.set_box_aspect(extent, zoom=0.85)
        else:
            panel.set_box_aspect(None, zoom=0.85)
