"""What became of each component in training, and what to do about those that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array
from ritz.neural.mu import MARGIN

FALLING = 0.01


def verdict(
    values: Array, alive: NDArray[np.bool_], reached: Array, mu: Any, *, falling: bool
) -> str:
    """Say why components are not below mu: it is too small for them, or they were not learned.

    Eigenvalues over any functions are bounds from above, so where kernel sections reach below mu
    the loss would be lower with the component than without.

    Parameters
    ----------
    values
        The eigenvalues found (m,).
    alive
        Which of them are below mu (m,).
    reached
        Those of a fit with kernel sections, up to m.
    mu
        A number, or one for each component (m,).
    falling
        Whether the loss was still falling when training ended.
    """
    m = len(values)
    scale = np.broadcast_to(mu, m)
    # Where there are not enough kernel sections, the network's own are all that is known.
    bound = values.copy()
    bound[: len(reached)] = np.minimum(reached[:m], values[: len(reached)])
    died, late = ~alive & (bound >= scale), ~alive & (bound < scale)
    told = []
    if died.any():
        remedy = f"Pass mu={MARGIN * bound[died].max():.3g}"
        # Fewer components are no remedy where one in their middle is late.
        if alive.any() and not late.any():
            remedy += f", or n_components={alive.sum()} and a module of as many outputs"
        told.append(
            f"{_named(died)} of {m} died: eigenvalues {_numbers(values[died])} are not below mu = "
            f"{_numbers(scale[died])}, and the loss is least without such functions. {remedy}."
        )
    if late.any():
        told.append(
            f"{_named(late)} of {m} were not learned: eigenvalues {_numbers(values[late])} are not "
            f"below mu = {_numbers(scale[late])}, though kernel sections reach "
            f"{_numbers(bound[late])}. Train longer (n_steps), with another learning_rate, or pass "
            "a module that bends more or has more units."
        )
    if falling:
        told.append("The loss on held-out rows was still falling at the last step.")
    return " ".join([*told, "Do not trust these values."])


def still_falling(held_out: Sequence[tuple[int, float]], n_steps: int) -> bool:
    """Return whether the last look at held-out rows, after all steps, took off 1% of the fall."""
    if len(held_out) < 3 or held_out[-1][0] < n_steps:
        return False
    first, *_, before, last = (loss for _, loss in held_out)
    return before - last > FALLING * (first - last) > 0


def _named(which: NDArray[np.bool_]) -> str:
    return f"Components {_listed(map(str, np.flatnonzero(which)))}"


def _numbers(values: Array) -> str:
    texts = [f"{value:.3g}" for value in values]
    return _listed(texts if len(set(texts)) > 1 else texts[:1])


def _listed(texts: Any) -> str:
    return ", ".join(texts)
