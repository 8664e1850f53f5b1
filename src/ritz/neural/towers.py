"""Two networks for what two views share."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.utils.data import DataLoader

from ritz.arrays import Array, as_count, as_rows, must
from ritz.assembly import assemble
from ritz.forms import cross
from ritz.neural.base import NetworkEstimator
from ritz.neural.batches import as_rows_of
from ritz.neural.module import Network
from ritz.neural.objectives import SingularLoss
from ritz.spectrum import SingularSpectrum, decompose_sums
from ritz.streams import Stream


class SingularNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NetworkEstimator):
    """Learn the functions of two views that correlate most by two networks.

    The modules are trained on -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2], the square version of what CLIP
    descends; then singular values and functions of their span are found over all rows.

    Parameters
    ----------
    left, right
        Torch modules from rows of each view to (b, n_components), functions that make them, or
        None; as in `SpectralNetwork`.
    n_components
        The number of pairs, the constants not counted.
    n_steps, batch_size, learning_rate, optimizer, schedule, validation_fraction, evaluate_every, \
patience, checkpoint, resume, n_folds, random_state, progress
        As in `SpectralNetwork`.

    Attributes
    ----------
    singular_values_, singular_value_errors_
        The correlations in the samples, descending, and their standard errors.
    spectrum_
        The `SingularSpectrum`, the constants first.
    left_, right_
        The trained modules.
    losses_, held_out_losses_, n_steps_, best_step_
        As in `SpectralNetwork`.
    """

    def __init__(
        self,
        left: Any = None,
        right: Any = None,
        n_components: int = 2,
        *,
        n_steps: int = 2000,
        batch_size: int = 1000,
        learning_rate: float = 1e-2,
        optimizer: Any = None,
        schedule: Any = None,
        validation_fraction: float = 0.1,
        evaluate_every: int = 100,
        patience: int | None = 10,
        checkpoint: Any = None,
        resume: bool = False,
        n_folds: int = 8,
        random_state: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.left = left
        self.right = right
        self.n_components = n_components
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.schedule = schedule
        self.validation_fraction = validation_fraction
        self.evaluate_every = evaluate_every
        self.patience = patience
        self.checkpoint = checkpoint
        self.resume = resume
        self.n_folds = n_folds
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from aligned samples X (n, d) and y (n, e), or a stream or loader of pairs."""
        if not isinstance(X, Stream | DataLoader):
            if y is None:
                raise ValueError(must("y", "the second view, aligned with X", None))
            X = (self._checked(_numbers(X), reset=True, at_least=2), as_rows(y, "y"))
        elif y is not None:
            raise ValueError(must("y", "None where X is a stream of pairs", type(y).__name__))
        seed = self._seed()
        stream = as_rows_of(X, 2, sample_weight, groups, seed)
        self.n_features_in_, self._n_columns_of_y = stream.dimensions
        modules = self._modules([("left", self.left), ("right", self.right)], stream, seed)
        self._train(modules, SingularLoss(), stream, seed)
        self.left_, self.right_ = modules
        self.sums_ = assemble(
            cross(),
            (Network(self.left_), Network(self.right_)),
            stream,
            n_folds=self.n_folds,
            random_state=seed,
            progress=self.progress,
        )
        wanted = as_count(self.n_components, "n_components")
        found = decompose_sums(self.sums_, 1 + wanted, fewer=True)
        assert isinstance(found, SingularSpectrum)
        self.spectrum_ = found
        self.singular_values_ = found.values[1:]
        self.singular_value_errors_ = None if found.errors is None else found.errors[1:]
        self._n_features_out = len(self.singular_values_)
        if self._n_features_out < wanted:
            warnings.warn(
                f"Only {self._n_features_out} of {wanted} pairs were found: the outputs of a "
                "module depend on each other, or some died in training. Pass a smaller "
                "n_components, or look at how the modules start.",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the left functions (n, n_components) at points X (n, d); with y, the right too."""
        check_is_fitted(self, "spectrum_")
        X = self._checked(_numbers(X), reset=False)
        left = np.asarray(self.spectrum_[1:].left(X), dtype=X.dtype)
        if y is None:
            return left
        right: Array = self.spectrum_[1:].right(as_rows(y, "y", self._n_columns_of_y))
        return left, np.asarray(right, dtype=X.dtype)


def _numbers(X: Any) -> Any:
    return X.detach().cpu().numpy() if isinstance(X, Tensor) else X
