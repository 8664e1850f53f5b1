"""A function fitted to values and gradients, and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ritz.arrays import Array
from ritz.bases import Combination
from ritz.bases.functionals import (
    Functionals,
    variances,
)
from ritz.regression.validation import Choice
from ritz.regression.whitened import Whitened


@dataclass(frozen=True, eq=False)
class Solution:
    """A function fitted to values and gradients, and how well that is known.

    Parameters
    ----------
    functions
        The functions.
    coefficients, constants
        The numbers (p, outputs) and (outputs,).
    root
        R with R' R the matrix of the least squares problem over (1, psi).
    gradient_weight, regularization
        The numbers rho and gamma.
    noise
        The variance (outputs,) of one value, estimated from what is left over.
    residual
        How far from stationary the solution is: the gradient of the loss, relative to that at 0.
    choice
        The errors of other weights and penalties on rows left out, where those were compared.
    offset
        What was taken off the functions phi (p,) before psi was made of them in R.
    about
        Points (m, d) over which the function has mean zero, or None: where no value was observed,
        what is known of it is how it differs from that mean.
    """

    functions: Whitened
    coefficients: Array
    constants: Array
    root: Array
    gradient_weight: float
    regularization: float
    noise: Array
    residual: float
    choice: Choice | None = None
    offset: float | Array = 0.0
    about: Array | None = None

    @property
    def function(self) -> Combination:
        """The functions fitted, one for each output."""
        return Combination(self.functions.basis, self.coefficients, self.constants)

    def variance(self, X: Array) -> Array:
        """Return the posterior variance (n, outputs) at points (n, d).

        It is noise (h' (R'R)^-1 h + (k(x, x) - |psi|^2) / gamma) with h = (1, psi(x)): what is
        left of the prior, that within the span and that outside of it.
        """
        phi = self.functions.basis(X)
        offset = self.offset
        if self.about is None:
            psi = self.functions.features(phi)
            prior = variances(self.functions.kernel, Functionals.at(X))
        else:
            kernel = self.functions.kernel
            offset = self.functions.basis(self.about).mean(axis=0)
            psi = self.functions.features(phi - offset)
            prior = (
                variances(kernel, Functionals.at(X))
                - 2 * kernel(X, self.about).mean(axis=1)
                + kernel(self.about, self.about).mean()
            )
        h = np.column_stack([np.ones(len(X)), self.functions.features(phi - offset)])
        inside = solve_triangular(self.root, h.T, trans=1)
        known = np.einsum("ij,ij->j", inside, inside)
        outside = np.maximum(prior - np.einsum("ij,ij->i", psi, psi), 0.0)
        return np.outer(known + outside / self.regularization, self.noise)
