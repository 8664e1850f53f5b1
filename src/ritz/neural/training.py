"""Stochastic gradient descent on the loss of an operator, with early stopping and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import cos, isfinite, pi
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from ritz.neural.averages import merged
from ritz.neural.checkpoint import read_checkpoint, write_checkpoint
from ritz.neural.minibatches import Minibatches
from ritz.neural.objectives import SingularLoss, SpectralLoss
from ritz.rows import Block
from ritz.streams import Stream
from ritz.validation import as_count, as_number, parameter_error

# Rows on which the loss is validated, at most: enough to compare states to about a percent.
MAX_HELD_OUT_ROWS = 10_000


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingParameters:
    """The parameters of training; the docstring of `SpectralNetwork` explains them."""

    n_steps: int = 2000
    batch_size: int = 1000
    learning_rate: float = 1e-2
    optimizer: Any = None
    schedule: Any = None
    validation_fraction: float = 0.1
    evaluate_every: int = 100
    patience: int | None = 10
    checkpoint: Any = None
    resume: bool = False
    random_state: Any = None
    progress: bool | None = None

    def _check(self) -> None:
        for name in ("n_steps", "batch_size", "evaluate_every"):
            as_count(getattr(self, name), name)
        if self.patience is not None:
            as_count(self.patience, "patience")
        if as_number(self.validation_fraction, "validation_fraction", "in [0, 1)", 0.0) >= 1:
            raise parameter_error("validation_fraction", "in [0, 1)", self.validation_fraction)
        what = "a positive number below 1e30"
        if as_number(self.learning_rate, "learning_rate", what, 1e-300) >= 1e30:
            raise parameter_error("learning_rate", what, self.learning_rate)
        for name, what in (
            ("optimizer", "a function of parameters that returns a torch optimizer, or None"),
            ("schedule", "a function of the progress that returns a factor, or None"),
        ):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise parameter_error(name, what, repr(given), kind=TypeError)
        if self.checkpoint is not None and not Path(self.checkpoint).parent.is_dir():
            what = "a file in an existing folder"
            raise parameter_error("checkpoint", what, self.checkpoint, "Make the folder first.")


@dataclass
class State:
    """The progress of a training, without the parameters of modules and optimizer.

    `position` counts the batches of this epoch. `losses` has the loss of each step, `held_out`
    pairs of a step and the loss on held-out rows, `best` the step, loss and parameters of the best
    evaluation. `warning` is the text of a warning to give, if training stopped by an accident.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    losses: list[float] = field(default_factory=list)
    held_out: list[tuple[int, float]] = field(default_factory=list)
    best: tuple[int, float, Any] | None = None
    stopped: bool = False
    warning: str = ""


def cosine(progress: float) -> float:
    """Return (1 + cos(pi t)) / 2, a learning rate that ends at zero."""
    return (1 + cos(pi * progress)) / 2


@dataclass(eq=False)
class Training:
    """The training of a `torch.nn.ModuleList` in place, by `run`.

    The modules are left at their best state on held-out rows. If no rows are held out, the last
    state with a finite loss and gradient counts as the best. Training stops where the loss or a
    gradient is not finite, and the state then has a warning.
    """

    modules: Any
    loss: SpectralLoss | SingularLoss
    stream: Stream
    parameters: TrainingParameters
    seed: int

    def __post_init__(self) -> None:
        parameters = self.parameters
        parameters._check()
        fraction = float(parameters.validation_fraction)
        self.batches = Minibatches(self.stream, int(parameters.batch_size), fraction, self.seed)
        self.held_out = self.batches.held_out(MAX_HELD_OUT_ROWS)
        rows = sum(map(len, self.held_out))
        if fraction and rows < 2:
            what = "such that at least 2 rows are held out, or 0"
            raise parameter_error("validation_fraction", what, f"{rows} rows held out")
        adam = partial(torch.optim.Adam, lr=parameters.learning_rate)
        self.optimizer = (parameters.optimizer or adam)(self.modules.parameters())
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.generator = torch.Generator().manual_seed(self.seed)
        self.state = State()
        # The settings that a checkpoint must share to be resumed.
        self.problem = {
            **self.loss.settings(),
            "random_state": self.seed,
            "batch_size": self.batches.size,
            "validation_fraction": fraction,
        }

    def run(self) -> State:
        """Train, and return the final state; torch's global generator is not changed."""
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            self._run()
        assert self.state.best is not None
        self.modules.load_state_dict(self.state.best[2])
        return self.state

    def _run(self) -> None:
        state, parameters = self.state, self.parameters
        path, shown = parameters.checkpoint, parameters.progress
        if parameters.resume and path is not None and Path(path).exists():
            self.load(path)
        else:
            self.evaluate()
        batches = self.remaining_batches()
        with tqdm(
            total=parameters.n_steps,
            initial=state.step,
            desc="ritz",
            unit=" steps",
            disable=None if shown is None else not shown,
        ) as bar:
            while state.step < parameters.n_steps and not state.stopped:
                self.take_step(next(batches))
                bar.update()
                bar.set_postfix(loss=f"{state.losses[-1]:.4g}", refresh=False)

    def remaining_batches(self) -> Iterator[Block]:
        """Yield batches without end, from the stored position in the stored epoch on."""
        state = self.state
        while True:
            for block in islice(self.batches.epoch(state.epoch), state.position, None):
                state.position += 1
                yield block
            if not state.position:
                raise ValueError(
                    "There are no rows to train on. Each call of the 'source' of Batches must "
                    "return a fresh iterator, and validation_fraction must leave some rows."
                )
            state.epoch, state.position = state.epoch + 1, 0

    def take_step(self, block: Block) -> None:
        """Change the parameters once, and evaluate them if it is time."""
        state, parameters = self.state, self.parameters
        self.modules.train()
        loss, finite = self.backward(block, self.generator)
        if not finite:
            self.stop_diverged(loss)
            return
        factor = (parameters.schedule or cosine)(state.step / parameters.n_steps)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.optimizer.step()
        state.losses.append(loss)
        state.step += 1
        if state.step == parameters.n_steps or state.step % parameters.evaluate_every == 0:
            self.evaluate(block)
            if parameters.checkpoint is not None:
                self.save(parameters.checkpoint)

    def backward(self, block: Block, generator: torch.Generator) -> tuple[float, bool]:
        """Compute the gradient; return the loss, and whether both are finite."""
        self.optimizer.zero_grad()
        loss = self.loss.value(self.loss.averages(self.modules, block, generator))
        loss.backward()
        gradients = [p.grad for p in self.modules.parameters() if p.grad is not None]
        # A sum is finite only if all its entries are.
        numbers = [loss.item(), *(g.sum().item() for g in gradients)]
        return numbers[0], all(map(isfinite, numbers))

    def evaluate(self, block: Block | None = None) -> None:
        """Record the loss on held-out rows, or on a batch; keep the best state, or stop."""
        state, patience = self.state, self.parameters.patience
        loss, finite = float("nan"), True
        self.modules.eval()
        # The same random directions in each evaluation make the losses comparable.
        generator = torch.Generator().manual_seed(self.seed)
        if self.held_out:
            with torch.no_grad():
                found = [self.loss.averages(self.modules, b, generator) for b in self.held_out]
                loss = float(self.loss.value(merged(found)))
            state.held_out.append((state.step, loss))
            finite = isfinite(loss)
        elif block is not None:
            loss, finite = self.backward(block, generator)
        if not finite:
            self.stop_diverged(loss)
        elif state.best is None or not self.held_out or loss < state.best[1]:
            state.best = (state.step, loss, deepcopy(self.modules.state_dict()))
        elif patience is not None:
            best_step = state.best[0]
            state.stopped = sum(step > best_step for step, _ in state.held_out) >= patience

    def stop_diverged(self, loss: float) -> None:
        """Stop because a loss or gradient is not finite; raise if no state is worth keeping."""
        state, best = self.state, self.state.best
        what = f"The loss was {loss:.3g}, or a gradient was not finite, at step {state.step}"
        remedy = "Lower the learning_rate, scale the data, or check how the module starts."
        # Without held-out rows the last state is the best, unless it is worse than the first.
        if not best or not best[0] or (not self.held_out and best[1] > state.losses[0]):
            raise FloatingPointError(f"{what}, before any state better than the first. {remedy}")
        state.stopped = True
        state.warning = (
            f"{what}. Training stopped, and the state of step {best[0]} is kept. {remedy}"
        )

    def save(self, path: Any) -> None:
        """Write the whole state to a file."""
        content = {
            "state": dict(vars(self.state)),
            "modules": self.modules.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "torch": torch.get_rng_state(),
        }
        write_checkpoint(path, self.problem, content)

    def load(self, path: Any) -> None:
        """Continue from a file."""
        content = read_checkpoint(path, self.problem)
        try:
            self.modules.load_state_dict(content["modules"])
        except RuntimeError as error:
            what = "a checkpoint of the same module, to resume its training"
            got = f"another module ({''.join(str(error).splitlines()[1:2]).strip()})"
            raise parameter_error("checkpoint", what, got) from None
        vars(self.state).update(content["state"], stopped=False, warning="")
        self.optimizer.load_state_dict(content["optimizer"])
        self.generator.set_state(content["generator"])
        torch.set_rng_state(content["torch"])
