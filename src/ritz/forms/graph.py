"""The graph Laplacian on the span of a basis, which the method is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ritz.features import Jet, Terms, Values
from ritz.forms.form import Form
from ritz.kernels import Kernel
from ritz.rows import Block, row_slices
from ritz.validation import Array, as_real, parameter_error, require_finite

# The weights are computed in square tiles of this many rows and columns: 8 MB.
GRAPH_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Graph(Form):
    """The form (1/n) sum_ij w_ij (f(x_i) - f(x_j)) (g(x_i) - g(x_j))."""

    file_tag: ClassVar[str] = "Graph"

    positive = True
    needs_all_rows = True
    weights: Kernel | Callable[[Array, Array], Any]
    normalized: bool
    data: Block | None = None
    scale: Array | None = None
    degree: Array | None = None

    def prepare_with_all(self, data: Block) -> Form:
        X, s = data.views[0], data.weight
        self._require_symmetric(X[:GRAPH_ROWS])
        scale = np.ones(len(X))
        if self.normalized:
            degree = self._average(X, s)
            if degree.min() <= 0:
                what = "such that every row has a positive sum"
                raise parameter_error("weights", what, degree.min())
            scale = 1 / np.sqrt(degree)
        degree = scale * self._average(X, scale * s)
        return replace(self, data=data, scale=scale, degree=degree)

    def without_rows(self) -> Form:
        return replace(self, data=None, scale=None, degree=None)

    def _require_symmetric(self, X: Array) -> None:
        """Raise unless weights(x, y) = weights(y, x) for the rows of X (m, d)."""
        W = self._between(X, X)
        gap, size = np.abs(W - W.T).max(), W.max()
        if gap > 1e-8 * size:
            got = f"weights up to {size:.2g} that differ by up to {gap:.2g}"
            remedy = "Use the mean of weights(x, y) and the transpose of weights(y, x)."
            requirement = "symmetric, weights(x, y) = weights(y, x)"
            raise parameter_error("weights", requirement, got, remedy)

    def _between(self, X: Array, Y: Array) -> Array:
        W = as_real(self.weights(X, Y), "weights")
        if W.shape != (len(X), len(Y)):
            what = f"a function with values of shape {(len(X), len(Y))}"
            raise parameter_error("weights", what, f"shape {W.shape}")
        require_finite(W, "weights")
        if W.size and W.min() < 0:
            raise parameter_error("weights", "nonnegative", f"{W.min():.3g}")
        return W

    def _average(self, X: Array, v: Array) -> Array:
        """Return sum_j w(x_i, x_j) v_j (n,), block by block."""
        result = np.zeros(len(X))
        for rows in row_slices(len(X), GRAPH_ROWS):
            for others in row_slices(len(X), GRAPH_ROWS):
                result[rows] += self._between(X[rows], X[others]) @ v[others]
        return result

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        assert self.data is not None
        assert self.scale is not None
        assert self.degree is not None
        all_rows, s = self.data.views[0], self.data.weight * self.scale
        mean, one = np.zeros((len(block), g.value.array.shape[1])), np.zeros(len(block))
        for others in row_slices(len(all_rows), GRAPH_ROWS):
            W = self._between(block.views[0], all_rows[others]) * s[others]
            mean += W @ g.at(all_rows[others]).value.dense()
            one += W.sum(axis=1)
        scale = self.scale[block.index]
        averaged = Values(mean * scale[:, None], one * scale)
        own = self.degree[block.index] * (f.value * g.value)
        return (own - f.value * averaged) * 2.0  # type: ignore[no-any-return]

    def width(self, dimension: int) -> int:
        return 4

    def __str__(self) -> str:
        return "graph(weights)"


def graph(weights: Kernel | Callable[[Array, Array], Any], *, normalized: bool = True) -> Form:
    """Return the graph Laplacian (1/n) sum_ij w_ij (f(x_i) - f(x_j))^2 on the span of a basis.

    With w~_ij = weights(x_i, x_j) and D_i = sum_j w~_ij, w = D^(-1/2) w~ D^(-1/2). It
    estimates a Laplacian up to a factor, at the price of every pair of rows: time grows as n^2
    (memory does not; pairs are visited block by block), rows must be in memory, and sums of
    parts of the data do not add up, so there are no folds, no error bars and no merging.

    Parameters
    ----------
    weights
        A kernel, or a function of points (n, d) and (m, d) that returns nonnegative (n, m).
    normalized
        Whether to divide by the degrees; otherwise w = w~.
    """
    if not callable(weights) or isinstance(weights, type):
        what = "a kernel or a function of (X, Y)"
        raise parameter_error("weights", what, weights, kind=TypeError)
    return Graph(weights, normalized)
