"""Two networks for the functions of two views that correlate most."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch.utils.data import DataLoader

from ritz.estimators.checks import checked_rows, names_of, seed_of, set_names
from ritz.estimators.fitting import unchanged_on_failure
from ritz.forms import cross
from ritz.neural.estimator import NetworkEstimator, as_numpy, as_training_stream
from ritz.neural.network import Network
from ritz.neural.objectives import SingularLoss
from ritz.streams import Stream
from ritz.validation import (
    as_count,
    as_rows,
    column_names,
    parameter_error,
    renamed,
    require_names,
)


@dataclass(eq=False, repr=False)
class SingularNetwork(NetworkEstimator):
    """Learn the functions of two views that correlate most by two networks.

    The modules are trained on -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2], the quadratic version of the
    loss of CLIP. Then the singular values and functions of their span are computed over all rows.

    Parameters
    ----------
    left, right
        Torch modules from the rows of each view to (b, n_components), functions that make them, or
        None, as in `SpectralNetwork`.
    n_components
        The number of pairs, not counting the pair of constants.
    n_steps, batch_size, learning_rate, optimizer, schedule, validation_fraction, evaluate_every, \
patience, checkpoint, resume, n_folds, keep_sums, random_state, progress
        As in `SpectralNetwork`.

    Attributes
    ----------
    singular_values_, singular_value_errors_
        The correlations in the samples, descending, and their standard errors.
    spectrum_
        The `SingularSpectrum`; its first pair are the constants.
    sums_
        With keep_sums=True: the `Sums` from which it is computed.
    left_, right_
        The trained modules.
    losses_, held_out_losses_, n_steps_, best_step_
        As in `SpectralNetwork`.
    """

    left: Any = None
    right: Any = None
    n_components: int = 2

    @unchanged_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from aligned samples X (n, d) and y (n, e), or a stream or loader of pairs."""
        names = None
        if not isinstance(X, Stream | DataLoader):
            if y is None:
                raise parameter_error("y", "the second view, aligned with X", None)
            X = (checked_rows(self, as_numpy(X), reset=True, at_least=2), as_rows(y, "y"))
            names = (names_of(self), column_names(y))
        elif y is not None:
            raise parameter_error("y", "None where X is a stream of pairs", type(y).__name__)
        wanted = as_count(self.n_components, "n_components")
        seed = seed_of(self.random_state)
        with renamed(Y="y"):
            stream = as_training_stream(X, 2, sample_weight, groups, seed, names)
        set_names(self, stream.names[0])
        self.n_features_in_, self._n_columns_of_y = stream.dimensions
        given = [("left", self.left), ("right", self.right)]
        modules = self._make_modules(given, wanted, stream, seed)
        self._train(modules, SingularLoss(), stream, seed)
        self.left_, self.right_ = modules
        bases = (Network(self.left_), Network(self.right_))
        found = self._solve(cross(), bases, stream, 1, wanted, seed)
        self.singular_values_, self.singular_value_errors_ = found
        if self._n_features_out < wanted:
            warnings.warn(
                f"Only {self._n_features_out} of {wanted} pairs were found: the outputs of a "
                "module depend on each other, or some died in training. Pass a smaller "
                "n_components, or check how the modules are initialized.",
                RuntimeWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the left functions (n, n_components) at X (n, d); with y, the right ones too."""
        check_is_fitted(self, "spectrum_")
        X = checked_rows(self, as_numpy(X), reset=False)
        left = np.asarray(self.spectrum_[1:].left.at_rows(X), dtype=X.dtype)
        if y is None:
            return left
        require_names(column_names(y), self.spectrum_.right.names, "y")
        right = self.spectrum_[1:].right.at_rows(as_rows(y, "y", self._n_columns_of_y))
        return left, np.asarray(right, dtype=X.dtype)
