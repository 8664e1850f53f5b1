"""From samples to a spectrum in one call."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from ritz.assembly.assemble import assemble_samples
from ritz.forms import Form
from ritz.forms.form import require_form
from ritz.rows import as_generator
from ritz.selection.candidates import is_incomplete
from ritz.selection.choice import completed
from ritz.selection.select import rows_of
from ritz.spectrum import SingularSpectrum, Spectrum, decompose_sums
from ritz.streams import Samples, as_stream
from ritz.validation import as_count, as_number


def decompose(
    form: Form,
    basis: Any,
    X: Any,
    k: int = 16,
    *,
    regularization: float = 0.0,
    sample_weight: Any = None,
    groups: Any = None,
    n_folds: int = 8,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Spectrum | SingularSpectrum:
    """Find the spectrum of an operator from samples.

    The operator is restricted to the span of a basis and the function 1, its matrices are
    estimated as averages over the samples, and a small eigenvalue problem is solved. Returns a
    `Spectrum` for symmetric operators, its eigenvalues ascending, and a `SingularSpectrum` for
    the others.

    Parameters
    ----------
    form
        The operator, such as `ritz.laplacian()`.
    basis
        The functions, such as `ritz.Nystrom(kernel, 200)`; a pair of them for the left and right
        functions of an operator that is not symmetric. `ritz.Nystrom(kernel)` leaves the number of
        centers to be chosen, and `ritz.Gaussian("auto")` the length scale, as `ritz.select` does.
    X
        The samples (n, d), a pair of arrays for operators on pairs, or a stream.
    k
        The number of eigenvalues, that of the constant included.
    regularization
        The number gamma. The penalty gamma (tr L / tr G) G is added to L, where G is the Gram
        matrix of the basis, k(y_i, y_j) for kernel sections; the constant is not penalized. If the
        operator is not symmetric, such penalties are added to Phi and Psi instead. The problem
        without the penalty is then solved in the span of the functions found, twice k of them if
        it is symmetric, which removes most of the bias.
    sample_weight, groups, n_folds, random_state, n_jobs, progress, checkpoint
        As in `ritz.assemble`; with a checkpoint and without a random_state the seed is 0.

    Examples
    --------
    Standard normal samples have the spectrum 0, 1, 2, ...:

    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).normal(size=(100_000, 1))
    >>> spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(4), X, k=3)
    >>> np.round(spectrum.values, 1) + 0.0
    array([0., 1., 2.])
    """
    require_form(form)
    k = as_count(k, "k")
    if checkpoint is not None and random_state is None:
        # The next call must choose the same functions.
        random_state = 0
    samples = Samples(as_stream(X, form.views, sample_weight, groups))
    if is_incomplete(basis):
        random_state = as_generator(random_state)
        seed = int(random_state.integers(2**31))
        penalty = as_number(regularization, "regularization", "a nonnegative number", 0.0)

        def complete(recipe: Any, view: int) -> Any:
            data = rows_of(samples, seed, view)
            return completed(form, recipe, data, max(1, k - 1), penalty, seed=seed, n_jobs=n_jobs)

        if form.two_sided:
            sides = basis if isinstance(basis, tuple | list) else (basis, basis)
            basis = tuple(complete(side, view) for view, side in enumerate(sides))
        else:
            basis = complete(basis, 0)
    sums = assemble_samples(
        form,
        basis,
        samples,
        n_folds=n_folds,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=checkpoint,
    )
    return decompose_sums(sums, k, regularization=regularization, n_jobs=n_jobs)
