"""The spectrum of the ambient energy on a sphere for infinitely many samples and sections.

Let the kernel depend on |x - y| or x.y only. Sections at centers on the sphere extend a spherical
harmonic Y of degree s to g(|x|) Y(x / |x|), with one radial profile g for each degree. The ambient
energy includes the normal derivative of g, which no combination of sections can change:

    lambda = s (s + d - 2) + (g'(1) / g(1))^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import eval_gegenbauer, roots_gegenbauer

import ritz
from paper import Array
from paper.figures.convergence import error

# Nodes of the quadrature.
NODES = 128


def ambient_eigenvalues(kernel: ritz.Kernel, d: int, k: int) -> Array:
    r"""Return the k smallest eigenvalues of the ambient energy, infinite if there are fewer.

    By the theorem of Funk and Hecke, g is up to a factor the integral of the kernel against a
    Gegenbauer polynomial,

    .. math:: g(r) \propto \int_{-1}^1 k(r t, 1) C_s(t) (1 - t^2)^{(d - 3) / 2} dt.

    Parameters
    ----------
    kernel
        A kernel with a single length scale.
    d
        The dimension of the ambient space, at least 3.
    k
        The number of eigenvalues. The first is that of the radial profile of degree 0.
    """
    truth = ritz.datasets.sphere(d).eigenvalues(k)
    slopes = normal_slopes(kernel, d, degrees=np.unique(truth, return_inverse=True)[1])
    return np.asarray(truth + slopes**2)


def ambient_error(kernel: ritz.Kernel, d: int, k: int = 25) -> float:
    """Return the error of the ambient energy for infinitely many samples and sections."""
    truth = ritz.datasets.sphere(d).eigenvalues(k)[1:]
    found = error(1 / ambient_eigenvalues(kernel, d, k)[1:], truth)
    assert found is not None
    return found


def normal_slopes(kernel: ritz.Kernel, d: int, degrees: ArrayLike) -> Array:
    """Return g'(1) / g(1) for harmonics of given degrees, infinite if g is zero."""
    t, weight = roots_gegenbauer(NODES, (d - 2) / 2)
    X = np.zeros((NODES, d))
    X[:, 0], X[:, 1] = t, np.sqrt(1 - t**2)
    sections = ritz.KernelSections(kernel, np.eye(d)[:1])
    values = sections(X)[:, 0]
    normal = np.einsum("ij,ij->i", sections.gradient(X)[:, :, 0], X)
    polynomials = weight * eval_gegenbauer(np.asarray(degrees)[:, None], (d - 2) / 2, t)
    g, slope = polynomials @ values, polynomials @ normal
    # Smaller values are rounding errors of the quadrature.
    nonzero = np.abs(g) > 1e-12 * np.abs(polynomials) @ np.abs(values)
    return np.where(nonzero, slope / np.where(nonzero, g, 1.0), np.inf)
