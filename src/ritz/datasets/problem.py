"""Problems whose spectrum is known: samplers with exact eigenvalues and eigenfunctions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ritz.rows import as_generator
from ritz.validation import Array, as_count, as_rows

__all__ = ["Problem", "Seed", "SingularProblem"]

Seed = int | np.random.Generator | None

Samples = TypeVar("Samples")


@dataclass(frozen=True)
class Problem:
    r"""An energy on samples of a distribution rho, and its exact spectrum.

    .. math:: E_\rho[\langle\nabla f_i, \nabla g\rangle] = \lambda_i E_\rho[f_i g]
        \quad\text{for every smooth } g, \qquad E_\rho[f_i f_j] = \delta_{ij}.

    Parameters
    ----------
    name : str
        A description of the samples.
    dimension : int
        Number d of coordinates of each sample.
    sampler : callable
        `sampler(n, rng)` draws n independent samples, an array (n, d).
    spectrum : callable
        `spectrum(k)` returns the k smallest eigenvalues (k,) in ascending order.
    functions : callable
        `functions(X, k)` returns the values (n, k) of the first k eigenfunctions.
    tangent : callable, optional
        `tangent(X)` returns orthonormal frames (n, d, r); the energy is that of the gradient's
        projection on them. None if the energy is that of the whole gradient.

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
        """Whether the energy is that of the whole gradient or of its part along `tangent`."""
        return "ambient" if self.tangent is None else "tangential"

    def sample(self, n: int, random_state: Seed = None) -> Array:
        """Draw n independent samples of rho.

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, numpy Generator or None
            Seed or generator; an integer makes the samples reproducible.

        Returns
        -------
        array of shape (n, d)

        """
        return self.sampler(as_count(n, "n"), as_generator(random_state))

    def eigenvalues(self, k: int) -> Array:
        """Return the k smallest eigenvalues, repeated by their multiplicity.

        Parameters
        ----------
        k : int
            Number of eigenvalues; the first is 0, with the constant eigenfunction.

        Returns
        -------
        array of shape (k,), ascending

        """
        return self.spectrum(as_count(k, "k"))

    def eigenfunctions(self, X: ArrayLike, k: int) -> Array:
        """Evaluate the first k eigenfunctions, in the order of `eigenvalues`.

        Parameters
        ----------
        X : array of shape (n, d)
            Points in the support of rho.
        k : int
            Number of eigenfunctions; the first is the constant 1.

        Returns
        -------
        array of shape (n, k)

        """
        return self.functions(as_rows(X, "X", self.dimension), as_count(k, "k"))


@dataclass(frozen=True)
class SingularProblem(Generic[Samples]):
    r"""An asymmetric form on samples, and its exact singular values and singular functions.

    .. math:: E[H(f, g_i)] = \sigma_i E[f_i f], \quad E[H(f_i, g)] = \sigma_i E[g_i g]
        \quad\text{for all } f, g.

    Parameters
    ----------
    name : str
        A description of the samples.
    dimension : int
        Number of coordinates on each side.
    energy : {"derivative", "cross"}
        The form: H = f(x) g'(x), or H = f(x) g(y) over pairs.
    sampler : callable
        `sampler(n, rng)` draws n independent samples or pairs of samples.
    spectrum : callable
        `spectrum(k)` returns the first k singular values in the order of the form.
    left, right : callable
        `left(X, k)` and `right(Y, k)` return the values (n, k) of the singular functions.

    """

    name: str
    dimension: int
    energy: Literal["derivative", "cross"]
    sampler: Callable[[int, np.random.Generator], Samples] = field(repr=False)
    spectrum: Callable[[int], Array] = field(repr=False)
    left: Callable[[Array, int], Array] = field(repr=False)
    right: Callable[[Array, int], Array] = field(repr=False)

    def sample(self, n: int, random_state: Seed = None) -> Samples:
        """Draw n independent samples: an array (n, d), or a pair of arrays for "cross".

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, numpy Generator or None
            Seed or generator; an integer makes the samples reproducible.

        Returns
        -------
        array of shape (n, d), or a tuple of two such arrays

        """
        return self.sampler(as_count(n, "n"), as_generator(random_state))

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
        return self.spectrum(as_count(k, "k"))

    def left_functions(self, X: ArrayLike, k: int) -> Array:
        """Evaluate the first k left singular functions, those of the factor f.

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
        return self.left(as_rows(X, "X", self.dimension), as_count(k, "k"))

    def right_functions(self, Y: ArrayLike, k: int) -> Array:
        """Evaluate the first k right singular functions, those of the factor g.

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
        return self.right(as_rows(Y, "Y", self.dimension), as_count(k, "k"))
