"""What the ambient energy finds on a sphere from infinitely many samples and sections.

Sections of a kernel that only knows |x - y| and x.y, at centers on the sphere, hold each spherical
harmonic Y of degree s as g(|x|) Y(x / |x|), with one radial profile g for each degree. The ambient
gradient counts its slope across the sphere, and no combination of sections can take it off:

    lambda = s (s + d - 2) + (g'(1) / g(1))^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import eval_gegenbauer, roots_gegenbauer

import ritz
from ritz.arrays import Array
from ritz.experiments.convergence import error

NODES = 128


def ambient_eigenvalues(kernel: ritz.Kernel, d: int, k: int) -> Array:
    r"""Return the k smallest eigenvalues of the ambient energy, infinite where there are fewer.

    By the theorem of Funk and Hecke g is, up to a factor, the average of the kernel against a
    Gegenbauer polynomial,

    .. math:: g(r) \propto \int_{-1}^1 k(r t, 1) C_s(t) (1 - t^2)^{(d - 3) / 2} dt.

    Parameters
    ----------
    kernel
        A kernel of one length scale.
    d
        The dimension of the space around the sphere, at least 3.
    k
        The number of eigenvalues, the constant's among them; its own is that of the profile too.
    """
    truth = ritz.datasets.sphere(d).eigenvalues(k)
    slopes = normal_slopes(kernel, d, degrees=np.unique(truth, return_inverse=True)[1])
    return np.asarray(truth + slopes**2)


def ambient_error(kernel: ritz.Kernel, d: int, k: int = 25) -> float:
    """Return the error that ambient energies keep, with all samples and sections of the sphere."""
    truth = ritz.datasets.sphere(d).eigenvalues(k)[1:]
    found = error(1 / ambient_eigenvalues(kernel, d, k)[1:], truth)
    assert found is not None
    return found


def normal_slopes(kernel: ritz.Kernel, d: int, degrees: ArrayLike) -> Array:
    """Return g'(1) / g(1) for harmonics of some degrees, infinite where g is zero."""
    t, weight = roots_gegenbauer(NODES, (d - 2) / 2)
    X = np.zeros((NODES, d))
    X[:, 0], X[:, 1] = t, np.sqrt(1 - t**2)
    sections = ritz.KernelSections(kernel, np.eye(d)[:1])
    values = sections(X)[:, 0]
    across = np.einsum("ij,ij->i", sections.gradient(X)[:, :, 0], X)
    waves = weight * eval_gegenbauer(np.asarray(degrees)[:, None], (d - 2) / 2, t)
    g, slope = waves @ values, waves @ across
    # What quadrature leaves of zero.
    there = np.abs(g) > 1e-12 * np.abs(waves) @ np.abs(values)
    return np.where(there, slope / np.where(there, g, 1.0), np.inf)
