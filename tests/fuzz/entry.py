"""What an entry of the table is, and the random good values that its arguments are made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

import ritz
from tests.fuzz.inputs import Kind


class Draw:
    """Random good values, from a generator."""

    def __init__(self, rng):
        self.rng, self.n, self.d = rng, int(rng.integers(20, 70)), int(rng.integers(1, 4))
        self.X, self.Y, self.points = (self.normal(rows, self.d) for rows in (self.n, self.n, 9))

    def normal(self, *shape):
        return self.rng.normal(size=shape)

    def one_of(self, *values):
        return values[self.rng.integers(len(values))]

    @cached_property
    def weights(self):
        return self.one_of(None, self.rng.uniform(0.5, 2, self.n))

    @cached_property
    def groups(self):
        return self.one_of(None, 1.0 * self.rng.integers(0, 8, self.n))

    def spectrum(self, basis=None):
        basis = basis or ritz.Monomials(3)
        return ritz.decompose(ritz.laplacian(), basis, self.X, k=4, random_state=0)

    def sums(self):
        return ritz.assemble(ritz.laplacian(), ritz.Monomials(2), self.X, random_state=0)

    def matrix(self, p=6):
        root = self.normal(p, p + 3)
        return root @ root.T


@dataclass(frozen=True)
class Entry:
    """One way to call the library.

    Parameters
    ----------
    name
        The public name, or "Class.method".
    call
        A function of the arguments, after what `setup` made, if there is any.
    good
        A function of a `Draw` that returns good arguments.
    oracle
        A function of arguments and result that returns some of the result's numbers.
    twins
        Functions from `oracles` that return pairs of arguments with equal results.
    setup
        A function of good arguments, and of whether to fit, that makes the estimator.
    kinds
        Kinds of arguments that differ from those of `inputs.KINDS`.
    """

    name: str
    call: Callable[..., Any]
    good: Callable[[Draw], dict[str, Any]]
    oracle: Callable[..., Any] | None = None
    twins: tuple[Callable[..., Any], ...] = ()
    setup: Callable[..., Any] | None = None
    kinds: dict[str, Kind] = field(default_factory=dict)

    @property
    def parameters(self):
        return set(self.good(Draw(np.random.default_rng(0))))


ENTRIES: list[Entry] = []


def entry(name, call, good, oracle=None, twins=(), setup=None, **kinds):
    """Add an entry to the table."""
    ENTRIES.append(Entry(name, call, good, oracle, tuple(twins), setup, kinds))


def parts_of(spectrum, at):
    """Return the numbers of a spectrum, and its functions at points of the same dimension."""
    parts = {"values": spectrum.ritz_values, "errors": spectrum.errors, "rank": spectrum.rank}
    if isinstance(spectrum, ritz.Spectrum) and spectrum.dimension == at.shape[1]:
        # Where the data had names of columns, the points must have them, too.
        names = spectrum.names
        parts["functions"] = spectrum(at if names is None else pd.DataFrame(at, columns=names))
    return parts
