"""Values and input derivatives of a torch module, as tensors that remember its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap
from torch.nn.modules.batchnorm import _BatchNorm

from ritz.arrays import must

# Forward differentiation in torch counts its levels once for all threads.
_ONE_AT_A_TIME = RLock()


def as_tensor(array: Any, module: Any) -> Tensor:
    """Return numbers in the precision of a module's parameters, and where they are."""
    like = next(module.parameters(), next(module.buffers(), torch.empty(0, dtype=torch.float64)))
    dtype = like.dtype if like.is_floating_point() else torch.float64
    if isinstance(array, np.ndarray):
        array = torch.from_numpy(np.require(array, requirements=["C", "W"]))
    return torch.as_tensor(array).to(like.device, dtype)


def values(module: Any, X: Tensor, name: str = "module") -> Tensor:
    """Return f_j(x_k), (b, p)."""
    with _explained(name):
        result = module(X)
    shape = getattr(result, "shape", None)
    if shape is None or len(shape) != 2 or shape[0] != len(X) or not shape[1]:
        what = f"a module that returns a tensor (b, p) for rows (b, {X.shape[1]})"
        got = type(result).__name__ if shape is None else f"shape {tuple(shape)} for {len(X)} rows"
        raise ValueError(must(name, what, got, "End it with nn.Flatten or nn.Linear."))
    if not result.is_floating_point():
        raise ValueError(must(name, "a module that returns real numbers", result.dtype))
    return result


def along(module: Any, X: Tensor, U: Tensor) -> Tensor:
    """Return <grad f_j(x_k), U_kr> by Jacobian-vector products, (b, r, p) for U (b, d, r)."""
    _require_rows_apart(module)

    def one(u: Tensor) -> Tensor:
        return jvp(lambda x: values(module, x), (X,), (u,))[1]

    with _explained():
        return vmap(one, in_dims=2, out_dims=1, randomness="same")(U)


def jacobian(module: Any, X: Tensor, outputs: int) -> Tensor:
    """Return d f_j / d x_i at each row, (b, d, p): forward where d <= p, backward otherwise."""
    b, d = X.shape
    if d <= outputs:
        return along(module, X, torch.eye(d, dtype=X.dtype, device=X.device).expand(b, d, d))
    _require_rows_apart(module)
    with _explained():
        _, pull = vjp(lambda x: values(module, x), X)
        seeds = torch.eye(outputs, dtype=X.dtype, device=X.device)[:, None].expand(-1, b, -1)
        (rows,) = vmap(pull, randomness="same")(seeds)
    return rows.permute(1, 2, 0)


def partial(module: Any, X: Tensor, alpha: tuple[int, ...]) -> Tensor:
    """Return the partial derivatives of a multi-index, (b, p), by Jacobian-vector products."""
    _require_rows_apart(module)

    def derivative(inner: Any, axis: int) -> Any:
        direction = torch.zeros_like(X)
        direction[:, axis] = 1.0
        return lambda x: jvp(inner, (x,), (direction,))[1]

    function: Any = lambda x: values(module, x)  # noqa: E731
    for axis, order in enumerate(alpha):
        for _ in range(order):
            function = derivative(function, axis)
    with _explained():
        return function(X)


def _require_rows_apart(module: Any) -> None:
    """Raise where a row's output depends on the other rows, so that it has no gradient."""
    if any(isinstance(part, _BatchNorm) and part.training for part in module.modules()):
        what = "without batch normalization where the operator takes derivatives"
        remedy = "In training it mixes the rows; nn.LayerNorm does not."
        raise ValueError(must("module", what, "a BatchNorm layer", remedy))


@contextmanager
def _explained(name: str = "module") -> Iterator[None]:
    """Hold the lock, and say whose fault it is where torch cannot go through a module."""
    try:
        with _ONE_AT_A_TIME:
            yield
    except (RuntimeError, TypeError, NotImplementedError) as error:
        first = str(error).split("\n")[0]
        what = "made of torch functions that map rows (b, d) and can be differentiated"
        raise ValueError(must(name, what, f"an error of torch, {first!r}")) from error
