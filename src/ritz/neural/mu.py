"""The scale mu of the loss: its choice by a quick fit, and components that are not below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.assembly import Sums, assemble
from ritz.bases import Nystrom
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.selection.candidates import SCALE_ROWS, auto_length_scale
from ritz.spectrum import decompose_sums
from ritz.streams import Stream
from ritz.validation import Array, as_count, parameter_error

# mu over the last eigenvalue wanted: a function of that eigenvalue keeps 0.8 of its size.
MU_MARGIN = 3.0


def auto_mu(form: Form, stream: Stream, m: int, seed: int = 0, margin: float = MU_MARGIN) -> float:
    """Return three times the m-th eigenvalue of a fit with up to 200 Gaussian kernel sections.

    There is one section for each 40 rows, since more would adapt to the rows and have too low an
    energy. Where that gives fewer than 200, three choices of centers are fitted, and the one with
    the median eigenvalue is taken.

    A component of eigenvalue lambda is learned at the size sqrt((1 - lambda / mu)_+). If mu is far
    above the last eigenvalue, all components have their full size and are hard to tell from the
    next ones; if mu equals it, the last component vanishes. At three times the last eigenvalue,
    the last component keeps 0.8 of its size.

    Parameters
    ----------
    form
        A symmetric operator.
    stream
        The rows.
    m
        The number of functions wanted, including the constant.
    seed
        The seed of the choice of centers.
    margin
        The ratio of mu to the eigenvalue.
    """
    m = as_count(m, "m")
    fit = quick_fit(form, stream, m, seed)
    if m == 1 and fit.kills_one:
        remedy = "The first function is the constant, whose eigenvalue is zero."
        raise parameter_error("m", f"at least 2 for {form}", m, remedy)
    return fit.mu(m, margin)


@dataclass(frozen=True, eq=False)
class QuickFit:
    """The sums of an operator over Gaussian kernel sections, and what a loss needs of them."""

    sums: Sums

    @property
    def kills_one(self) -> bool:
        """Whether the form of the function 1 and any other function is zero over all rows."""
        return not self.sums.mean().L[0].any()

    def eigenvalues(self, m: int) -> Array:
        """Return the first m eigenvalues, or as many as there are."""
        found: Any = decompose_sums(self.sums, m, regularization=1e-6, fewer=True)
        return np.asarray(found.values)

    def mu(self, m: int, margin: float = MU_MARGIN) -> float:
        """Return a multiple of the m-th eigenvalue."""
        last = float(self.eigenvalues(m)[-1])
        if last <= 0:
            what = f"a number where eigenvalue {m} of {self.sums.form} is not positive"
            remedy = "Pass a positive number, the scale of the eigenvalues wanted."
            raise parameter_error("mu", what, "'auto'", remedy)
        return margin * last


def quick_fit(form: Form, stream: Stream, m: int, seed: int) -> QuickFit:
    """Fit enough kernel sections for m eigenvalues, or only a few of them if m is 0."""
    rows = stream.sample(SCALE_ROWS, seed)
    kernel = Gaussian(auto_length_scale(rows, np.ones(len(rows)), seed))
    n = stream.n_rows or sum(map(len, stream.blocks()))
    # 200 sections are enough for the first eigenvalues, and cost about a second.
    n_centers = max(2 * m, min(200, max(5 * m, n // 40))) if m else 8
    basis = Nystrom(kernel, min(n_centers, len(rows)))
    # A section centered far from the other rows is flat at all of them. With few rows it seems to
    # have no energy, and only another choice of centers shows that this is an accident.
    fits = [
        QuickFit(assemble(form, basis, stream, n_folds=1, random_state=seed + i, progress=False))
        for i in range(3 if m and n_centers < 200 else 1)
    ]
    return sorted(fits, key=lambda fit: fit.eigenvalues(m)[-1])[1] if len(fits) == 3 else fits[0]


def lost_components(
    values: Array, alive: NDArray[np.bool_], reached: Array, mu: Any, *, falling: bool
) -> str:
    """Return a message that says whether mu is too small for components, or training too short.

    Eigenvalues over any functions are upper bounds. Where kernel sections find one below mu, the
    loss would be lower with that component than without it, so it was not learned; where they do
    not, the loss is minimal without it. The eigenvalues found are `values` (m,), of which those
    `alive` are below mu, a number or a vector (m,); those `reached` by kernel sections are at most
    m. `falling` says that the loss was still falling at the end of training.
    """
    m = len(values)
    scale = np.broadcast_to(mu, m)
    # Where there are fewer kernel sections than components, only the network's own bound is known.
    bound = values.copy()
    bound[: len(reached)] = np.minimum(reached[:m], values[: len(reached)])
    died, missed = ~alive & (bound >= scale), ~alive & (bound < scale)
    sentences = []
    if died.any():
        remedy = f"Pass mu={MU_MARGIN * bound[died].max():.3g}"
        # Fewer components do not help if one of those that remain was not learned.
        if alive.any() and not missed.any():
            remedy += f", or n_components={alive.sum()} and a module of as many outputs"
        sentences.append(
            f"{_names(died)} of {m} died: eigenvalues {_numbers(values[died])} are not below mu = "
            f"{_numbers(scale[died])}, and the loss is minimal without such functions. {remedy}."
        )
    if missed.any():
        sentences.append(
            f"{_names(missed)} of {m} were not learned: eigenvalues {_numbers(values[missed])} are "
            f"not below mu = {_numbers(scale[missed])}, though kernel sections reach "
            f"{_numbers(bound[missed])}. Train longer (n_steps), change the learning_rate, or pass "
            "a module with more units or a larger first layer."
        )
    if falling:
        sentences.append("The loss on held-out rows was still falling at the last step.")
    return " ".join([*sentences, "Do not trust these values."])


def still_falling(held_out: Sequence[tuple[int, float]], n_steps: int) -> bool:
    """Return whether the last evaluation, after all steps, brought over 1% of the whole fall."""
    if len(held_out) < 3 or held_out[-1][0] < n_steps:
        return False
    first, *_, before, last = (loss for _, loss in held_out)
    return before - last > 0.01 * (first - last) > 0


def _names(which: NDArray[np.bool_]) -> str:
    return f"Components {', '.join(map(str, np.flatnonzero(which)))}"


def _numbers(values: Array) -> str:
    texts = [f"{value:.3g}" for value in values]
    return ", ".join(texts if len(set(texts)) > 1 else texts[:1])
