"""A user's own operator, given by a function H(f, g, x)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ritz.features import Jet, Terms
from ritz.forms.form import Form, Order
from ritz.rows import Block
from ritz.validation import as_choice, parameter_error

# What H may do with f and g, for errors.
PROBES = (
    "Multiply a probe of f by one of g: values by '*' (f.value * g.value), gradients by '@' "
    "(f.gradient @ g.gradient), others by '*' (f.partial(alpha), f.at(points).value, "
    "f.gradient.along(U)). Add such products, and scale them by numbers or by one number a row."
)


@dataclass(frozen=True, eq=False)
class CustomForm(Form):
    """The form E[H(f, g, X)] of a function H."""

    H: Callable[..., Any]
    symmetric: bool
    order: Order
    views: int

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        try:
            result = self.H(f, g, *block.views)
        except (AttributeError, TypeError) as error:
            arguments = ", ".join(["f", "g", "x", "y"][: 2 + self.views])
            error.add_note(f"H({arguments}) is called with all functions of the basis. {PROBES}")
            raise
        if not isinstance(result, Terms):
            what = "a function that returns products such as f.value * g.value"
            raise parameter_error("H", what, type(result).__name__, kind=TypeError)
        return result

    def width(self, dimension: int) -> int:
        return 2 * dimension

    def __str__(self) -> str:
        return f"form({getattr(self.H, '__name__', 'H')})"


def form(
    H: Callable[..., Any],
    *,
    symmetric: bool,
    order: Order = "smallest",
    views: int = 1,
) -> Form:
    """Return the operator of a bilinear form E[H(f, g, X)] of your own.

    Parameters
    ----------
    H
        A function of f, g and the points x (b, d), or x and y for two views. Both f and g have
        `value`, `gradient`, `partial(alpha)`, and `at(points)` for the same at other points.
        Multiply those of f by those of g: values by `*`, gradients by `@`, derivatives along
        directions U (b, d, r) as in `f.gradient.along(U) * g.gradient.along(U)`. Such products
        can be added, and multiplied by numbers or arrays (b,).
    symmetric
        Whether H(f, g, x) and H(g, f, x) have the same average.
    order
        Which singular values come first, where the form is not symmetric: "smallest" for
        unbounded operators, "largest" for compact ones.
    views
        The number of arrays in the data, 1 or 2; with two, g belongs to the second unless the
        form is symmetric.

    Examples
    --------
    The Laplacian with a potential |x|^2:

    >>> import ritz
    >>> H = lambda f, g, x: f.gradient @ g.gradient + (x**2).sum(axis=1) * (f.value * g.value)
    >>> operator = ritz.form(H, symmetric=True)
    """
    if not callable(H):
        raise parameter_error("H", "a function of f, g and x", H, kind=TypeError)
    order = as_choice(order, "order", ("smallest", "largest"))
    return CustomForm(H, symmetric, order, as_choice(views, "views", (1, 2)))
