"""What both estimators share: making modules, training them, and the final solve."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.utils.data import DataLoader

from ritz.assembly import assemble
from ritz.estimators.fitting import drop_sums
from ritz.estimators.summary import Summary
from ritz.forms import Form
from ritz.neural.loader import LoaderStream
from ritz.neural.modules import (
    Standardized,
    as_module,
    mlp,
    require_trainable,
    warn_unless_unit_size,
)
from ritz.neural.objectives import SingularLoss, SpectralLoss
from ritz.neural.summary import network_summary
from ritz.neural.training import Training, TrainingParameters
from ritz.spectrum import decompose_sums
from ritz.streams import Stream, as_stream
from ritz.validation import Array, Names, renamed, require_size

# Rows on which a module is checked before training: a batch that costs next to nothing.
MODULE_TRIAL_ROWS = 64
# Rows from which the default module takes means and deviations, with an error of about 3%.
STANDARDIZED_ROWS = 1000


# The dataclass writes a constructor that only stores parameters, as scikit-learn wants it.
@dataclass(eq=False, repr=False, kw_only=True)
class NetworkEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, TrainingParameters
):
    """An estimator that trains copies of torch modules and solves in their span."""

    n_folds: int = 8
    keep_sums: bool = False

    def summary(self) -> Summary:
        """Return what training led to, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return network_summary(self)

    def _make_modules(
        self, given: Sequence[tuple[str, Any]], n_outputs: int, stream: Stream, seed: int
    ) -> Any:
        """Return copies of the modules given by name, or default ones initialized by the seed."""
        modules = torch.nn.ModuleList()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for view, (name, module) in enumerate(given):
                if module is None:
                    made = mlp(stream.dimensions[view], (128, 128), n_outputs)
                    with renamed(rows="Xy"[view]):
                        first = Standardized(stream.sample(STANDARDIZED_ROWS, seed, view))
                    made.insert(0, first)
                else:
                    made = as_module(module, name)
                pilot = stream.sample(MODULE_TRIAL_ROWS, seed, view)
                require_size(pilot, "Xy"[view])
                require_trainable(made, pilot, n_outputs, name)
                warn_unless_unit_size(made, pilot)
                modules.append(made)
        return modules

    def _train(
        self, modules: Any, loss: SpectralLoss | SingularLoss, stream: Stream, seed: int
    ) -> None:
        """Train modules in place, and store the losses."""
        state = Training(modules, loss, stream, self, seed).run()
        modules.eval()
        assert state.best is not None
        self.losses_, self.held_out_losses_ = state.losses, state.held_out
        self.n_steps_, self.best_step_ = state.step, state.best[0]
        if not self.best_step_:
            state.warning = (
                f"Nothing was learned: none of {state.step} steps lowered the loss on held-out "
                "rows, and the functions are those of the initial module. Lower the "
                "learning_rate, scale the data, or hold out more rows."
            )
        if state.warning:
            warnings.warn(state.warning, RuntimeWarning, stacklevel=4)

    def _solve(
        self, form: Form, bases: Any, stream: Stream, first: int, wanted: int, seed: int
    ) -> tuple[Array, Array | None]:
        """Restrict the operator to trained modules over all rows; return values and errors.

        Of the values, the `first` ones belong to the constant and are left out.
        """
        self.sums_ = assemble(
            form, bases, stream, n_folds=self.n_folds, random_state=seed, progress=self.progress
        )
        self.spectrum_: Any = decompose_sums(self.sums_, first + wanted, fewer=True)
        values, errors = self.spectrum_.values, self.spectrum_.errors
        drop_sums(self)
        self._n_features_out = len(values) - first
        return values[first:], None if errors is None else errors[first:]


def as_training_stream(
    X: Any,
    views: int,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
    names: tuple[Names, ...] | None = None,
) -> Stream:
    """Return the stream of some data, which may be a torch `DataLoader`."""
    X = LoaderStream(X, views, seed=(seed,)) if isinstance(X, DataLoader) else X
    return as_stream(X, views, sample_weight, groups, names)


def as_numpy(X: Any) -> Any:
    """Return a tensor as an array, and anything else unchanged."""
    return X.detach().cpu().numpy() if isinstance(X, Tensor) else X
