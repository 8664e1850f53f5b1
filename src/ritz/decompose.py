"""From samples to a spectrum in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.assembly import assemble
from ritz.forms import Form
from ritz.forms.form import require_form
from ritz.selection.candidates import complete_basis, lacks_centers
from ritz.spectrum import SingularSpectrum, Spectrum, decompose_sums
from ritz.streams import as_stream
from ritz.validation import as_count


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
        functions of an operator that is not symmetric. With `ritz.Nystrom(kernel)` the number of
        centers follows from the number of rows.
    X
        The samples (n, d), a pair of arrays for operators on pairs, or a stream.
    k
        The number of eigenvalues, that of the constant included.
    regularization
        The number gamma. The penalty gamma (tr L / tr G) G is added to L, where G is the Gram
        matrix of the basis, k(y_i, y_j) for kernel sections; the constant is not penalized. If the
        operator is not symmetric, such penalties are added to Phi and Psi instead. The problem
        without the penalty is then solved in the span of the k functions found, which removes most
        of the bias.
    sample_weight, groups, n_folds, random_state, n_jobs, progress
        As in `ritz.assemble`.

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
    if lacks_centers(basis):
        stream = as_stream(X, form.views, sample_weight, groups)
        n_rows = stream.n_rows
        if n_rows is None:
            n_rows = sum(map(len, stream.blocks()))
        basis = complete_basis(basis, n_rows)
    sums = assemble(
        form,
        basis,
        X,
        sample_weight=sample_weight,
        groups=groups,
        n_folds=n_folds,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    return decompose_sums(sums, k, regularization=regularization)
