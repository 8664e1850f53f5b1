"""Pictures of clusters: where they are, and what decided for their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz.displays.coloring import Coloring
from ritz.displays.embedding import mark_size
from ritz.displays.plane import Grid, as_coordinates, as_resolution, view
from ritz.displays.source import Source
from ritz.estimators import SpectralClustering
from ritz.estimators.halves import LARGEST_RATIO_INSIDE
from ritz.pictures import COLORS, GRAY, axes_for, look_of, matplotlib_module, plain, plain_log_axis
from ritz.validation import Array, parameter_error


@dataclass(eq=False, repr=False)
class ClusterDisplay:
    """The clusters of samples, and, of two columns, the regions that `predict` gives them.

    Parameters
    ----------
    points
        Samples (n, 2) to draw: two columns, or the first two functions of more.
    labels
        Their clusters (n,).
    shares
        The share (clusters,) of each cluster among the samples.
    axis_names
        The names of both axes.
    grid
        The cluster of points on a grid around the samples, or None.
    evidence
        The ratio of the next eigenvalue to the last one used for each number of clusters, or None
        where the number was given.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and their figure.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(1000, random_state=0).X
    >>> model = ritz.SpectralClustering(2, random_state=0).fit(X)
    >>> ritz.ClusterDisplay.from_estimator(model, X).shares.round(1)
    array([0.5, 0.5])
    """

    points: Array
    labels: NDArray[np.int32]
    shares: Array
    axis_names: tuple[str, ...]
    grid: Grid | None = None
    evidence: dict[int, float] | None = None
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: SpectralClustering,
        X: Any,
        *,
        coordinates: Any = None,
        resolution: int = 160,
        n_points: int = 5000,
        ax: Any = None,
    ) -> Self:
        """Draw the clusters of a fitted `SpectralClustering`.

        Parameters
        ----------
        estimator
            The estimator.
        X
            Samples (n, d).
        coordinates
            Two columns, by number or name, that make the axes; None for two columns as they are
            and, of more, the first two functions.
        resolution
            The number of grid points along each axis.
        n_points
            How many of the samples to draw.
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        if not isinstance(estimator, SpectralClustering):
            what, got = "a SpectralClustering", type(estimator).__name__
            raise parameter_error("estimator", what, got, kind=TypeError)
        check_is_fitted(estimator)
        source, resolution = Source.of_estimator(estimator), as_resolution(resolution)
        points, _ = source.points(X, n_points)
        chosen = as_coordinates(coordinates, source.names, points.shape[1])
        if chosen is not None and len(chosen) != 2:
            raise parameter_error("coordinates", "None or two columns", repr(coordinates))
        labels = clusters_of(estimator, points)
        shares = np.bincount(labels, minlength=estimator.n_clusters_) / len(labels)
        grid = None
        if chosen is None and points.shape[1] == 2:
            grid = Grid.around(
                points, resolution, lambda P: clusters_of(estimator, P)[:, None].astype(np.float64)
            )
        if chosen is None and points.shape[1] > 2 and len(source.numbers) > 1:
            shown = source.at(points)[:, :2]
            names: tuple[str, ...] = tuple(
                f"function {j + 1}: {source.titles[j]}" for j in range(2)
            )
        else:
            shown, names = view(points, source.names, chosen)
        if shown.shape[1] != 2:
            shown, names = _in_plane(shown, names)
        evidence = getattr(estimator, "evidence_", None)
        if evidence is not None:
            evidence = {number: float(np.exp(gap)) for number, gap in evidence.items()}
        return cls(shown, labels, shares, names, grid, evidence).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the clusters on matplotlib axes, on new ones if None."""
        ax = self.ax_ = axes_for(ax, (6.4, 4.8))
        self.figure_ = ax.figure
        if self.grid is not None:
            k = len(self.shares)
            cycle = [look_of(code)[0] for code in range(k)]
            colors = matplotlib_module("colors").ListedColormap(cycle)
            regions = np.ma.masked_invalid(self.grid.heights[..., 0])
            limits = {"vmin": -0.5, "vmax": k - 0.5}
            options = {"shading": "nearest", "alpha": 0.18, "rasterized": True}
            ax.pcolormesh(*self.grid.axes, regions, cmap=colors, **limits, **options)
            ax.set_aspect("equal", adjustable="datalim")
        names = tuple(f"{code} ({share:.0%})" for code, share in enumerate(self.shares))
        coloring = Coloring("cluster", self.labels.astype(np.intp), names)
        coloring.draw(ax, self.points, mark_size(len(self.points)))
        ax.set(xlabel=plain(self.axis_names[0]), ylabel=plain(self.axis_names[1]))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def plot_evidence(self, ax: Any = None) -> Self:
        """Draw the ratio of eigenvalues after each number of clusters, and mark the one chosen.

        A ratio above 4, the line, is more than a single cluster can have. "auto" also asks what
        halves of the samples agree on, so that another number may have the largest ratio.
        """
        if not self.evidence:
            remedy = "Fit with n_clusters='auto' to compare numbers of clusters."
            raise ValueError(f"There is no evidence for a number of clusters. {remedy}")
        ax = self.ax_ = axes_for(ax)
        self.figure_ = ax.figure
        numbers, ratios = np.array(list(self.evidence)), np.array(list(self.evidence.values()))
        chosen = len(self.shares)
        colors = [COLORS[1] if number == chosen else COLORS[0] for number in numbers]
        ax.vlines(numbers, 1.0, ratios, colors=colors, lw=3)
        ax.scatter(numbers, ratios, c=colors, s=36, zorder=3)
        ax.plot([], [], "o", color=COLORS[1], label=f"{chosen} clusters, chosen")
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        ax.axhline(LARGEST_RATIO_INSIDE, color=GRAY, ls="--", lw=1)
        place = ax.get_yaxis_transform()
        text = f"{LARGEST_RATIO_INSIDE:g}: a single cluster can have as much"
        options = {"ha": "right", "fontsize": 8, "color": GRAY, "transform": place}
        ax.text(0.99, LARGEST_RATIO_INSIDE * 1.05, text, **options)
        top = max(float(ratios.max()), LARGEST_RATIO_INSIDE)
        plain_log_axis(ax.yaxis, min(float(ratios.min()), 1.0), top)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("next eigenvalue / last one used,\nboth moved by an error")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.spines[["top", "right"]].set_visible(False)
        return self


def clusters_of(estimator: SpectralClustering, points: Array) -> NDArray[np.int32]:
    """Return the clusters (n,) of points whose names of columns are checked already."""
    return estimator._labels(estimator.units_(points))


def _in_plane(points: Array, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Return points of one column over their order, and of three the first two columns."""
    if points.shape[1] > 2:
        return points[:, :2], names[:2]
    order = np.argsort(np.argsort(points[:, 0], kind="stable"), kind="stable")
    return np.column_stack([points[:, 0], order]), (names[0], "rank of the row")
