"""A user's own kernel, from its profile and the profile's derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ritz.differences import points_and_steps, require_derivative
from ritz.kernels.kernel import Family, Kernel, LengthScale
from ritz.namespaces import namespace
from ritz.validation import Array, as_choice, as_real_like, parameter_error


@dataclass(frozen=True)
class CustomKernel(Kernel):
    """A kernel k(x, y) = q(u) given by functions of u.

    Parameters
    ----------
    family
        "distance" for u = |x - y|^2 / 2 l^2, "dot" for u = x.y / l^2.
    profiles
        The functions q, q', q'', ... of an array u: as many derivatives as the operator needs
        (one for a Laplacian).
    length_scale
        The number l, or one a dimension.
    check_derivatives
        Whether a fit compares each function with finite differences of the one before, at a few
        rows, and raises if most disagree.

    Examples
    --------
    The inverse multiquadric 1 / sqrt(1 + u):

    >>> import ritz
    >>> kernel = ritz.CustomKernel(
    ...     "distance",
    ...     [lambda u: (1 + u) ** -0.5, lambda u: -0.5 * (1 + u) ** -1.5],
    ... )
    >>> kernel([[0.0]], [[0.0]])
    array([[1.]])
    """

    family: Family  # type: ignore[misc]
    profiles: tuple[Callable[[Array], Array], ...]
    length_scale: LengthScale = 1.0
    check_derivatives: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.profiles, tuple | list):
            raise parameter_error("profiles", "a list of functions q, q', ...", self.profiles)
        object.__setattr__(self, "profiles", tuple(self.profiles))
        as_choice(self.family, "family", ("distance", "dot"))
        if not self.profiles or not all(callable(q) for q in self.profiles):
            raise parameter_error("profiles", "a list of functions q, q', ...", self.profiles)

    @property
    def smoothness(self) -> int | None:
        return len(self.profiles) - 1

    def require_order(self, order: int) -> None:
        if order >= len(self.profiles):
            raise ValueError(
                f"This CustomKernel has derivatives up to order {len(self.profiles) - 1}; order "
                f"{order} was asked for. Add the missing derivatives to 'profiles', which holds "
                f"{len(self.profiles)} functions and needs {order + 1}."
            )

    def require_right_derivatives(self, u: Array) -> None:
        if not self.check_derivatives:
            return

        def called(m: int, u: Array) -> Array:
            # Two columns, as functions may expect those of a matrix.
            return self._called(m, np.column_stack([u, u]))[:, 0]

        points, steps = points_and_steps(u[:, None])
        for m in range(1, len(self.profiles)):
            require_derivative(
                partial(called, m - 1),
                partial(called, m),
                points,
                steps,
                f"profiles[{m}]",
                f"the derivative of profiles[{m - 1}]",
            )

    def _called(self, m: int, u: Array) -> Array:
        value = as_real_like(self.profiles[m](u), u, f"profiles[{m}]")
        if value.shape != u.shape:
            raise parameter_error(f"profiles[{m}]", f"elementwise, of shape {u.shape}", value.shape)
        return value

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        self.require_order(order)
        values = tuple(self._called(m, u) for m in range(order + 1))
        xp = namespace(u)
        for m, value in enumerate(values):
            if xp.any(xp.isnan(value)) or xp.any(xp.isinf(value) & (u != 0)):
                raise parameter_error(f"profiles[{m}]", "finite away from u = 0", "nan or inf")
        return tuple(xp.where(xp.isfinite(value), value, 0.0) for value in values)
