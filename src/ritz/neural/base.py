"""What the estimators with networks share: making modules, checking them, training them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from inspect import signature
from typing import Any

import torch

from ritz.arrays import Array, as_count, as_number, must
from ritz.estimators.base import SpectralEstimator
from ritz.neural.batches import Minibatches
from ritz.neural.derivatives import as_tensor, values
from ritz.neural.jet import TensorJet
from ritz.neural.module import mlp
from ritz.neural.scale import Standardized, warn_of_scale
from ritz.neural.training import Objective, Settings, State, cosine, train
from ritz.streams import Stream

HIDDEN = (128, 128)
PILOT_ROWS = 64
SCALE_ROWS = 1000
FLAT = (
    "Rounding, sign, argmax and detach() have no derivative to learn from, nor has a last layer "
    "that starts at zero."
)


class NetworkEstimator(SpectralEstimator):
    """A face for training: it stores parameters, trains copies of modules, holds the result."""

    def _modules(self, given: Sequence[Any], stream: Stream, seed: int) -> Any:
        """Return copies of the modules given, or new ones that follow from the seed."""
        outputs = as_count(self.n_components, "n_components")
        modules = []
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for view, (name, module) in enumerate(given):
                if module is None:
                    rows = stream.sample(SCALE_ROWS, seed, view)
                    module = mlp(stream.dimensions[view], HIDDEN, outputs)
                    module.insert(0, Standardized(rows))
                else:
                    module = made(module, name)
                modules.append(module)
        for view, ((name, _), module) in enumerate(zip(given, modules, strict=True)):
            pilot = stream.sample(PILOT_ROWS, seed, view)
            require_outputs(module, pilot, outputs, name)
            if not any(isinstance(part, Standardized) for part in module.modules()):
                warn_of_scale(pilot)
        return torch.nn.ModuleList(modules)

    def _train(self, modules: Any, objective: Objective, stream: Stream, seed: int) -> State:
        """Train modules in place by this estimator's settings."""
        fraction = as_number(self.validation_fraction, "validation_fraction", "in [0, 1)", 0.0)
        if fraction >= 1:
            raise ValueError(must("validation_fraction", "in [0, 1)", fraction))
        size = as_count(self.batch_size, "batch_size")
        rate = as_number(self.learning_rate, "learning_rate", "a positive number", 1e-300)
        patience = self.patience
        for name, what in (
            ("optimizer", "a function of parameters that returns a torch optimizer, or None"),
            ("schedule", "a function of the progress that returns a factor, or None"),
        ):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise TypeError(must(name, what, repr(given)))
        settings = Settings(
            n_steps=as_count(self.n_steps, "n_steps"),
            optimizer=self.optimizer or partial(torch.optim.Adam, lr=rate),
            schedule=self.schedule or cosine,
            evaluate_every=as_count(self.evaluate_every, "evaluate_every"),
            patience=None if patience is None else as_count(patience, "patience"),
            checkpoint=self.checkpoint,
            resume=self.resume,
            progress=self.progress,
            seed=seed,
        )
        state = train(modules, objective, Minibatches(stream, size, fraction, seed), settings)
        modules.eval()
        self.losses_ = state.losses
        self.held_out_losses_ = state.held_out
        self.n_steps_ = state.step
        assert state.best is not None
        self.best_step_ = state.best[0]
        if not self.best_step_:
            warnings.warn(
                f"Nothing was learned: none of {state.step} steps lowered the loss on held-out "
                "rows, and the functions are those that the module started with. Lower the "
                "learning_rate, scale the data, or hold out more rows.",
                RuntimeWarning,
                stacklevel=3,
            )
        return state


def made(module: Any, name: str) -> Any:
    """Return a copy of a module, or what a function without arguments makes."""
    what = "a torch.nn.Module, a function without arguments that returns one, or None"
    if isinstance(module, torch.nn.Module):
        return deepcopy(module)
    if not callable(module):
        raise TypeError(must(name, what, type(module).__name__))
    try:
        signature(module).bind()
    except (TypeError, ValueError):
        remedy = "Functions of rows have no parameters to train; ritz.Functions takes them."
        raise TypeError(must(name, what, f"{module!r}, which takes some,", remedy)) from None
    result = module()
    if not isinstance(result, torch.nn.Module):
        raise TypeError(must(name, what, f"one that returns {type(result).__name__}"))
    return result


def require_outputs(module: Any, pilot: Array, outputs: int, name: str) -> None:
    """Raise unless a module has the outputs wanted, and parameters to train."""
    if not any(p.requires_grad for p in module.parameters()):
        remedy = "ritz.decompose with ritz.neural.Network(module) takes a module as it is."
        raise ValueError(must(name, "a module with parameters that can be trained", "none", remedy))
    found = values(module.eval(), as_tensor(pilot, module), name)
    if found.shape[1] != outputs:
        what = f"a module with {outputs} outputs, as n_components says"
        raise ValueError(must(name, what, f"{found.shape[1]} outputs", "Change one of the two."))
    if not found.requires_grad:
        what = "differentiable in its parameters"
        raise ValueError(must(name, what, "outputs cut off from them", "Do not detach them."))
    if not found.isfinite().all():
        raise ValueError(must(name, "such that its outputs are finite", "nan or inf at some rows"))
    # Unequal weights, as outputs may add up to a constant.
    weights = torch.linspace(1, 2, found.numel()).reshape(found.shape).to(found)
    trained = [p for p in module.parameters() if p.requires_grad]
    slopes = torch.autograd.grad((weights * found).sum(), trained, allow_unused=True)
    if not any(slope is not None and slope.any() for slope in slopes):
        what = "differentiable in its parameters"
        raise ValueError(must(name, what, "outputs whose gradients are all zero", FLAT))


def require_slopes(module: Any, pilot: Array, name: str) -> None:
    """Raise where the outputs do not change with the input, as far as derivatives tell."""
    jet = TensorJet(module.eval(), pilot)
    if not jet.jacobian.detach().any():
        what = "differentiable in its input"
        raise ValueError(must(name, what, "outputs whose gradients are all zero", FLAT))
