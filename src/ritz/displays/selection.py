"""A picture of what "auto" compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ritz.selection.plot import draw_scores
from ritz.selection.selection import Selection
from ritz.validation import parameter_error


@dataclass(eq=False, repr=False)
class SelectionDisplay:
    """The scores of the candidates for a basis over their length scales.

    A color is a kernel, and larger marks have more centers. Error bars are those of the difference
    from the best.

    Parameters
    ----------
    selection
        The `Selection`.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and their figure.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(500, random_state=0).X
    >>> found = ritz.select(ritz.laplacian(), X, k=2, random_state=0)
    >>> ritz.SelectionDisplay.from_selection(found).ax_.get_xscale()
    'log'
    """

    selection: Selection
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted estimator compared, on matplotlib axes, on new ones if None."""
        if not isinstance(estimator, BaseEstimator):
            what, got = "a fitted estimator of ritz", type(estimator).__name__
            raise parameter_error("estimator", what, got, kind=TypeError)
        check_is_fitted(estimator)
        selection = getattr(estimator, "selection_", None)
        if not isinstance(selection, Selection):
            what, got = "a fitted estimator that compared candidates", f"{selection} as selection_"
            remedy = "Candidates are compared where kernel or length_scale are 'auto'."
            raise parameter_error("estimator", what, got, remedy)
        return cls(selection).plot(ax)

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> Self:
        """Draw a `Selection`, as `ritz.select` returns it."""
        if not isinstance(selection, Selection):
            what, got = "a Selection", type(selection).__name__
            raise parameter_error("selection", what, got, kind=TypeError)
        return cls(selection).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the scores on matplotlib axes, on new ones if None."""
        self.ax_ = draw_scores(self.selection, ax)
        self.figure_ = self.ax_.figure
        return self
