"""The sums of a Laplacian over kernel sections, by a closed formula of matrix products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.assembly.sums import Matrices
from ritz.bases import Centered, KernelSections
from ritz.forms import Form
from ritz.forms.laplacian import Laplacian
from ritz.kernels.sections import squared_distances
from ritz.namespaces import namespace, placed, zeros
from ritz.rows import Block
from ritz.validation import Array

# Rows of one block: its sections stay in cache, and BLAS runs at full speed.
SECTION_ROWS = 1024
# A kernel with q' = c q needs no slopes: they are c times the values. The formula multiplies their
# rounding error by the squared distance of two centers, in length scales, so this is its limit.
SHARED_SPREAD = 100.0


@dataclass
class FoldProducts:
    """Running sums over the rows of one fold.

    The columns of V are the values minus their offset, those of T the slopes q'(u), and those of
    S * T the slopes times the squared distances.

    Parameters
    ----------
    weight
        The sum of the weights.
    V, ST
        Weighted sums (p,) of the columns of V and of S * T.
    matrices
        The matrices of the fold, which hold running sums (p, p) beside the function 1. Phi holds
        V'V. L holds (S * T)'T - E * (T'T) / 2, whose symmetric part is wanted, or T'T for kernels
        of the dot product. Where the values replace the slopes, it holds (S * T)'V or zeros.
    """

    weight: float
    V: Array
    ST: Array
    matrices: Matrices


class LaplacianAssembler:
    """Sums of E<grad f, grad g> over kernel sections.

    For a distance kernel with length scale 1 let S_ki = |x_k - y_i|^2, T_ki = q'(S_ki / 2) and
    E_ij = |y_i - y_j|^2. Then L = (M + M') / 2 - E * (T'T) / 2 with M = (S * T)'T. Kernels of the
    dot product have L = (Y Y') * (T'T). Where q' = c q, as for the Gaussian, T'T follows from the
    products of the values.

    Parameters
    ----------
    basis
        Kernel sections minus an offset, on the device of the rows.
    """

    block_rows = SECTION_ROWS

    @staticmethod
    def applies(form: Form, left: Centered, right: Centered) -> bool:
        """Return whether the formula holds: a Laplacian without frames, over kernel sections."""
        plain = isinstance(form, Laplacian) and form.tangent is None
        return plain and left is right and isinstance(left.basis, KernelSections)

    def __init__(self, basis: Centered) -> None:
        assert isinstance(basis.basis, KernelSections)
        sections = basis.basis
        self.kernel, self.rate = sections.kernel, sections.kernel.rate
        self.kernel.require_order(1)
        self.offset, self.scale, self.shift = basis.offset, sections.scale, sections.shift
        self.centers, self.anchors = sections.scaled_centers, sections.anchors
        self.distance = self.kernel.family == "distance"
        self.spread = sections.spread if self.distance else None
        # With one length scale for all columns the squared distance of point and anchor is a
        # multiple of that which the kernel computes.
        self.isotropic = self.distance and np.ndim(self.kernel.length_scale) == 0
        self.anisotropic = self.distance and not self.isotropic
        # Whether the values replace the slopes.
        self.shared = self.rate is not None
        if self.distance:
            # An upper bound of the squared distance of two centers.
            xp = namespace(self.centers)
            farthest = 4 * float(xp.max(xp.vecdot(self.centers, self.centers)))
            self.shared &= farthest < SHARED_SPREAD

    def start(self) -> FoldProducts:
        """Return the sums of no rows."""
        p = self.offset.shape[0]
        Phi, L = (zeros((1 + p, 1 + p), self.offset) for _ in range(2))
        V, ST = (zeros((p,), self.offset) for _ in range(2))
        return FoldProducts(0.0, V, ST, Matrices(L, Phi, Phi))

    def add(self, sums: FoldProducts, block: Block) -> None:
        """Add a block of rows to the sums of its fold."""
        weight = placed(block.weight, block.views[0])
        X = (block.views[0] - self.shift) / self.scale
        V, T, ST = self.kernel.sections(
            X,
            self.centers,
            self.offset,
            slopes=not self.shared or self.anisotropic,
            stretched=self.isotropic,
        )
        if self.anisotropic:
            assert T is not None
            ST = squared_distances(X / self.scale, self.anchors) * T
        sums.weight += float(block.weight.sum())
        sums.V += weight @ V
        if ST is not None:
            sums.ST += weight @ ST
        if not (block.weight == 1.0).all():
            root = namespace(weight).sqrt(weight)[:, None]
            V, T = V * root, None if T is None else T * root
            ST = None if ST is None else ST * root
        VV, L = sums.matrices.Phi[1:, 1:], sums.matrices.L[1:, 1:]
        VV += V.T @ V
        if self.shared:
            if ST is not None:
                L += ST.T @ V
            return
        assert T is not None
        TT = T.T @ T
        if self.spread is None:
            L += TT
            return
        assert ST is not None
        TT *= self.spread
        TT /= 2
        L -= TT
        del TT
        M = ST.T @ T
        if self.isotropic:
            M /= self.scale[0] ** 2
        L += M

    def finish(self, sums: FoldProducts) -> Matrices:
        """Return the matrices of a fold, the function 1 first, from its products."""
        o, Phi, energy = self.offset, sums.matrices.Phi, sums.matrices.L[1:, 1:]
        Phi[0, 0], Phi[0, 1:], Phi[1:, 0] = sums.weight, sums.V, sums.V
        TT = energy
        if self.shared:
            # T = c (V + 1 o'), so that its products follow from those of V.
            rate = self.rate or 0.0
            half = sums.V + sums.weight / 2 * o
            TT = half[:, None] * o
            TT += o[:, None] * half
            # Added last, so that the sum is symmetric to the last bit.
            TT += Phi[1:, 1:]
            TT *= rate**2
            energy += sums.ST[:, None] * o
            energy *= rate
            if self.isotropic:
                energy /= self.scale[0] ** 2
        if self.spread is None:
            energy[...] = (self.anchors @ self.anchors.T) * TT
            return sums.matrices
        energy[...] = energy + energy.T
        if self.shared:
            TT *= self.spread
            energy -= TT
        energy /= 2
        return sums.matrices
