"""What every operator is here: a bilinear form H(f, g, x), averaged over the samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from ritz.arrays import Array, Block, as_number, as_real, must
from ritz.features import Jet, Terms

Order = Literal["smallest", "largest"]


class Source(Protocol):
    """What a form may ask of the data before the pass."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The number of columns of each view."""

    def sample(self, m: int, seed: int) -> Array:
        """Return up to m distinct rows of positive weight of the first view, at random."""

    def whole(self, reason: str) -> Block:
        """Return all rows at once; an error that gives the reason where they are not in reach."""


class Form(ABC):
    """A bilinear form E[H(f, g, X)] of two functions; add forms and scale them.

    A form knows nothing of bases: on a block of rows it sees two jets, `f` and `g`, and returns
    products of their probes.

    `mergeable` says that sums over parts of the data add up, `foldable` that the sums of a pass may
    be kept in folds, for error bars. `positive` says that E[H(f, f, X)] is never negative, whatever
    the data: eigenvalues below zero are then rounding. `single` says that float32 keeps the form as
    well as it keeps the values and gradients it is made of: no small differences of large numbers.
    `uniform` says that its terms are the same for all rows, which only their weights tell apart.
    """

    symmetric: bool = True
    views: int = 1
    order: Order = "smallest"
    mergeable: bool = True
    foldable: bool = True
    positive: bool = False
    single: bool = False
    uniform: bool = False
    row_fields: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        """Return H(f, g, x) on a block."""

    def metric(self, f: Jet, block: Block) -> Terms:
        """Return the terms of the scalar product E[f f] that makes functions orthonormal."""
        return f.value * f.value  # type: ignore[no-any-return]

    def prepare(self, source: Source, seed: int) -> Form:
        """Look at the data once, before the pass; return the form ready for blocks.

        Random choices follow from the seed alone.
        """
        return self

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield the arrays that go with the rows of the data, with their names."""
        for name in self.row_fields:
            if _goes_with_rows(self, name):
                yield name, getattr(self, name)

    @property
    def reweighting(self) -> Hashable:
        """What changes the law of the samples, or None."""
        return None

    def row_weight(self, block: Block) -> Array | None:
        """Return factors (b,) of the sample weights, or None."""
        return None

    def width(self, dimension: int) -> int:
        """Return how many numbers a row and function the terms hold, to choose blocks."""
        return 1

    def __add__(self, other: Form) -> Form:
        return FormSum((self, other)) if isinstance(other, Form) else NotImplemented

    def __radd__(self, other: Any) -> Form:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Form) -> Form:
        return FormSum((self, -1.0 * other)) if isinstance(other, Form) else NotImplemented

    def __mul__(self, factor: float) -> Form:
        return FormScaled(self, as_number(factor, "factor"))

    __rmul__ = __mul__

    def __neg__(self) -> Form:
        return -1.0 * self


@dataclass(frozen=True, eq=False)
class FormScaled(Form):
    """The form c H."""

    form: Form
    factor: float

    def __post_init__(self) -> None:
        for name in ("symmetric", "views", "order", "mergeable", "foldable"):
            object.__setattr__(self, name, getattr(self.form, name))
        object.__setattr__(self, "positive", self.form.positive and self.factor >= 0)
        object.__setattr__(self, "single", self.form.single)
        object.__setattr__(self, "uniform", self.form.uniform)

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        return self.factor * self.form.terms(f, g, block)

    def metric(self, f: Jet, block: Block) -> Terms:
        return self.form.metric(f, block)

    def prepare(self, source: Source, seed: int) -> Form:
        return FormScaled(self.form.prepare(source, seed), self.factor)

    @property
    def reweighting(self) -> Hashable:
        return self.form.reweighting

    def row_weight(self, block: Block) -> Array | None:
        return self.form.row_weight(block)

    def width(self, dimension: int) -> int:
        return self.form.width(dimension)

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        return self.form.row_arrays()

    def __str__(self) -> str:
        return f"{self.factor:g} * {self.form}"


@dataclass(frozen=True, eq=False)
class FormSum(Form):
    """The form H1 + H2 + ..."""

    forms: tuple[Form, ...]

    metric_rule: ClassVar[str] = "forms are added only when they share views and scalar product"

    def __post_init__(self) -> None:
        forms = self.forms
        views = {form.views for form in forms}
        metrics = {_innermost(form).metric.__func__ for form in forms}  # type: ignore[attr-defined]
        sided = {form.symmetric for form in forms} if max(views) == 2 else {True}
        if len(views) > 1 or len(metrics) > 1 or len(sided) > 1:
            names = " and ".join(map(str, forms))
            raise ValueError(f"Cannot add {names}: {self.metric_rule}.")
        orders = {form.order for form in forms if not form.symmetric} or {"smallest"}
        if len(orders) > 1:
            raise ValueError(
                f"Cannot add {' and '.join(map(str, forms))}: one lists its largest singular "
                "values first, the other its smallest."
            )
        weights = {form.reweighting for form in forms} - {None}
        if len(weights) > 1:
            raise ValueError(
                f"Cannot add {' and '.join(map(str, forms))}: they weight the samples "
                f"differently ({', '.join(map(str, weights))}). Use one density_correction."
            )
        object.__setattr__(self, "symmetric", all(form.symmetric for form in forms))
        object.__setattr__(self, "mergeable", all(form.mergeable for form in forms))
        object.__setattr__(self, "foldable", all(form.foldable for form in forms))
        object.__setattr__(self, "positive", all(form.positive for form in forms))
        object.__setattr__(self, "single", all(form.single for form in forms))
        object.__setattr__(self, "uniform", all(form.uniform for form in forms))
        object.__setattr__(self, "views", views.pop())
        object.__setattr__(self, "order", orders.pop())

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        return sum((form.terms(f, g, block) for form in self.forms), Terms())

    def metric(self, f: Jet, block: Block) -> Terms:
        return self.forms[0].metric(f, block)

    def prepare(self, source: Source, seed: int) -> Form:
        return FormSum(tuple(form.prepare(source, seed) for form in self.forms))

    @property
    def reweighting(self) -> Hashable:
        return next((f.reweighting for f in self.forms if f.reweighting is not None), None)

    def row_weight(self, block: Block) -> Array | None:
        weighing = (form for form in self.forms if form.reweighting is not None)
        form = next(weighing, None)
        return None if form is None else form.row_weight(block)

    def width(self, dimension: int) -> int:
        return sum(form.width(dimension) for form in self.forms)

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        for form in self.forms:
            yield from form.row_arrays()

    def __str__(self) -> str:
        return " + ".join(map(str, self.forms))


def same_form(a: object, b: object) -> bool:
    """Return whether two forms are the same operator: equal numbers, the same functions.

    Arrays that go with the rows of the data may differ, as the data do.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_form, a, b))
    if isinstance(a, Form) and isinstance(b, Form):
        return type(a) is type(b) and all(
            _goes_with_rows(a, field.name)
            or same_form(getattr(a, field.name), getattr(b, field.name))
            for field in fields(a)  # type: ignore[arg-type]
        )
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        # In a list of coefficients a vector goes with the rows.
        return a.ndim == b.ndim == 1 or bool(np.array_equal(a, b))
    return a is b or bool(type(a) is type(b) and a == b)


def _goes_with_rows(form: Form, name: str) -> bool:
    value = getattr(form, name)
    return name in form.row_fields and isinstance(value, np.ndarray) and value.ndim > 0


def _innermost(form: Form) -> Form:
    while isinstance(form, FormScaled | FormSum):
        form = form.form if isinstance(form, FormScaled) else form.forms[0]
    return form


def require_rows(array: Array, source: Source, name: str) -> None:
    """Raise unless an array field has one entry for each row of the data."""
    if source.n_rows is not None and len(array) != source.n_rows:
        raise ValueError(
            must(name, f"an array with {source.n_rows} rows, as X has", f"{len(array)} rows")
        )


def as_field(value: Any, name: str) -> Any:
    """Return a function as it is, anything else as a float array."""
    return value if callable(value) else as_real(value, name)
