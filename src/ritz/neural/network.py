"""A network for the first eigenfunctions of an operator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.utils.data import DataLoader

from ritz.arrays import as_count, must, require_columns
from ritz.assembly import Matrices, Sums, assemble
from ritz.bases import Centered
from ritz.estimators.scoring import REFERENCE_MARGIN, held_out_loss
from ritz.forms import Form
from ritz.neural.averages import averages
from ritz.neural.base import PILOT_ROWS, SCALE_ROWS, NetworkEstimator, require_slopes
from ritz.neural.batches import Minibatches, as_rows_of
from ritz.neural.jet import TensorJet
from ritz.neural.module import Network
from ritz.neural.mu import auto_mu, kernel_sums, kernel_values, kills_one, scale_of
from ritz.neural.objectives import SpectralLoss, require_averages
from ritz.neural.scale import balance
from ritz.neural.verdict import still_falling, verdict
from ritz.spectrum import Spectrum, decompose_sums
from ritz.streams import Stream

# Rows times columns that say how large a column's energy is; each has a derivative in every other.
BALANCED = 150_000


class SpectralNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NetworkEstimator):
    """Learn the first eigenfunctions of an operator by a network.

    The module is trained on 2 / mu sum_j E_L(f_j) + R(f), whose minimum spans the eigenfunctions;
    then the operator is restricted to its outputs and the constant, over all rows (Rayleigh-Ritz),
    so that eigenvalues are ordered, in the operator's units and with error bars.

    Parameters
    ----------
    module
        A torch module from rows (b, d) to (b, n_components), which is copied; a function that
        makes one, called with torch seeded; or None for two hidden layers of 128 units. The
        rows go to a module as they are; to the one that is None standardized, or where the operator
        takes derivatives all columns in the units in which they have the same energy.
    operator
        A symmetric form, or "laplacian", or "neighbors".
    n_components
        The number of functions, the constant not counted where the operator kills it.
    mu
        The scale of eigenvalues: those above it are not learned. A number, an increasing vector, or
        "auto": three times the last eigenvalue of a fit with kernel sections.
    regularizer
        "contrastive", "whitening" or "variance_covariance".
    n_directions
        With a number r, gradients in training are taken along r random directions a row; useful in
        many dimensions. The final solve takes all of them.
    n_steps, batch_size, learning_rate
        The number of batches at most, their rows, and the rate that Adam starts with.
    optimizer
        A function of parameters that returns a torch optimizer, in place of Adam.
    schedule
        The factor of the learning rate at a progress between 0 and 1; by default a half cosine.
    validation_fraction, evaluate_every, patience
        The share of rows held out, the steps between two looks at the loss on them, and how many
        looks without improvement end the training (None: none do). The best state is kept. With
        "neighbors", training sees held-out rows where they are neighbors of others.
    checkpoint, resume
        A file that the state of training is written to at each look, and whether to go on from it
        where it is there. The result is that of a training that was never interrupted. A file of
        another operator (by name), scale, regularizer, seed, batch size or share is refused.
    n_folds
        In how many parts the final sums are kept, for error bars.
    random_state
        A seed. The same one gives the same result to the last bit on the same processors; with a
        `DataLoader` as long as torch's own generator decides what it yields, and not another one
        that it was given, or NumPy's in its dataset.
    progress
        Whether to show a progress bar; by default on a terminal.

    Attributes
    ----------
    eigenvalues_, eigenvalue_errors_
        Eigenvalues and their standard errors, the constant's 0 left out. Errors are those of
        sampling, with the functions learned taken as given.
    spectrum_
        The `Spectrum`, the constant first.
    sums_
        The `Sums` it was found from.
    module_
        The trained module.
    mu_
        The scale used.
    alive_
        Which of the eigenvalues are below it. A warning says whether the others died, mu being too
        small for them, or were not learned.
    losses_, held_out_losses_, n_steps_, best_step_
        The loss of each step, pairs of a step and the loss on held-out rows, how many steps there
        were, and the step of the state that was kept.

    Examples
    --------
    >>> import ritz
    >>> from ritz.neural import SpectralNetwork
    >>> X = ritz.datasets.half_moons(2000, random_state=0).X
    >>> model = SpectralNetwork(n_components=2, n_steps=50, random_state=0).fit(X)
    >>> model.transform(X[:10]).shape
    (10, 2)
    """

    n_neighbors = 10

    def __init__(
        self,
        module: Any = None,
        operator: Any = "laplacian",
        n_components: int = 2,
        *,
        mu: Any = "auto",
        regularizer: Any = "contrastive",
        n_directions: int | None = None,
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
        self.module = module
        self.operator = operator
        self.n_components = n_components
        self.mu = mu
        self.regularizer = regularizer
        self.n_directions = n_directions
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
        """Learn from samples X (n, d): an array, a tensor, a `DataLoader` or a stream.

        For operators on pairs, a pair of arrays, or a loader or stream of pairs. Rows that depend
        on each other need `groups` (n,), labels of pieces longer than their memory.
        """
        form = self._form()
        require_averages(form)
        if not form.symmetric:
            remedy = "ritz.neural.SingularNetwork learns what two views share."
            raise ValueError(must("operator", "symmetric", form, remedy))
        seed = self._seed()
        stream = self._stream(X, form.views, sample_weight, groups, seed)
        modules = self._modules([("module", self.module)], stream, seed)
        prepared = form.prepare(stream, seed)
        mu = SpectralLoss(form, 1.0 if isinstance(self.mu, str) else self.mu).mu
        pilot = next(Minibatches(stream, PILOT_ROWS, 0.0, seed).epoch(0))
        jet = TensorJet(modules.eval()[0], pilot.views[0])
        averages(prepared, jet, jet, pilot, 1)
        if any(name in jet.__dict__ for name in ("jacobian", "gradient")):
            require_slopes(modules[0], pilot.views[0], "module")
            if self.module is None:
                few = max(PILOT_ROWS, min(SCALE_ROWS, BALANCED // stream.dimensions[0]))
                balance(modules[0][0], prepared, next(Minibatches(stream, few, 0.0, seed).epoch(0)))
        wanted = as_count(self.n_components, "n_components")
        auto = isinstance(self.mu, str)
        if auto and self.mu != "auto":
            raise ValueError(must("mu", "'auto', a number or a vector", repr(self.mu)))
        # Few rows may matter to the function 1, so all of them say what becomes of it.
        sums = kernel_sums(form, stream, 1 + wanted if auto else 0, seed)
        constant = kills_one(sums)
        wanted += constant
        if auto:
            mu = np.asarray(scale_of(sums, wanted))
        loss = SpectralLoss(
            prepared, mu, self.regularizer, n_directions=self.n_directions, kills_one=constant
        )
        self._train(modules, loss, stream, seed)
        self.module_ = modules[0]
        self.mu_ = mu if mu.ndim else float(mu)
        self.sums_ = assemble(
            form,
            Network(self.module_),
            stream,
            n_folds=self.n_folds,
            random_state=seed,
            progress=self.progress,
        )
        found = decompose_sums(self.sums_, wanted, fewer=True)
        assert isinstance(found, Spectrum)
        self.spectrum_ = found
        self._first = int(constant)
        self.eigenvalues_ = found.values[self._first :]
        self.eigenvalue_errors_ = None if found.errors is None else found.errors[self._first :]
        self._n_features_out = len(self.eigenvalues_)
        self._report(form, stream, sums if auto else None, seed)
        return self

    def _stream(
        self, X: Any, views: int, sample_weight: Any, groups: Any, seed: int, *, reset: bool = True
    ) -> Stream:
        if isinstance(X, Stream | DataLoader) or views == 2:
            stream = as_rows_of(X, views, sample_weight, groups, seed)
            if reset:
                self.n_features_in_ = stream.dimensions[0]
            return stream
        X = X.detach().cpu().numpy() if isinstance(X, Tensor) else X
        shape = getattr(X, "shape", ())
        if len(shape) > 2:
            remedy = "Flatten images, and let the module begin with nn.Unflatten(1, (c, h, w))."
            raise ValueError(must("X", "an array (n, d)", f"shape {tuple(shape)}", remedy))
        X = self._checked(X, reset=reset, at_least=2)
        weight = None if sample_weight is None else self._weights(sample_weight, X)
        return as_rows_of(X, 1, weight, groups)

    def _report(self, form: Form, stream: Stream, sums: Sums | None, seed: int) -> None:
        """Note which components the loss let live, and warn of those that are lost."""
        values, wanted = self.eigenvalues_, self.n_components
        mu = np.broadcast_to(self.mu_, wanted)[: len(values)]
        # The hinge of VICReg lets every component live.
        hinged = self.regularizer == "variance_covariance"
        self.alive_ = np.full(len(values), True) if hinged else values < mu
        told = []
        if len(values) < wanted:
            told.append(
                f"Only {len(values)} of {wanted} functions were found: the outputs of the module "
                "depend on each other, or some are constant. Look at how it starts and ends, or "
                f"pass n_components={max(len(values), 1)} and a module of as many outputs."
            )
        if not self.alive_.all():
            sums = kernel_sums(form, stream, self._first + wanted, seed) if sums is None else sums
            reached = kernel_values(sums, self._first + wanted)[self._first :]
            falling = still_falling(self.held_out_losses_, self.n_steps)
            told.append(verdict(values, self.alive_, reached, mu, falling=falling))
        if told:
            warnings.warn(" ".join(told), RuntimeWarning, stacklevel=3)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the eigenfunctions (n, n_components) at points X (n, d)."""
        check_is_fitted(self, "spectrum_")
        X = self._checked(X.detach().cpu().numpy() if isinstance(X, Tensor) else X, reset=False)
        return np.asarray(self.spectrum_[self._first :](X), dtype=X.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the loss of the eigenfunctions on samples, as in `fit`; higher is better.

        The loss 2 / mu sum_j E_L(g_j) + |E[g g'] - I|^2 is taken at g_j = sqrt((1 - lambda_j /
        mu)_+) f_j, the constant among them where the operator kills it, as by `SpectralEmbedding`:
        with mu "auto" a little above the last eigenvalue of a fit to these rows with kernel
        sections, so that networks can be compared. Of a vector the largest counts.
        """
        check_is_fitted(self, "spectrum_")
        form, columns = self._form(), self.n_features_in_
        stream = self._stream(X, form.views, sample_weight, None, 0, reset=False)
        require_columns(np.empty((0, stream.dimensions[0])), columns, "X")
        m = self._first + self.n_components
        auto = isinstance(self.mu, str)
        mu = auto_mu(form, stream, m, margin=REFERENCE_MARGIN) if auto else float(np.max(self.mu))
        functions = self.spectrum_[self._first :]
        found = assemble(
            form, Centered(functions, np.zeros(len(functions))), stream, n_folds=1, progress=False
        ).mean()
        if not self._first:
            found = Matrices(*(A[1:, 1:] for A in (found.L, found.Phi, found.Psi)))
        # A function that was not found is as good as zero, which costs one.
        lost = m - len(self.spectrum_.values)
        return -held_out_loss(found, self.spectrum_.values, mu) - lost
