"""Sums of products over the rows of each fold, of values and gradients, in one pass."""

from __future__ import annotations

import numpy as np

from ritz.arrays import Array, Block
from ritz.assembly.passes import in_pieces, over_folds
from ritz.bases import Centered
from ritz.features import Jet, Ledger
from ritz.regression.moments import Moments
from ritz.regression.observations import Observations, Part
from ritz.regression.whitened import Whitened, whitened_once, whitened_twice
from ritz.streams import Stream
from ritz.threads import Workers, blas_threads, jobs

BLOCK_BYTES = 16_000_000


class HermiteSums:
    """Sums of a pass for each fold, over the function 1 and sections less their means."""

    def __init__(self, basis: Centered, observations: Observations, n_folds: int) -> None:
        self.basis, self.observations = basis, observations
        outputs = observations.y.shape[1]
        p = 1 + basis.size
        self.ledgers = [Ledger() for _ in range(n_folds)]
        self.odd = [Ledger() for _ in range(n_folds)]
        self.v = np.zeros((n_folds, p, outputs))
        self.g = np.zeros((n_folds, p, outputs))
        self.squares = np.zeros((n_folds, 2, outputs))
        self.weight = np.zeros((n_folds, 2))
        self.count = np.zeros((n_folds, 2), dtype=np.int64)

    def add(self, fold: int, block: Block) -> None:
        """Add some rows to a fold."""
        part = self.observations.part(block.views[0], block.index)
        f = self.basis.jet(part.X)
        terms = {"V": f.value * f.value * plain(part.known)}
        r = part.told.shape[1]
        # Rows with all partial derivatives of one weight have the fast path.
        even = np.zeros(len(part.X))
        if r and part.U is None:
            even = np.where(part.told.min(axis=1) == part.told.max(axis=1), part.told[:, 0], 0.0)
            terms["G"] = f.gradient @ f.gradient * plain(even)
        self.ledgers[fold].add(terms, np.ones(len(part.X)))
        odd = np.flatnonzero((part.told.max(axis=1, initial=0.0) > 0) & (even == 0))
        if len(odd):
            h = self.basis.jet(part.X[odd])
            slopes = h.gradient.along(part.directions()[odd])
            self.odd[fold].add({"G": slopes * slopes}, np.ones(len(odd)))
        v, g = right_hand_side(part, f, part.y, part.t)
        self.v[fold] += v
        self.g[fold] += g
        self.squares[fold, 0] += part.known @ part.y**2
        self.squares[fold, 1] += np.einsum("kr,kro->o", part.told, part.t**2)
        self.weight[fold] += part.known.sum(), part.told.sum()
        self.count[fold] += (part.known > 0).sum(), (part.told > 0).sum()

    def close(self, functions: Whitened) -> list[Moments]:
        """Return the sums of each fold over (1, psi)."""
        p = 1 + self.basis.size
        result = []
        for fold, (ledger, odd) in enumerate(zip(self.ledgers, self.odd, strict=True)):
            sums, more = ledger.close(), odd.close()
            V = sums.get("V", np.zeros((p, p)))
            G = sums.get("G", np.zeros((p, p))) + more.get("G", np.zeros((p, p)))
            v, g = self.v[fold], self.g[fold]
            V, G = (whitened_twice(functions, M) for M in (V, G))
            v, g = (whitened_once(functions, m) for m in (v, g))
            own = (self.squares[fold], self.weight[fold], self.count[fold])
            result.append(Moments(V, G, v, g, *own))
        return result


def plain(weight: Array) -> float | Array:
    """Return a weight (b,), as a number where it is the same for all rows."""
    return float(weight[0]) if len(weight) and (weight == weight[0]).all() else weight


def right_hand_side(part: Part, f: Jet, y: Array, t: Array) -> tuple[Array, Array]:
    """Return the products (1 + p, outputs) of values y and derivatives t with (1, phi)."""
    weighted = part.known[:, None] * y
    v = np.concatenate([weighted.sum(axis=0)[None], f.value.dense().T @ weighted])
    g = np.zeros_like(v)
    if t.shape[1]:
        g[1:] = f.gradient.against(part.vectors(t))
    return v, g


def sums_of_folds(
    functions: Whitened,
    offset: Array,
    stream: Stream,
    observations: Observations,
    n_folds: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Moments]:
    """Go over the rows once; return the sums of each fold over (1, psi)."""
    basis = Centered(functions.basis, offset)
    sums = HermiteSums(basis, observations, n_folds)
    size = block_rows(basis.size, stream.dimensions[0])
    with blas_threads(1), Workers(min(n_folds, jobs(n_jobs))) as run:
        over_folds(stream, in_pieces(sums.add, size), n_folds, run, progress)
    return sums.close(functions)


def block_rows(p: int, d: int) -> int:
    """Return how many rows keep a thread's features within its share of memory."""
    return int(np.clip(BLOCK_BYTES // (8 * (4 * p + d)), 16, 2048))


def reliable(functions: Whitened, folds: list[Moments]) -> float:
    """Return the smallest penalty that sums of products can tell from rounding."""
    pivots = np.diag(functions.triangle) ** 2
    rounding = 50 * float(np.finfo(np.float64).eps) / float(pivots.min() / pivots.max())
    return rounding * float(sum(fold.weight.sum() for fold in folds))
