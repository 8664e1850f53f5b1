"""A network for the first eigenfunctions of an operator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch.utils.data import DataLoader

from ritz.assembly import Matrices, assemble
from ritz.assembly.assemble import REFERENCE_ROWS
from ritz.bases import Centered
from ritz.estimators.checks import (
    checked_rows,
    checked_weights,
    names_of,
    seed_of,
    set_names,
)
from ritz.estimators.fitting import unchanged_on_failure
from ritz.estimators.inputs import as_operator
from ritz.forms import Form
from ritz.neural.averages import averages
from ritz.neural.estimator import (
    MODULE_TRIAL_ROWS,
    STANDARDIZED_ROWS,
    NetworkEstimator,
    as_numpy,
    as_training_stream,
)
from ritz.neural.jet import TensorJet
from ritz.neural.loader import FLATTEN
from ritz.neural.minibatches import Minibatches
from ritz.neural.modules import equalize_energies, require_input_gradients
from ritz.neural.mu import QuickFit, auto_mu, lost_components, quick_fit, still_falling
from ritz.neural.network import Network
from ritz.neural.objectives import SpectralLoss, as_mu, require_symmetric
from ritz.selection.score import REFERENCE_MARGIN, held_out_loss
from ritz.streams import Stream
from ritz.validation import Array, as_count, parameter_error, require_columns


@dataclass(eq=False, repr=False)
class SpectralNetwork(NetworkEstimator):
    """Learn the first eigenfunctions of an operator by a network.

    The module is trained on 2 / mu sum_j E_L(f_j) + R(f), whose minimum spans the eigenfunctions.
    Then the operator is restricted to the outputs and the constant over all rows (Rayleigh-Ritz),
    so that eigenvalues are ordered, have the operator's units and come with error bars.

    Parameters
    ----------
    module
        A torch module from rows (b, d) to (b, n_components), which is copied; a function that
        makes one, called with torch seeded; or None for two hidden layers of 128 units. A module
        of yours gets the rows unchanged. The default module standardizes them; where the operator
        takes derivatives, it scales all columns to the same energy.
    operator
        A symmetric form, or "laplacian", or "neighbors".
    n_components
        The number of functions, not counting the constant where the operator kills it.
    mu
        The scale of eigenvalues: those above it are not learned. A number, an increasing vector, or
        "auto" for three times the last eigenvalue of a fit with kernel sections.
    regularizer
        "contrastive", "whitening" or "variance_covariance".
    n_directions
        With a number r, gradients in training are taken along r random directions at each row,
        which is cheaper in many dimensions. The final solve takes whole gradients.
    n_steps, batch_size, learning_rate
        The maximal number of batches, the rows of each, and the initial learning rate of Adam.
    optimizer
        A function of parameters that returns a torch optimizer, in place of Adam.
    schedule
        The factor of the learning rate at a progress between 0 and 1; by default a half cosine.
    validation_fraction, evaluate_every, patience
        The fraction of rows held out, the number of steps between evaluations of the loss on them,
        and the number of evaluations without improvement after which training stops (None:
        never). The best state is kept. With "neighbors", training sees those held-out rows that
        are neighbors of others.
    checkpoint, resume
        A file to which the state of training is written at each evaluation, and whether to continue
        from it if it exists. The result is that of a training without interruption. A file with
        another operator (by name), mu, regularizer, seed, batch size or validation fraction is
        refused.
    n_folds
        The number of folds of the final sums, for error bars.
    keep_sums
        Whether the fit keeps these sums, and the sample of rows that some operators refer to.
    random_state
        A seed. The same seed gives the same result to the last bit, on the same processor and with
        the same number of threads. For a `DataLoader` this holds if torch's global generator
        decides what it yields, and not a generator of its own or NumPy's.
    progress
        Whether to show a progress bar; by default on a terminal.

    Attributes
    ----------
    eigenvalues_, eigenvalue_errors_
        Eigenvalues and their standard errors, without the constant's 0. The errors are those of
        sampling, for the functions that were learned.
    spectrum_
        The `Spectrum`, the constant first.
    sums_
        With keep_sums=True: the `Sums` from which it is computed.
    module_
        The trained module.
    mu_
        The scale that was used.
    alive_
        Which of the eigenvalues are below mu. For the others a warning says whether they died,
        because mu is too small for them, or were not learned.
    losses_, held_out_losses_, n_steps_, best_step_
        The loss of each step, pairs of a step and the loss on held-out rows, the number of steps,
        and the step of the state that was kept.

    Examples
    --------
    >>> import ritz
    >>> from ritz.neural import SpectralNetwork
    >>> X = ritz.datasets.half_moons(2000, random_state=0).X
    >>> model = SpectralNetwork(n_components=2, n_steps=50, random_state=0).fit(X)
    >>> model.transform(X[:10]).shape
    (10, 2)
    """

    module: Any = None
    operator: Any = "laplacian"
    n_components: int = 2
    _: KW_ONLY
    mu: Any = "auto"
    regularizer: Any = "contrastive"
    n_directions: int | None = None

    @unchanged_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples X (n, d): an array, a tensor, a `DataLoader` or a stream.

        For operators on pairs, X is a pair of arrays, or a loader or stream of pairs. Rows that
        depend on each other need `groups` (n,), labels of pieces longer than their memory.
        """
        form, mu = self._form(), self._mu()
        remedy = "ritz.neural.SingularNetwork learns the functions that two views share."
        require_symmetric(form, "operator", remedy)
        wanted = as_count(self.n_components, "n_components")
        seed = seed_of(self.random_state)
        stream = self._stream(X, form.views, sample_weight, groups, seed)
        modules = self._make_modules([("module", self.module)], wanted, stream, seed)
        form.require_shapes(stream.n_rows, stream.dimensions)
        prepared = form
        if form.needs_reference:
            sample = stream.sample_distinct(REFERENCE_ROWS, seed)
            prepared = form.prepare(sample.X, sample.weight)
        self._check_derivatives(modules[0], prepared, stream, seed)
        # All rows decide whether the operator kills the function 1, as few rows may matter for it.
        fit = quick_fit(form, stream, 1 + wanted if mu is None else 0, seed)
        self._first = int(fit.kills_one)
        mu = np.asarray(fit.mu(self._first + wanted)) if mu is None else mu
        loss = SpectralLoss(
            prepared, mu, self.regularizer, n_directions=self.n_directions, kills_one=fit.kills_one
        )
        self._train(modules, loss, stream, seed)
        self.module_ = modules[0]
        self.mu_ = mu if mu.ndim else float(mu)
        found = self._solve(form, Network(self.module_), stream, self._first, wanted, seed)
        self.eigenvalues_, self.eigenvalue_errors_ = found
        # The hinge of VICReg lets no component die.
        hinge = self.regularizer == "variance_covariance"
        n_found = len(self.eigenvalues_)
        self.alive_ = hinge | (self.eigenvalues_ < np.broadcast_to(mu, wanted)[:n_found])
        if not isinstance(self.mu, str) and not self.alive_.all():
            fit = quick_fit(form, stream, self._first + wanted, seed)
        self._warn_of_lost_components(fit)
        return self

    def _form(self) -> Form:
        return as_operator(self.operator, n_neighbors=10)

    def _mu(self) -> Array | None:
        """Return the scale given, or None for "auto"."""
        if not isinstance(self.mu, str):
            return as_mu(self.mu)
        if self.mu != "auto":
            raise parameter_error("mu", "'auto', a number or a vector", repr(self.mu))
        return None

    def _stream(
        self, X: Any, views: int, sample_weight: Any, groups: Any, seed: int, *, reset: bool = True
    ) -> Stream:
        if isinstance(X, Stream | DataLoader) or views == 2:
            stream = as_training_stream(X, views, sample_weight, groups, seed)
            if reset:
                self.n_features_in_ = stream.dimensions[0]
                set_names(self, stream.names[0])
            return stream
        X = as_numpy(X)
        shape = getattr(X, "shape", ())
        if len(shape) > 2:
            raise parameter_error("X", "an array (n, d)", f"shape {tuple(shape)}", FLATTEN)
        X = checked_rows(self, X, reset=reset, at_least=2)
        weight = None if sample_weight is None else checked_weights(sample_weight, X)
        return as_training_stream(X, 1, weight, groups, names=(names_of(self),))

    def _check_derivatives(self, module: Any, form: Form, stream: Stream, seed: int) -> None:
        """Evaluate the operator on a few rows; if it takes gradients, check and scale for them."""
        pilot = next(Minibatches(stream, MODULE_TRIAL_ROWS, 0.0, seed).epoch(0))
        jet = TensorJet(module.eval(), pilot.views[0])
        averages(form, jet, jet, pilot, 1)
        if not jet.took_gradients:
            return
        require_input_gradients(module, pilot.views[0], "module")
        if self.module is None:
            # Each of d columns has d derivatives at each row, so wide data need fewer rows.
            n = max(MODULE_TRIAL_ROWS, min(STANDARDIZED_ROWS, 150_000 // stream.dimensions[0]))
            rows = next(Minibatches(stream, n, 0.0, seed).epoch(0))
            equalize_energies(module[0], form, rows)

    def _warn_of_lost_components(self, fit: QuickFit) -> None:
        """Warn of components that were not found or are not below mu."""
        values, wanted = self.eigenvalues_, self.n_components
        sentences = []
        if len(values) < wanted:
            sentences.append(
                f"Only {len(values)} of {wanted} functions were found: the outputs of the module "
                "depend on each other, or some are constant. Check its first and last layers, or "
                f"pass n_components={max(len(values), 1)} and a module of as many outputs."
            )
        if not self.alive_.all():
            mu = np.broadcast_to(self.mu_, wanted)[: len(values)]
            reached = fit.eigenvalues(self._first + wanted)[self._first :]
            falling = still_falling(self.held_out_losses_, self.n_steps)
            sentences.append(lost_components(values, self.alive_, reached, mu, falling=falling))
        if sentences:
            warnings.warn(" ".join(sentences), RuntimeWarning, stacklevel=4)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the eigenfunctions (n, n_components) at points X (n, d)."""
        check_is_fitted(self, "spectrum_")
        X = checked_rows(self, as_numpy(X), reset=False)
        return np.asarray(self.spectrum_[self._first :].at_rows(X), dtype=X.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the loss of the eigenfunctions on samples, as in `fit`; higher is better.

        It is the loss of `SpectralEmbedding`: 2 / mu sum_j E_L(g_j) + |E[g g'] - I|^2 at
        g_j = sqrt((1 - lambda_j / mu)_+) f_j, with the constant where the operator kills it. If mu
        is "auto", it is 1.1 times the last eigenvalue of a fit to these rows with kernel sections,
        so that networks can be compared. Of a vector mu the largest number is used.
        """
        check_is_fitted(self, "spectrum_")
        form = self._form()
        stream = self._stream(X, form.views, sample_weight, None, 0, reset=False)
        require_columns(np.empty((0, stream.dimensions[0])), self.n_features_in_, "X")
        m = self._first + self.n_components
        auto = isinstance(self.mu, str)
        mu = auto_mu(form, stream, m, margin=REFERENCE_MARGIN) if auto else float(np.max(self.mu))
        functions = self.spectrum_[self._first :]
        basis = Centered(functions, np.zeros(len(functions)))
        found = assemble(form, basis, stream, n_folds=1, progress=False).mean()
        if not self._first:
            found = Matrices(*(A[1:, 1:] for A in (found.L, found.Phi, found.Psi)))
        # A function that was not found counts as zero, which costs one.
        lost = m - len(self.spectrum_.values)
        return -held_out_loss(found, self.spectrum_.values, mu) - lost
