"""Problems whose spectrum is known: samples come with their true eigenvalues and functions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ritz.datasets.checks import Array, Seed, count, points

__all__ = ["Problem", "SingularProblem"]

Samples = TypeVar("Samples")


@dataclass(frozen=True)
class Problem:
    r"""An energy on samples of a law rho, and its exact eigenvalues and eigenfunctions.

    .. math:: E_\rho[\langle\nabla f_i, \nabla g\rangle] = \lambda_i E_\rho[f_i g]
        \quad\text{for every smooth } g, \qquad E_\rho[f_i f_j] = \delta_{ij}.

    Parameters
    ----------
    name : str
        What the samples are.
    dimension : int
        Number d of coordinates of a sample.
    sampler : callable
        `sampler(n, rng)` draws n independent samples, (n, d).
    spectrum : callable
        `spectrum(k)` gives the k smallest eigenvalues, ascending, (k,).
    functions : callable
        `functions(X, k)` gives the values of the first k eigenfunctions, (n, k).
    tangent : callable, optional
        `tangent(X)` gives orthonormal frames, (n, d, r): gradients count along them only.
        None when the whole gradient counts.

    Examples
    --------
    >>> from ritz.datasets import circle
    >>> problem = circle()
    >>> problem.sample(5, random_state=0).shape
    (5, 2)
    >>> problem.eigenvalues(5)
    array([0., 1., 1., 4., 4.])

    """

    name: str
    dimension: int
    sampler: Callable[[int, np.random.Generator], Array] = field(repr=False)
    spectrum: Callable[[int], Array] = field(repr=False)
    functions: Callable[[Array, int], Array] = field(repr=False)
    tangent: Callable[[Array], Array] | None = field(default=None, repr=False)

    @property
    def energy(self) -> Literal["ambient", "tangential"]:
        """Which part of the gradient counts: all of it, or the part along `tangent`."""
        return "ambient" if self.tangent is None else "tangential"

    def sample(self, n: int, random_state: Seed = None) -> Array:
        """Draw n independent samples of rho.

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, numpy Generator or None
            Source of randomness; an integer makes the samples reproducible.

        Returns
        -------
        array of shape (n, d)

        """
        return self.sampler(count(n, "n", "sample"), np.random.default_rng(random_state))

    def eigenvalues(self, k: int) -> Array:
        """Return the k smallest eigenvalues, repeated as often as they occur.

        Parameters
        ----------
        k : int
            Number of eigenvalues; the first is 0, that of the constant.

        Returns
        -------
        array of shape (k,), ascending

        """
        return self.spectrum(count(k, "k", "eigenvalues"))

    def eigenfunctions(self, X: ArrayLike, k: int) -> Array:
        """Evaluate the first k eigenfunctions, in the order of `eigenvalues`.

        Parameters
        ----------
        X : array of shape (n, d)
            Points of the support of rho.
        k : int
            Number of eigenfunctions; the first is the constant 1.

        Returns
        -------
        array of shape (n, k)

        """
        k = count(k, "k", "eigenfunctions")
        return self.functions(points(X, self.dimension, "X", "eigenfunctions"), k)


@dataclass(frozen=True)
class SingularProblem(Generic[Samples]):
    r"""An asymmetric form on samples, and its exact singular values and functions.

    .. math:: E[H(f, g_i)] = \sigma_i E[f_i f], \quad E[H(f_i, g)] = \sigma_i E[g_i g]
        \quad\text{for all } f, g.

    Parameters
    ----------
    name : str
        What the samples are.
    dimension : int
        Number of coordinates on each side.
    energy : {"derivative", "cross"}
        The form: H = f(x) g'(x), or H = f(x) g(y) over pairs.
    sampler : callable
        `sampler(n, rng)` draws n independent samples, or pairs of them.
    spectrum : callable
        `spectrum(k)` gives k singular values in the order of the form.
    left, right : callable
        `left(X, k)` and `right(Y, k)` give the values of the singular functions, (n, k).

    """

    name: str
    dimension: int
    energy: Literal["derivative", "cross"]
    sampler: Callable[[int, np.random.Generator], Samples] = field(repr=False)
    spectrum: Callable[[int], Array] = field(repr=False)
    left: Callable[[Array, int], Array] = field(repr=False)
    right: Callable[[Array, int], Array] = field(repr=False)

    def sample(self, n: int, random_state: Seed = None) -> Samples:
        """Draw n independent samples: an (n, d) array, or a pair of them for "cross".

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, numpy Generator or None
            Source of randomness; an integer makes the samples reproducible.

        Returns
        -------
        array of shape (n, d), or a tuple of two

        """
        return self.sampler(count(n, "n", "sample"), np.random.default_rng(random_state))

    def singular_values(self, k: int) -> Array:
        """Return k singular values: smallest first for "derivative", largest first for "cross".

        Parameters
        ----------
        k : int
            Number of singular values.

        Returns
        -------
        array of shape (k,)

        """
        return self.spectrum(count(k, "k", "singular_values"))

    def left_functions(self, X: ArrayLike, k: int) -> Array:
        """Evaluate the first k left functions, those of the factor f.

        Parameters
        ----------
        X : array of shape (n, d)
            Points.
        k : int
            Number of functions.

        Returns
        -------
        array of shape (n, k)

        """
        k = count(k, "k", "left_functions")
        return self.left(points(X, self.dimension, "X", "left_functions"), k)

    def right_functions(self, Y: ArrayLike, k: int) -> Array:
        """Evaluate the first k right functions, those of the factor g.

        Parameters
        ----------
        Y : array of shape (n, d)
            Points.
        k : int
            Number of functions.

        Returns
        -------
        array of shape (n, k)

        """
        k = count(k, "k", "right_functions")
        return self.right(points(Y, self.dimension, "Y", "right_functions"), k)
