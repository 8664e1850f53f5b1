"""Values and input derivatives of a torch module, differentiable in its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import jacfwd, jacrev, jvp, vmap
from torch.nn.modules.batchnorm import _BatchNorm

from ritz.validation import parameter_error

# Forward differentiation in torch keeps one nesting level for the whole process, so that threads
# must not use it at the same time.
_forward_mode = RLock()


def as_tensor(array: Any, module: Any) -> Tensor:
    """Return numbers with the dtype and on the device of a module's parameters."""
    like = next(module.parameters(), next(module.buffers(), torch.empty(0, dtype=torch.float64)))
    dtype = like.dtype if like.is_floating_point() else torch.float64
    if isinstance(array, np.ndarray):
        array = torch.from_numpy(np.require(array, requirements=["C", "W"]))
    return torch.as_tensor(array).to(like.device, dtype)


def values(module: Any, X: Tensor, name: str = "module") -> Tensor:
    """Return f_j(x_k), (b, p), or raise an error that calls the module by a name."""
    with _torch_errors_explained(name):
        result = module(X)
    shape = getattr(result, "shape", None)
    if shape is None or len(shape) != 2 or shape[0] != len(X) or not shape[1]:
        what = f"a module that returns a tensor (b, p) for rows (b, {X.shape[1]})"
        got = type(result).__name__ if shape is None else f"shape {tuple(shape)} for {len(X)} rows"
        raise parameter_error(name, what, got, "End it with nn.Flatten or nn.Linear.")
    if not result.is_floating_point():
        raise parameter_error(name, "a module that returns real numbers", result.dtype)
    return result


def directional_derivatives(module: Any, X: Tensor, U: Tensor) -> Tensor:
    """Return <grad f_j(x_k), U_kr>, (b, r, p), by r Jacobian-vector products for U (b, d, r)."""
    with _differentiating(module) as function:
        one = lambda u: jvp(function, (X,), (u,))[1]  # noqa: E731
        return vmap(one, in_dims=2, out_dims=1, randomness="same")(U)


def jacobian(module: Any, X: Tensor, n_outputs: int) -> Tensor:
    """Return d f_j / d x_i at each row, (b, d, p): forward for few columns, backward otherwise."""
    with _differentiating(module) as function:
        if X.shape[1] <= n_outputs:
            shifted = lambda z: function(X + z)  # noqa: E731
            return jacfwd(shifted, randomness="same")(torch.zeros_like(X[0])).transpose(1, 2)
        # As rows do not interact, the derivatives of the sum over rows are those of each row.
        return jacrev(lambda x: function(x).sum(0))(X).permute(1, 2, 0)


def partial_derivative(module: Any, X: Tensor, alpha: tuple[int, ...]) -> Tensor:
    """Return the partial derivatives of a multi-index, (b, p), by nested forward derivatives."""

    def derivative(inner: Any, axis: int) -> Any:
        direction = torch.zeros_like(X)
        direction[:, axis] = 1.0
        return lambda x: jvp(inner, (x,), (direction,))[1]

    with _differentiating(module) as function:
        for axis, order in enumerate(alpha):
            for _ in range(order):
                function = derivative(function, axis)
        return function(X)


@contextmanager
def _differentiating(module: Any) -> Iterator[Callable[[Tensor], Tensor]]:
    """Give the values of a module as a function of rows that can be differentiated.

    Batch normalization is refused: in training the output at a row depends on all rows, so it
    has no gradient at that row alone.
    """
    if any(isinstance(part, _BatchNorm) and part.training for part in module.modules()):
        what = "without batch normalization where the operator takes derivatives"
        remedy = "In training it mixes the rows; nn.LayerNorm does not."
        raise parameter_error("module", what, "a BatchNorm layer", remedy)
    with _torch_errors_explained("module"):
        yield lambda x: values(module, x)


@contextmanager
def _torch_errors_explained(name: str) -> Iterator[None]:
    """Hold the lock of forward differentiation, and name the parameter in errors of torch."""
    try:
        with _forward_mode:
            yield
    except (RuntimeError, TypeError, NotImplementedError) as error:
        first = str(error).split("\n")[0]
        what = "a module of torch functions that map rows (b, d) and can be differentiated"
        raise parameter_error(name, what, f"the torch error {first!r}") from error
