"""The sums of any form over any basis: jets, terms and their Gram matrices, block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.assembly.sums import Matrices
from ritz.bases import Centered
from ritz.forms import Form
from ritz.rows import Block

# What the features of a thread may occupy, in bytes.
FEATURE_BYTES = 64_000_000


@dataclass(frozen=True, eq=False)
class GeneralAssembler:
    """Sums of a form and of its scalar products over two bases.

    Parameters
    ----------
    form
        The operator.
    left, right
        The functions f and g; the same object where both sides share them.
    """

    form: Form
    left: Centered
    right: Centered

    @property
    def block_rows(self) -> int:
        """The number of rows that keeps a thread's features within its share of memory."""
        floats = 1
        for basis in (self.left, self.right):
            dimension = basis.dimension or 1
            held = basis.floats_per_row(dimension) + self.form.width(dimension) * basis.size
            floats = max(floats, held)
        return int(np.clip(FEATURE_BYTES // (8 * floats), 16, 2048))

    def start(self) -> Matrices:
        """Return the sums of no rows."""
        p, q = 1 + self.left.size, 1 + self.right.size
        Phi = np.zeros((p, p))
        return Matrices(np.zeros((p, q)), Phi, Phi if self._shared else np.zeros((q, q)))

    def add(self, sums: Matrices, block: Block) -> None:
        """Add a block of rows to the sums of its fold."""
        weight = block.weight
        factor = self.form.row_weight(block)
        if factor is not None:
            weight = weight * factor
        two_sided = self.form.views == 2 and not self.form.symmetric
        f = self.left.jet(block.views[0])
        g = f if self._shared else self.right.jet(block.views[1 if two_sided else 0])
        # Overflow is checked after the pass.
        with np.errstate(over="ignore", invalid="ignore"):
            sums.L[:] += self.form.terms(f, g, block).gram(weight)
            sums.Phi[:] += self.form.metric(f, block).gram(weight)
            if not self._shared:
                sums.Psi[:] += self.form.metric(g, block).gram(weight)

    @property
    def _shared(self) -> bool:
        two_sided = self.form.views == 2 and not self.form.symmetric
        return self.left is self.right and not two_sided

    def finish(self, sums: Matrices) -> Matrices:
        """Return the matrices of a fold."""
        return sums
