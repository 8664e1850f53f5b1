"""Length scales and noise of some rows, by marginal likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ritz.arrays import Array
from ritz.kernels import Kernel
from ritz.regression.likelihood import Fitted, Likelihood, more_likely, most_likely
from ritz.regression.observations import Part

LONG_START = 100.0
MORE_STEPS = 15


def likely_lengths(
    make: Callable[[Array], Kernel],
    some: Part,
    constant: bool,
    smooth: bool,
    d: int,
    seed: int,
    start: Fitted | None = None,
) -> Fitted | None:
    """Return the most likely length scales (d,) and noise, or None where there is too little.

    Parameters
    ----------
    make
        The kernel of length scales (d,).
    some
        What was observed at some rows.
    constant
        Whether there is a constant.
    smooth
        Whether derivatives have sections of their own, or values alone are to tell.
    d, seed
        The dimension, and the seed of subsamples.
    start
        What fewer rows say, from where a few steps more will do.
    """
    F, z, weight, _ = some.functionals()
    usable = np.flatnonzero((F.values == 1) | smooth)
    if len(some.X) < 2 or len(usable) < 2:
        return None
    unit = float(weight[usable].mean())
    likelihood = Likelihood(
        make,
        F.take(usable),
        z[usable],
        weight[usable] / unit,
        constant,
        some.squares / unit,
        some.merged_away,
    )
    if start is None:
        fitted = fit_lengths(likelihood, d, seed)
    else:
        start = replace(start, noise=start.noise / unit)
        fitted = more_likely(likelihood, d, start, MORE_STEPS)
    noise = fitted.noise * unit
    # Noise of what was hardly observed is as good as unknown.
    kinds = (F.values[usable] == 1).sum(), (F.values[usable] == 0).sum()
    if min(kinds) < 10:
        noise = np.full(2, noise[int(np.argmax(kinds))])
    return replace(fitted, noise=noise)


def fit_lengths(likelihood: Likelihood, d: int, seed: int) -> Fitted:
    """Maximize the likelihood, first of a third of the numbers where there are many."""
    n = len(likelihood.functionals)
    if n <= 300:
        return most_likely(likelihood, d)
    some = np.random.default_rng(seed).choice(n, n // 3, replace=False)
    start = most_likely(likelihood.take(np.sort(some)), d)
    # Out where a length changes next to nothing there is no way back.
    start = replace(start, lengths=np.minimum(start.lengths, LONG_START))
    return most_likely(likelihood, d, start=start)
