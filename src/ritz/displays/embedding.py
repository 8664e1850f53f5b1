"""A picture of samples in the plane of two functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ritz.displays.coloring import Coloring, as_coloring
from ritz.displays.source import Source
from ritz.pictures import axes_for
from ritz.validation import Array, as_count, parameter_error


def mark_size(n: int) -> float:
    """Return the area of the marks of n samples, in square points: fewer samples, larger marks."""
    return float(np.clip(9e3 / max(n, 1), 5, 24))


@dataclass(eq=False, repr=False)
class EmbeddingDisplay:
    """Samples by the values of two functions, colored by a label, a number or a column.

    Parameters
    ----------
    embedding
        The functions (n, 2) at the samples.
    axis_names
        The names of both axes.
    coloring
        What samples are colored by.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and their figure.

    Examples
    --------
    >>> import ritz
    >>> moons = ritz.datasets.half_moons(500, random_state=0)
    >>> model = ritz.SpectralEmbedding(operator="laplacian", random_state=0).fit(moons.X)
    >>> display = ritz.EmbeddingDisplay.from_estimator(model, moons.X, color=moons.labels)
    >>> display.embedding.shape
    (500, 2)
    """

    embedding: Array
    axis_names: tuple[str, str]
    coloring: Coloring
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_spectrum(
        cls,
        spectrum: Any,
        X: Any,
        *,
        color: Any = None,
        components: Any = (1, 2),
        n_points: int = 5000,
        ax: Any = None,
    ) -> Self:
        """Draw samples by two functions of a spectrum; of a singular spectrum by left ones.

        Parameters
        ----------
        spectrum
            A `Spectrum` or a `SingularSpectrum`.
        X
            Samples (n, d).
        color
            Labels or numbers (n,), or the number or the name of a column of X. Up to twelve
            different whole numbers are labels.
        components
            The numbers of the two functions; 0 is the constant.
        n_points
            How many of the samples to draw.
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        source = Source.of_spectrum(spectrum).with_functions("spectrum")
        return cls._drawn(source, X, color, components, n_points, ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        color: Any = None,
        components: Any = (1, 2),
        n_points: int = 5000,
        ax: Any = None,
    ) -> Self:
        """Draw samples by two functions of a fitted estimator; 1 is the first after the constant.

        The parameters are those of `from_spectrum`.
        """
        source = Source.of_estimator(estimator).with_functions("estimator")
        return cls._drawn(source, X, color, components, n_points, ax)

    @classmethod
    def _drawn(
        cls, source: Source, X: Any, color: Any, components: Any, n_points: Any, ax: Any
    ) -> Self:
        known = source.numbers.tolist()
        if tuple(np.shape(components)) != (2,):
            raise parameter_error("components", "two numbers of functions", repr(components))
        first, second = (as_count(c, "components", lowest=0) for c in components)
        alone = known[-1:] == [1] and (first, second) == (1, 2)
        for number in (first,) if alone else (first, second):
            if number not in known:
                what = f"two numbers of functions between {known[0]} and {known[-1]}"
                raise parameter_error("components", what, repr(components))
        points, rows = source.points(X, n_points)
        values, place = source.at(points), known.index
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        coloring = as_coloring(color, points, rows, n, source.names)
        x = values[:, place(first)]
        x_name = f"function {first}: {source.titles[place(first)]}"
        if alone:
            # There is no second function: the samples stand by the order of the first one's values.
            y = np.argsort(np.argsort(x, kind="stable"), kind="stable") / max(len(x) - 1, 1)
            y_name = "share of the samples below"
        else:
            y = values[:, place(second)]
            y_name = f"function {second}: {source.titles[place(second)]}"
        return cls(np.column_stack([x, y]), (x_name, y_name), coloring).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the samples on matplotlib axes, on new ones if None."""
        ax = self.ax_ = axes_for(ax, (6.4, 4.8))
        self.figure_ = ax.figure
        self.coloring.draw(ax, self.embedding, mark_size(len(self.embedding)))
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.spines[["top", "right"]].set_visible(False)
        return self
