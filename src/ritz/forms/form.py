"""What an operator is: a bilinear form H(f, g, x), averaged over the samples."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ritz.features import Jet, Terms
from ritz.pickling import WithoutCaches
from ritz.rows import Block, hash_rows
from ritz.validation import (
    Array,
    as_number,
    as_real,
    as_rows,
    as_weights,
    parameter_error,
    require_size,
)

Order = Literal["smallest", "largest"]


class Form(WithoutCaches, ABC):
    """A bilinear form E[H(f, g, X)] of two functions; add forms and scale them.

    A form knows nothing of bases: on a block of rows it sees two jets, `f` and `g`, and returns
    products of their probes.

    Attributes
    ----------
    symmetric
        Whether H(f, g, x) and H(g, f, x) have the same average.
    views
        The number of arrays that a sample consists of.
    order
        Which singular values come first, where the form is not symmetric.
    positive
        Whether E[H(f, f, X)] is never negative, so that eigenvalues below zero are rounding.
    needs_reference
        Whether the form looks at a sample of the rows before the pass; see `prepare`.
    reference
        That sample (m, d), once the form is prepared.
    needs_all_rows
        Whether it looks at all rows, so that sums over parts of the data do not add up.
    row_fields
        The names of fields that may be arrays with one entry for each row of the data.
    """

    symmetric: bool = True
    views: int = 1
    order: Order = "smallest"
    positive: bool = False
    needs_reference: bool = False
    reference: Array | None = None
    needs_all_rows: bool = False
    row_fields: ClassVar[tuple[str, ...]] = ()

    @property
    def two_sided(self) -> bool:
        """Whether f lives on the first view of a sample and g on the second."""
        return self.views == 2 and not self.symmetric

    @abstractmethod
    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        """Return H(f, g, x) on a block."""

    def metric(self, f: Jet, block: Block) -> Terms:
        """Return the scalar product E[f f] that makes functions orthonormal, on a block."""
        return f.value * f.value  # type: ignore[no-any-return]

    def prepare(
        self, reference: Array, weight: Array | None = None, n_jobs: int | None = None
    ) -> Form:
        """Return the form with a sample of rows (m, d), and their weights, that it refers to.

        The sample is fixed together with the basis, so that sums over parts of the data add up. A
        form that is prepared already returns itself. Searches take `n_jobs` threads, None for all
        cores.
        """
        return self

    def prepare_with_all(self, data: Block) -> Form:
        """Return the form with all rows, where it needs them."""
        return self

    def require_shapes(self, n_rows: int | None, dimensions: tuple[int, ...]) -> None:
        """Raise unless the fields of the form have the shapes that the data require."""
        if self.reference is not None and self.reference.shape[1] != dimensions[0]:
            requirement = f"an array with {self.reference.shape[1]} columns, as the reference"
            raise parameter_error("X", requirement, f"{dimensions[0]} columns")
        for name, array in self.row_arrays():
            if n_rows is not None and len(array) != n_rows:
                requirement = f"an array with {n_rows} rows, as X has"
                raise parameter_error(name, requirement, f"{len(array)} rows")

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield the arrays with one entry for each row of the data, with their names."""
        for name in self.row_fields:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.ndim > 0:
                yield name, value

    def without_rows(self) -> Form:
        """Return the form without its arrays of one entry for each row: none of them is left."""
        arrays = dict(self.row_arrays())
        if not arrays:
            return self
        empty: Any = {name: array[:0] for name, array in arrays.items()}
        return replace(self, **empty)  # type: ignore[type-var]

    @property
    def reweighting(self) -> Hashable:
        """A value that names the weights of `row_weight`, or None where there are none."""
        return None

    def row_weight(self, block: Block) -> Array | None:
        """Return factors (b,) that multiply the sample weights, or None for ones."""
        return None

    @property
    def portable(self) -> bool:
        """Whether the rows may be on any device; forms that look at a sample search it by NumPy."""
        return not (self.needs_reference or self.needs_all_rows or self.reference is not None)

    def width(self, dimension: int) -> int:
        """Return how many numbers the terms hold for each row and function, to size blocks."""
        return 1

    def difference(self, other: Form) -> str | None:
        """Return in what two operators differ, in words, or None if they are the same.

        Arrays with one entry for each row of the data may differ, as the data do.
        """
        if type(self) is not type(other):
            return f"{self} and {other}"
        per_row = dict(self.row_arrays()).keys() & dict(other.row_arrays()).keys()
        for field in fields(self):  # type: ignore[arg-type]
            ours, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name in per_row or equal_values(ours, theirs):
                continue
            if field.name == "form":
                return str(ours.difference(theirs))
            if field.name == "forms" and len(ours) == len(theirs):
                pairs = zip(ours, theirs, strict=True)
                found = (mine.difference(yours) for mine, yours in pairs)
                return str(next(filter(None, found)))
            if field.name.startswith("reference"):
                return f"{self}, whose reference samples differ"
            values = f"{reprlib.repr(ours)} and {reprlib.repr(theirs)}"
            return f"{self} with {field.name} = {values}"
        return None

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


def require_form(form: object) -> None:
    """Raise unless an argument is a form."""
    if isinstance(form, Form):
        return
    got = repr(form) if isinstance(form, str) else type(form).__name__
    got = f"the function {getattr(form, '__name__', 'H')}" if callable(form) else got
    remedy = "H(f, g, x) of your own becomes an operator by ritz.form(H, symmetric=True)."
    what = "an operator such as ritz.laplacian()"
    raise parameter_error("form", what, got, remedy, kind=TypeError)


def equal_values(a: object, b: object) -> bool:
    """Return whether two fields are equal: arrays entry by entry, functions by identity."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal_values, a, b))
    if isinstance(a, Form) and isinstance(b, Form):
        return a.difference(b) is None
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return a is b or bool(type(a) is type(b) and a == b)


@dataclass(frozen=True, eq=False)
class FormScaled(Form):
    """The form c H."""

    file_tag: ClassVar[str] = "FormScaled"

    form: Form
    factor: float

    def __post_init__(self) -> None:
        for name in ("symmetric", "views", "order", "needs_reference", "needs_all_rows"):
            object.__setattr__(self, name, getattr(self.form, name))
        object.__setattr__(self, "positive", self.form.positive and self.factor >= 0)

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        return self.factor * self.form.terms(f, g, block)

    def metric(self, f: Jet, block: Block) -> Terms:
        return self.form.metric(f, block)

    def prepare(
        self, reference: Array, weight: Array | None = None, n_jobs: int | None = None
    ) -> Form:
        return replace(self, form=self.form.prepare(reference, weight, n_jobs))

    def prepare_with_all(self, data: Block) -> Form:
        return replace(self, form=self.form.prepare_with_all(data))

    def require_shapes(self, n_rows: int | None, dimensions: tuple[int, ...]) -> None:
        self.form.require_shapes(n_rows, dimensions)

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        return self.form.row_arrays()

    def without_rows(self) -> Form:
        return replace(self, form=self.form.without_rows())

    @property
    def portable(self) -> bool:
        return self.form.portable

    @property
    def reweighting(self) -> Hashable:
        return self.form.reweighting

    def row_weight(self, block: Block) -> Array | None:
        return self.form.row_weight(block)

    def width(self, dimension: int) -> int:
        return self.form.width(dimension)

    def __str__(self) -> str:
        return f"{self.factor:g} * {self.form}"


@dataclass(frozen=True, eq=False)
class FormSum(Form):
    """The form H1 + H2 + ..."""

    file_tag: ClassVar[str] = "FormSum"

    forms: tuple[Form, ...]

    def __post_init__(self) -> None:
        forms = self.forms
        names = " and ".join(map(str, forms))
        views = {form.views for form in forms}
        metrics = {_innermost(form).metric.__func__ for form in forms}  # type: ignore[attr-defined]
        sided = {form.symmetric for form in forms} if max(views) == 2 else {True}
        if len(views) > 1 or len(metrics) > 1 or len(sided) > 1:
            rule = "forms are added only when they share views and scalar product"
            raise ValueError(f"Cannot add {names}: {rule}.")
        orders = {form.order for form in forms if not form.symmetric} or {"smallest"}
        if len(orders) > 1:
            raise ValueError(
                f"Cannot add {names}: one lists its largest singular values first, the other its "
                "smallest."
            )
        weights = {form.reweighting for form in forms} - {None}
        if len(weights) > 1:
            raise ValueError(
                f"Cannot add {names}: they weight the samples differently "
                f"({', '.join(map(str, weights))}). Use one density_correction."
            )
        for name in ("symmetric", "positive"):
            object.__setattr__(self, name, all(getattr(form, name) for form in forms))
        for name in ("needs_reference", "needs_all_rows"):
            object.__setattr__(self, name, any(getattr(form, name) for form in forms))
        object.__setattr__(self, "views", views.pop())
        object.__setattr__(self, "order", orders.pop())

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        return sum((form.terms(f, g, block) for form in self.forms), Terms())

    def metric(self, f: Jet, block: Block) -> Terms:
        return self.forms[0].metric(f, block)

    def prepare(
        self, reference: Array, weight: Array | None = None, n_jobs: int | None = None
    ) -> Form:
        forms = [form.prepare(reference, weight, n_jobs) for form in self.forms]
        return replace(self, forms=tuple(forms))

    def prepare_with_all(self, data: Block) -> Form:
        return replace(self, forms=tuple([form.prepare_with_all(data) for form in self.forms]))

    def require_shapes(self, n_rows: int | None, dimensions: tuple[int, ...]) -> None:
        for form in self.forms:
            form.require_shapes(n_rows, dimensions)

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        for form in self.forms:
            yield from form.row_arrays()

    def without_rows(self) -> Form:
        return replace(self, forms=tuple([form.without_rows() for form in self.forms]))

    @property
    def portable(self) -> bool:
        return all(form.portable for form in self.forms)

    @property
    def reweighting(self) -> Hashable:
        return next((f.reweighting for f in self.forms if f.reweighting is not None), None)

    def row_weight(self, block: Block) -> Array | None:
        factors = (f.row_weight(block) for f in self.forms if f.reweighting is not None)
        return next(factors, None)

    def width(self, dimension: int) -> int:
        return sum(form.width(dimension) for form in self.forms)

    def __str__(self) -> str:
        return " + ".join(map(str, self.forms))


def _innermost(form: Form) -> Form:
    while isinstance(form, FormScaled | FormSum):
        form = form.form if isinstance(form, FormScaled) else form.forms[0]
    return form


def as_reference(reference: Any, weight: Any = None) -> tuple[Array, Array]:
    """Return the distinct rows of a reference sample (m, d), in their order, and their weights.

    A row beside its own copy would be its own neighbor.
    """
    rows = as_rows(reference, "reference")
    require_size(rows, "X")
    weight = as_weights(weight, len(rows), "weight")
    _, first, which = np.unique(hash_rows(rows), return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows, weight
    order = np.argsort(first)
    return rows[first[order]], np.asarray(np.bincount(which, weight)[order], dtype=np.float64)


# A number, an array, or a function of points (b, d).
Field = Array | Callable[..., Any]


def as_field(value: Any, name: str) -> Any:
    """Return a function as it is, and anything else as a float array."""
    return value if callable(value) else as_real(value, name)
