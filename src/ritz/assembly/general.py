"""The sums of any form over any basis: jets, terms and their Gram matrices, block by block."""

from __future__ import annotations

import numpy as np

from ritz.assembly.sums import Matrices
from ritz.bases import Centered
from ritz.forms import Form
from ritz.namespaces import placed, zeros
from ritz.rows import Block

# The memory that the features of one thread may take, in bytes.
FEATURE_BYTES = 64_000_000


class GeneralAssembler:
    """Sums of a form and of its scalar products over two bases.

    Parameters
    ----------
    form
        The operator.
    left, right
        The functions f and g, on the device of the rows; the same object where both sides share
        them.
    """

    def __init__(self, form: Form, left: Centered, right: Centered) -> None:
        self.form, self.left, self.right = form, left, right
        self.sizes = 1 + left.size, 1 + right.size
        self.second_view = int(form.two_sided)
        self.shared = left is right and not form.two_sided
        # The number of rows that keeps a thread's features within its share of memory.
        floats = 1
        for basis in (left, right):
            d = basis.dimension or 1
            floats = max(floats, basis.floats_per_row(d) + form.width(d) * basis.size)
        self.block_rows = int(np.clip(FEATURE_BYTES // (8 * floats), 16, 2048))

    def start(self) -> Matrices:
        """Return the sums of no rows."""
        p, q = self.sizes
        Phi, L = (zeros(shape, self.left.offset) for shape in ((p, p), (p, q)))
        return Matrices(L, Phi, Phi if self.shared else zeros((q, q), self.left.offset))

    def add(self, sums: Matrices, block: Block) -> None:
        """Add a block of rows to the sums of its fold."""
        f = self.left.jet(block.views[0])
        g = f if self.shared else self.right.jet(block.views[self.second_view])
        weight = placed(block.weight, block.views[0])
        # Overflow is checked after the pass.
        with np.errstate(over="ignore", invalid="ignore"):
            sums.L[...] += self.form.terms(f, g, block).gram(weight)
            sums.Phi[...] += self.form.metric(f, block).gram(weight)
            if not self.shared:
                sums.Psi[...] += self.form.metric(g, block).gram(weight)

    def finish(self, sums: Matrices) -> Matrices:
        """Return the matrices of a fold."""
        return sums
