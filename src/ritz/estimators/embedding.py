"""Spectral embedding with new points, eigenvalues, weights and any number of rows."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums
from ritz.assembly.assemble import REFERENCE_ROWS, assemble_samples
from ritz.bases import Basis
from ritz.devices import DeviceRows, require_same_device
from ritz.estimators.advice import (
    Reach,
    reach_of,
    warn_dependent_rows,
    warn_far_points,
    warn_unequal_columns,
)
from ritz.estimators.checks import (
    DeviceInputMixin,
    SparseInputMixin,
    checked_rows,
    evaluated,
    names_of,
    seed_of,
    set_names,
)
from ritz.estimators.fitting import (
    DEFAULTS,
    drop_sums,
    fitted_sums,
    fixed_state,
    forget_kernel,
    keeps_sums,
    unchanged_on_failure,
)
from ritz.estimators.functions import (
    as_n_functions,
    wanted_functions,
    with_basis_errors,
    without_constant,
)
from ritz.estimators.inputs import as_operator, rows_in_units, rows_of_fit
from ritz.estimators.saving import SavingMixin
from ritz.estimators.summary import Summary, embedding_summary
from ritz.estimators.units import UnitsMixin, warns_of_units
from ritz.estimators.writing import TransformToMixin
from ritz.forms import Form
from ritz.forms.neighbors import Neighbors
from ritz.namespaces import placed
from ritz.selection.candidates import as_regularization
from ritz.selection.rows import Rows, StreamRows, WeightedRows
from ritz.selection.score import held_out_loss, reference_mu, without_offset
from ritz.streams import ArrayStream, Samples, is_streamed
from ritz.streams.stream import Joined
from ritz.validation import as_contiguous, as_count, as_number, parameter_error

# Rows that `partial_fit` keeps before it fixes the basis: they decide length scale and centers.
BUFFERED_ROWS = 5000


def _adds_up(estimator: Any) -> bool:
    """Return whether sums over parts of the data add up, or raise an error that says why not."""
    form = estimator.operator
    # The method itself says what is wrong with an operator that is no form.
    if isinstance(form, Form) and form.needs_all_rows:
        raise AttributeError(f"{form} looks at all rows, so parts do not add up. Use fit instead.")
    return True


class SpectralEmbedding(
    UnitsMixin,
    SavingMixin,
    TransformToMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    DeviceInputMixin,
    SparseInputMixin,
    BaseEstimator,
):
    """Embed samples by the first eigenfunctions of an operator.

    The eigenfunctions are functions, which `transform` evaluates at any points; `eigenvalues_` are
    in the units of the operator. The constant is dropped.

    Parameters
    ----------
    n_components
        The number of eigenfunctions, or "auto": as many, up to 30, as two halves of the samples
        agree on.
    operator
        "laplacian"; "neighbors", the energy along nearest neighbors, for data near something of
        lower dimension; "auto", the Laplacian where the samples fill their space, else neighbors;
        or a form such as `ritz.laplacian(tangent="pca", dimension=2)`.
    scale
        "auto": columns in units of their standard deviations where the widest is more than 30 times
        as wide as the narrowest, unless `operator` is "laplacian" or a form, whose eigenvalues have
        units; "standard" for such units in any case; None for columns as they are.
    metric
        "euclidean", or "cosine", which divides rows by their lengths first: for counts of words and
        other rows of which only the direction counts. Then scale="auto" leaves columns as they are.
    kernel
        "auto", the best of "gaussian", "matern52" and "exponential"; one of these, "matern32",
        "rational_quadratic" or "polynomial"; or a kernel object.
    length_scale
        A number, one for each column, or "auto": multiples of the 10% quantile of distances
        between rows, and with up to ten columns one for each column, chosen such that functions
        found from some rows have little energy on others (see `selection_`). It is the quantile
        itself with a form that carries arrays for each row, and with fewer than 60 rows.
    n_centers
        The number p of kernel sections, or "auto": as many as the functions wanted need on a
        sample, at most 400, and more with more rows, up to 5 sqrt(n) for n distinct rows, 1,000,
        and n p^2 = 3e10. Along neighbors it is 20 sqrt(n), at most half of the rows, 2,000 and
        n p^2 = 3e10.
    basis
        Functions in place of kernel sections, such as `ritz.Monomials(3)`; kernel, length_scale
        and n_centers are not used then.
    regularization
        See `ritz.decompose`; "auto" chooses it together with the length scale. It is 1e-8 for a
        basis of your own.
    n_neighbors
        For operator="neighbors".
    diffusion_time
        The number t: functions are scaled by exp(-t lambda), so that distances between embedded
        points are diffusion distances. None leaves them at unit variance.
    mu
        The scale of eigenvalues in `score`, or "auto": a little above the 30th eigenvalue of a
        reference fit to the rows scored, which depends on no other parameter than the operator.
    n_folds
        The number of parts in which sums are kept, for error bars.
    random_state
        A seed, for the choice of centers.
    n_jobs
        The number of threads of a fit, by default one for each core.
    keep_sums
        Whether `fit` keeps the sums over its rows, two p by p matrices a fold, so that
        `partial_fit` can add to them. Sums of `partial_fit` are kept in any case.
    verbose
        True shows the progress of what takes long, False does not, and None does so on a terminal
        after two seconds.

    Attributes
    ----------
    eigenvalues_, eigenvalue_errors_
        Eigenvalues (n_components,) and their standard errors (None with too few rows). Where the
        basis has fewer functions on the samples there are as many, and a warning says so.
        Functions that belong to single rows are left out; where there are not enough others they
        come last, with a warning and a flag.
    operator_, scale_, units_
        The operator used, a form; the units (d,) that columns were divided by, or None; and the
        function that puts rows in these units and, with metric="cosine", at length 1.
    kernel_, length_scale_, n_centers_, regularization_
        The kernel, its length scale, the number of centers and the regularization used.
    selection_
        The `Selection`: all candidates with their scores; None where none were compared.
    spectrum_
        The `Spectrum`, the constant first: functions of units_(X). It prints operator and units.
    sums_
        The `Sums` that the spectrum was found from: after `partial_fit`, or with keep_sums=True.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(2000, random_state=0).X
    >>> embedding = ritz.SpectralEmbedding(n_components=2, random_state=0).fit(X[:1000])
    >>> embedding.transform(X[1000:]).shape
    (1000, 2)
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        operator: Any = "auto",
        scale: Any = "auto",
        metric: str = "euclidean",
        kernel: Any = "auto",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_neighbors: int = 15,
        diffusion_time: float | None = None,
        mu: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_sums: bool = False,
        verbose: bool | None = None,
    ) -> None:
        self.n_components = n_components
        self.operator = operator
        self.scale = scale
        self.metric = metric
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.diffusion_time = diffusion_time
        self.mu = mu
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_sums = keep_sums
        self.verbose = verbose

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Find the eigenfunctions from samples X (n, d), or from a stream.

        A stream is read twice, and again where `scale` changes the units of its columns.

        Rows that depend on each other, as those of a time series, need `groups` (n,): labels of
        pieces longer than its memory, or "auto" for one series in its order, whose memory is then
        estimated. Otherwise errors come out too small.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        seed = seed_of(fixed_state(self, checkpoint))
        data = rows_of_fit(self, X, sample_weight, seed, groups=groups)
        if groups is None:
            warn_dependent_rows(data)
        self._buffer: WeightedRows | None = None
        self._fit(data, seed, checkpoint)
        if warns_of_units(self):
            warn_unequal_columns(data, seed, names_of(self), "scale=None")
        self._reach: Reach | None = None
        if isinstance(data, WeightedRows):
            rows = self.units_(data.X)
            # Free the hashes of all rows first.
            del data
            self._reach = reach_of(self.spectrum_, rows)
        drop_sums(self)
        return self

    @unchanged_on_failure
    def fit_sums(self, sums: Sums) -> Self:
        """Find the eigenfunctions from sums computed elsewhere, by `ritz.assemble`.

        With metric="cosine" they are sums over rows of length 1.
        """
        if not isinstance(sums, Sums) or not sums.form.symmetric:
            what = "what ritz.assemble returns for a symmetric operator"
            got = f"sums of {sums.form}" if isinstance(sums, Sums) else type(sums).__name__
            raise parameter_error("sums", what, got, kind=TypeError)
        self._time()
        self._buffer, self.selection_ = None, None
        forget_kernel(self)
        self.operator_ = sums.form
        self.scale_ = None
        self.regularization_ = as_regularization(self.regularization, DEFAULTS.regularization)
        if sums.left.dimension is not None:
            self.n_features_in_ = sums.left.dimension
        set_names(self, sums.left.names)
        self._set(sums)
        drop_sums(self)
        return self

    @available_if(_adds_up)  # type: ignore[untyped-decorator]
    @unchanged_on_failure
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples (n, d) to those seen so far.

        The first rows are kept until there are enough to choose centers and length scale from
        (5,000, or twice the number of centers, or none for a basis that is fixed). "auto" is chosen
        from these rows alone, so set `n_centers` for a long stream. From then on only sums are
        kept, and they equal those of one `fit` to all rows with the same functions. As long as
        there are too few distinct rows for the functions, or for `n_neighbors` with
        operator="neighbors", the estimator is not fitted.
        """
        if not (isinstance(self.operator, str) and self.operator == "auto"):
            as_operator(self.operator, self.n_neighbors)
        fixed = as_regularization(self.regularization, DEFAULTS.regularization)
        keeps_sums(self)
        first = not hasattr(self, "_buffer")
        if not first and self._buffer is None and not hasattr(self, "sums_"):
            raise ValueError(
                "partial_fit adds to the sums of a fit, and this fit kept none. Pass "
                "keep_sums=True to the constructor before fit, or call partial_fit from the start."
            )
        seed = seed_of(self.random_state)
        data = rows_of_fit(self, X, sample_weight, seed, reset=first, at_least=1)
        before = None if first else self._buffer
        if not first and before is None:
            new = assemble_samples(
                self.sums_.form,
                self.sums_.left,
                self.units_.of(data).samples,
                n_folds=self.n_folds,
                first_row=self.sums_.n_rows,
                random_state=None,
                n_jobs=self.n_jobs,
            )
            if not isinstance(self.regularization, str):
                self.regularization_ = fixed
            return self._set(self.sums_ + new)
        if isinstance(data, StreamRows):
            if before is not None:
                if isinstance(before.X, DeviceRows):
                    require_same_device(X, before.X, "X")
                some = ArrayStream((before.X,), before.weight)
                data = replace(data, samples=Samples(Joined((some, data.samples.stream))))
            self._buffer = None
            return self._fit(data, seed)
        assert isinstance(data, WeightedRows)
        self._buffer = data if before is None else before + data
        is_auto = isinstance(self.n_components, str)
        too_few = 2 if is_auto else as_n_functions(self.n_components, "n_components") + 1
        if isinstance(self.operator, str) and self.operator == "neighbors":
            too_few = max(too_few, as_count(self.n_neighbors, "n_neighbors"))
        if self._buffer.n_distinct <= too_few:
            return self
        self._fit(self._buffer, seed)
        wanted = 0 if isinstance(self.n_centers, str) else 2 * int(self.n_centers)
        if isinstance(self.basis, Basis) or len(self._buffer) >= max(BUFFERED_ROWS, wanted):
            self._buffer = None
        return self

    def _fit(self, data: Rows, seed: int, checkpoint: Any = None) -> Self:
        self._time()
        n_components = as_n_functions(self.n_components, "n_components")
        data = rows_in_units(self, data, self.n_neighbors, DEFAULTS, seed)
        sums = fitted_sums(self, self.operator_, n_components, data, seed, checkpoint=checkpoint)
        return self._set(sums)

    def _set(self, sums: Sums) -> Self:
        as_n_functions(self.n_components, "n_components")
        spectrum = wanted_functions(
            sums, self.n_components, self.regularization_, "n_components", self.n_jobs, calls=4
        )
        self.spectrum_ = self.units_.named(with_basis_errors(spectrum, self.selection_))
        self.sums_, self._grouped = sums, sums.grouped
        self.eigenvalues_, self.eigenvalue_errors_ = without_constant(self.spectrum_)
        self.n_components_ = self._n_features_out = len(self.eigenvalues_)
        return self

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return embedding_summary(self)

    def transform(self, X: Any) -> Any:
        """Return the eigenfunctions (n, n_components) at points X (n, d), on their device.

        Those at the rows of a stream are an array in memory, too; `transform_to` writes a file.
        """
        check_is_fitted(self, "spectrum_")
        if is_streamed(X):
            return evaluated(self, X, self._transformed)
        X = checked_rows(self, X, reset=False)
        warn_far_points(self.units_(X), getattr(self, "_reach", None), self.spectrum_)
        return self._transformed(X)

    def _transformed(self, X: Any) -> Any:
        values = self.spectrum_[1:].at_rows(self.units_(X))
        scaled = values * placed(np.exp(-self._time() * self.eigenvalues_), values)
        if isinstance(X, DeviceRows):
            return X.returned(scaled)
        return np.asarray(scaled, dtype=X.dtype)

    def _time(self) -> float:
        what = "None or a nonnegative number"
        t = 0.0 if self.diffusion_time is None else self.diffusion_time
        return as_number(t, "diffusion_time", what, 0.0)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return how well the eigenfunctions do on samples X (n, d); higher is better.

        For m functions g_j = sqrt((1 - lambda_j / mu)_+) f_j, the constant among them, it is
        m - |E[g g'] - I|^2 - 2 / mu sum_j E_L(g_j). That is largest for the true eigenfunctions,
        sum_j (1 - lambda_j / mu)_+^2, and needs no truth. Functions that do not generalize lower
        it, so that fits of different n_components can be compared.
        """
        check_is_fitted(self, "spectrum_")
        data = rows_of_fit(self, X, sample_weight, 0, reset=False)
        data, form = self.units_.of(data), self.operator_
        if form.needs_reference:
            # One sample serves the reference fit and the loss.
            rows = data.sample(REFERENCE_ROWS, 0)
            if isinstance(form, Neighbors):
                # As in a fit to few rows, at most half of the others are neighbors.
                few = max(1, (rows.n_distinct - 1) // 2)
                form = replace(form, n_neighbors=min(form.n_neighbors, few))
            form = form.prepare(as_contiguous(rows.X), rows.weight, self.n_jobs)
        if isinstance(self.mu, str):
            if self.mu != "auto":
                raise parameter_error("mu", "'auto' or a positive number", repr(self.mu))
            mu = reference_mu(form, data, self.n_jobs)
        else:
            mu = as_number(self.mu, "mu", "'auto' or a positive number", np.finfo(float).tiny)
        functions = without_offset(self.spectrum_[1:])
        sums = assemble_samples(
            form, functions, data.samples, n_folds=1, random_state=0, n_jobs=self.n_jobs
        )
        return len(self.spectrum_) - held_out_loss(sums.mean(), self.spectrum_.values, mu)
