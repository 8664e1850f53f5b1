"""Descending a loss over batches: early stopping, checkpoints, and an end where it diverges."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from math import cos, isfinite, pi
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from tqdm import tqdm

from ritz.arrays import Block, must
from ritz.neural.averages import Averages, merged
from ritz.neural.batches import Minibatches
from ritz.neural.checkpoint import read_checkpoint, write_checkpoint

HELD_OUT_ROWS = 10_000


class Objective(Protocol):
    """A loss over batches, by way of averages that can be merged."""

    def averages(
        self, modules: Any, block: Block, generator: torch.Generator | None = None
    ) -> Averages:
        """Return the averages of a batch."""

    def value(self, batch: Averages) -> Tensor:
        """Return the loss."""

    def settings(self) -> dict[str, Any]:
        """Return what the loss is, in plain values, so that checkpoints can be told apart."""


@dataclass(frozen=True)
class Settings:
    """How to train.

    Parameters
    ----------
    n_steps
        The number of batches, at most.
    optimizer
        What makes a torch optimizer of parameters.
    schedule
        The factor of the learning rate at a progress between 0 and 1.
    evaluate_every, patience
        Steps between evaluations on held-out rows, and how many of them without improvement end
        the training (None: go on).
    checkpoint, resume
        A file to keep the state in at each evaluation, and whether to start from it.
    progress
        Whether to show a bar; None for on a terminal.
    seed
        What all random choices follow from.
    """

    n_steps: int
    optimizer: Callable[[Any], Any]
    schedule: Callable[[float], float]
    evaluate_every: int
    patience: int | None
    checkpoint: str | PathLike[str] | None
    resume: bool
    progress: bool | None
    seed: int


@dataclass
class State:
    """Where a training stands; all of it but the modules and the optimizer.

    `losses` has one number a step, `held_out` pairs of a step and a loss, `best` the step, loss
    and parameters of the best evaluation.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    losses: list[float] = field(default_factory=list)
    held_out: list[tuple[int, float]] = field(default_factory=list)
    best: tuple[int, float, Any] | None = None
    stopped: str = ""

    @property
    def waiting(self) -> int:
        """How many evaluations ago the best one was."""
        assert self.best is not None
        return sum(step > self.best[0] for step, _ in self.held_out)


def cosine(progress: float) -> float:
    """Return (1 + cos(pi t)) / 2, a learning rate that ends at zero."""
    return (1 + cos(pi * progress)) / 2


def train(modules: Any, objective: Objective, batches: Minibatches, settings: Settings) -> State:
    """Train modules in place, and leave them at their best on held-out rows.

    Where the loss or a gradient is not finite, training ends with a warning that says at which
    step, and the modules are left at the best evaluation before.

    Parameters
    ----------
    modules
        A `torch.nn.ModuleList`.
    objective
        The loss.
    batches
        The rows. Without any held out, the last state that has a finite loss and gradient on a
        batch counts as the best.
    settings
        The rest.
    """
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        return _Training(modules, objective, batches, settings).run()


class _Training:
    def __init__(
        self, modules: Any, objective: Objective, batches: Minibatches, settings: Settings
    ) -> None:
        self.modules, self.objective = modules, objective
        self.batches, self.settings = batches, settings
        self.held = batches.held_out(HELD_OUT_ROWS)
        rows = sum(map(len, self.held))
        if batches.fraction and rows < 2:
            what = "such that at least 2 rows are held out, or 0"
            raise ValueError(must("validation_fraction", what, f"{rows} rows held out"))
        if settings.checkpoint is not None and not Path(settings.checkpoint).parent.is_dir():
            what = "a file in a folder that is there"
            raise ValueError(
                must("checkpoint", what, settings.checkpoint, "Make the folder first.")
            )
        self.optimizer = settings.optimizer(modules.parameters())
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.state = State()
        self.problem = {
            **objective.settings(),
            "random_state": settings.seed,
            "batch_size": batches.size,
            "validation_fraction": batches.fraction,
        }

    def run(self) -> State:
        settings, state = self.settings, self.state
        if (
            settings.resume
            and settings.checkpoint is not None
            and Path(settings.checkpoint).exists()
        ):
            self.load(settings.checkpoint)
        else:
            self.evaluate()
        hidden = not (sys.stderr.isatty() if settings.progress is None else settings.progress)
        total = settings.n_steps
        with tqdm(
            total=total, initial=state.step, desc="ritz", unit=" steps", disable=hidden
        ) as bar:
            while state.step < total and not state.stopped:
                if not self.epoch(bar):
                    raise ValueError(
                        "There are no rows to train on. Each call of the 'source' of Batches must "
                        "return a fresh iterator, and validation_fraction must leave some rows."
                    )
        assert state.best is not None
        self.modules.load_state_dict(state.best[2])
        return state

    def epoch(self, bar: Any) -> bool:
        """Go over the rows once, or on from where it was left; return whether there were any."""
        state, some = self.state, False
        for block in islice(self.batches.epoch(state.epoch), state.position, None):
            some = True
            if not self.descend(block):
                break
            bar.update()
            bar.set_postfix(loss=f"{state.losses[-1]:.4g}", refresh=False)
            last = state.step == self.settings.n_steps
            if last or state.step % self.settings.evaluate_every == 0:
                self.evaluate(block)
                if self.settings.checkpoint is not None:
                    self.save(self.settings.checkpoint)
            if last or state.stopped:
                return True
        some = some or state.position > 0
        state.epoch, state.position = state.epoch + 1, 0
        return some

    def descend(self, block: Block) -> bool:
        """Take one step; return whether it was one, and not the end."""
        state, settings = self.state, self.settings
        self.modules.train()
        loss, finite = self.slope(block, self.generator)
        if not finite:
            self.diverged(loss)
            return False
        factor = settings.schedule(state.step / settings.n_steps)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.optimizer.step()
        state.losses.append(loss)
        state.step, state.position = state.step + 1, state.position + 1
        return True

    def slope(self, block: Block, generator: torch.Generator) -> tuple[float, bool]:
        """Compute gradients; return the loss, and whether it and they are finite."""
        self.optimizer.zero_grad()
        loss = self.objective.value(self.objective.averages(self.modules, block, generator))
        loss.backward()
        gradients = [p.grad for p in self.modules.parameters() if p.grad is not None]
        # A sum is finite only if all entries are.
        numbers = [loss.item(), *(g.sum().item() for g in gradients)]
        return numbers[0], all(map(isfinite, numbers))

    def diverged(self, loss: float) -> None:
        state = self.state
        assert state.best is not None
        what = f"The loss was {loss:.3g}, or a gradient not finite, at step {state.step}"
        remedy = "Lower the learning_rate, or scale the data."
        # Without held-out rows the last state is kept, but not if it is beyond what it started at.
        worse = not self.held and state.losses and state.best[1] > state.losses[0]
        if state.best[0] == 0 or worse:
            raise FloatingPointError(f"{what}, before any state better than the first. {remedy}")
        state.stopped = f"diverged at step {state.step}"
        warnings.warn(
            f"{what}. Training ended, and the state of step {state.best[0]} is kept. {remedy}",
            RuntimeWarning,
            stacklevel=6,
        )

    def evaluate(self, block: Block | None = None) -> None:
        """Note the loss on held-out rows, keep the state if it is the best, or stop.

        Without such rows, keep it if the loss on a batch can be descended further.
        """
        state = self.state
        loss = float("nan")
        self.modules.eval()
        # The same directions each time, so that losses compare.
        generator = torch.Generator().manual_seed(self.settings.seed)
        if not self.held and block is not None:
            loss, finite = self.slope(block, generator)
            if not finite:
                self.diverged(loss)
                return
        if self.held:
            with torch.no_grad():
                found = [self.objective.averages(self.modules, b, generator) for b in self.held]
                loss = float(self.objective.value(merged(found)))
            state.held_out.append((state.step, loss))
            if not isfinite(loss):
                if state.best is None:
                    raise FloatingPointError(
                        f"The loss is {loss} before the first step. Scale the data, or look at "
                        "how the module starts."
                    )
                self.diverged(loss)
                return
        if state.best is None or not self.held or loss < state.best[1]:
            state.best = (state.step, loss, deepcopy(self.modules.state_dict()))
        elif self.settings.patience is not None and state.waiting >= self.settings.patience:
            state.stopped = f"no better on held-out rows since step {state.best[0]}"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole state to a file."""
        content = {
            "state": dict(vars(self.state)),
            "modules": self.modules.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "torch": torch.get_rng_state(),
        }
        write_checkpoint(path, self.problem, content)

    def load(self, path: str | PathLike[str]) -> None:
        """Go on from a file."""
        content = read_checkpoint(path, self.problem)
        try:
            self.modules.load_state_dict(content["modules"])
        except RuntimeError as error:
            what = "a file of the same module, to resume"
            first = str(error).split("\n")[1:2]
            raise ValueError(
                must("checkpoint", what, f"another ({''.join(first).strip()})")
            ) from None
        vars(self.state).update(content["state"], stopped="")
        self.optimizer.load_state_dict(content["optimizer"])
        self.generator.set_state(content["generator"])
        torch.set_rng_state(content["torch"])
