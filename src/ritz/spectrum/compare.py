"""Whether two spectra are the same within their errors, and by which modes they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtr

from ritz.spectrum.comparison import Comparison
from ritz.spectrum.held_out import FEWEST_FOLDS
from ritz.spectrum.spectrum import Levels, SingularSpectrum, Spectrum
from ritz.validation import MOST_FOLDS, Array, as_count, as_number, parameter_error

# Numbers that agree up to this share of the largest value are equal up to rounding.
ROUNDING = 1e-8
# The number of folds where a spectrum does not say it: that of all fits by default.
DEFAULT_FOLDS = 8


def compare(
    spectrum_a: Spectrum | SingularSpectrum,
    spectrum_b: Spectrum | SingularSpectrum,
    X: Any = None,
    *,
    alpha: float = 0.05,
    n_folds: int | None = None,
) -> Comparison:
    """Test whether two spectra from independent samples are the same, and find modes that differ.

    For each mode t = (a - b) / sqrt(e_a^2 + e_b^2) is compared with Student's law, whose degrees
    of freedom are Welch's: (e_a^2 + e_b^2)^2 / (e_a^4 / (m_a - 1) + e_b^4 / (m_b - 1)) for errors
    from m_a and m_b folds. Holm's method adjusts the p-values for the number of modes. Values that
    either spectrum puts in one group are compared by their mean. Exact values, such as that of the
    constant, modes that are flagged in either spectrum and groups that go on beyond its last value
    are left out.

    Parameters
    ----------
    spectrum_a, spectrum_b
        Spectra of the same operator; of different numbers of values the first ones are compared.
    X
        Points (n, d) on which to compare the functions too, a pair of arrays for singular spectra;
        None for values alone.
    alpha
        The probability with which spectra of one law are called different.
    n_folds
        The number of folds that the errors come from; by default that of the spectra, or 8 for
        files of earlier versions, which do not say it.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> narrow, wide = rng.normal(size=(2_000, 1)), 2 * rng.normal(size=(2_000, 1))
    >>> first, second = (
    ...     ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, k=2) for X in (narrow, wide)
    ... )
    >>> found = ritz.compare(first, second)
    >>> found.same, found.differ, np.round(found.values_a / found.values_b)
    (False, array([1]), array([4.]))
    >>> ritz.compare(first, first).p_value
    1.0
    """
    require_comparable(spectrum_a, spectrum_b)
    alpha = as_number(alpha, "alpha", "a number between 0 and 1")
    if not 0 < alpha < 1:
        raise parameter_error("alpha", "a number between 0 and 1", alpha)
    what = f"an integer of at least {FEWEST_FOLDS}, as errors need as many folds,"
    if n_folds is not None:
        n_folds = as_count(n_folds, "n_folds", what, FEWEST_FOLDS, MOST_FOLDS)
    pair = spectrum_a, spectrum_b
    folds = [folds_of(levels) if n_folds is None else n_folds for levels in pair]
    k = min(len(levels.values) for levels in pair)
    left_out = modes_left_out(spectrum_a, spectrum_b, k)
    parts = joint_groups(spectrum_a, spectrum_b, k)
    for part in parts:
        if any(is_cut(levels, part, k) for levels in pair):
            left_out |= {mode: "more of its group follow" for mode in part if mode not in left_out}
    left_out = dict(sorted(left_out.items()))
    parts = [kept for part in parts if (kept := [mode for mode in part if mode not in left_out])]
    if not parts:
        what = "a spectrum with a mode to compare, neither exact nor flagged"
        raise parameter_error("spectrum_b", what, f"none among the first {k}")
    values_a, values_b, errors_a, errors_b = (
        np.array([mean_of(levels, name, part) for part in parts])
        for name in ("values", "errors")
        for levels in pair
    )
    basis = basis_differences(spectrum_a, spectrum_b, values_a > values_b, parts)
    distances = np.abs(values_a - values_b)
    p_values = welch(distances, errors_a, errors_b, folds)
    adjusted = holm(p_values)
    without_basis = holm(welch(np.maximum(distances - basis, 0), errors_a, errors_b, folds))
    sizes = [len(part) for part in parts]
    overlaps = None if X is None else function_overlaps(spectrum_a, spectrum_b, X, parts)
    # The groups of a sliced spectrum need not be runs.
    modes = np.concatenate(parts)
    order = np.argsort(modes)
    groups = np.repeat(np.arange(len(parts)), sizes)[order]
    return Comparison(
        modes=modes[order],
        groups=groups,
        values_a=values_a[groups],
        values_b=values_b[groups],
        errors_a=errors_a[groups],
        errors_b=errors_b[groups],
        p_values=p_values[groups],
        adjusted=adjusted[groups],
        may_be_basis=((adjusted <= alpha) & (without_basis > alpha))[groups],
        overlaps=None if overlaps is None else overlaps[groups],
        left_out=left_out,
        sizes=(len(spectrum_a.values), len(spectrum_b.values)),
        n_rows=(spectrum_a.n_rows, spectrum_b.n_rows),
        operator=spectrum_a.operator,
        alpha=alpha,
    )


def require_comparable(a: Any, b: Any) -> None:
    """Raise unless both are spectra of one kind and one operator, with errors."""
    for name, levels in (("spectrum_a", a), ("spectrum_b", b)):
        if not isinstance(levels, Spectrum | SingularSpectrum):
            what = "a Spectrum or a SingularSpectrum"
            remedy = "Pass its `spectrum_`." if hasattr(levels, "spectrum_") else ""
            raise parameter_error(name, what, type(levels).__name__, remedy, kind=TypeError)
        if levels.errors is None:
            remedy = f"Decompose with at least {FEWEST_FOLDS} folds, and more rows if need be."
            raise parameter_error(name, "a spectrum with errors", "one without", remedy)
    if isinstance(a, Spectrum) != isinstance(b, Spectrum):
        what, got = (f"a {type(levels).__name__}" for levels in (a, b))
        raise parameter_error("spectrum_b", f"{what}, as spectrum_a", got, kind=TypeError)
    if a.operator != b.operator:
        what = f"a spectrum of {a.operator}, as spectrum_a"
        raise parameter_error("spectrum_b", what, f"one of {b.operator}")


def modes_left_out(a: Levels, b: Levels, k: int) -> dict[int, str]:
    """Return those of the first k modes that cannot be compared, each with the reason."""
    assert a.errors is not None
    assert b.errors is not None
    scale = max(np.abs(a.values[:k]).max(initial=0), np.abs(b.values[:k]).max(initial=0))
    distances = np.abs(a.values[:k] - b.values[:k])
    reasons = {}
    for mode in range(k):
        flags = [levels.flags[mode] for levels in (a, b) if levels.flags is not None]
        if any(flags):
            # Both may have the same flag.
            reasons[mode] = ", ".join(dict.fromkeys(filter(None, flags)))
        elif a.errors[mode] == b.errors[mode] == 0 and distances[mode] <= ROUNDING * scale:
            # Exact values that differ are left in: their difference is certain.
            reasons[mode] = "exact"
    return reasons


def joint_groups(a: Levels, b: Levels, k: int) -> list[list[int]]:
    """Return the first k modes, joined where a spectrum groups them.

    Where one spectrum tells two values apart and the other does not, their means are compared.
    """
    same = [levels.groups[:k, None] == levels.groups[:k] for levels in (a, b)]
    n_parts, part_of = connected_components(same[0] | same[1])
    return sorted(np.flatnonzero(part_of == part).tolist() for part in range(n_parts))


def is_cut(levels: Levels, part: list[int], k: int) -> bool:
    """Return whether a group of some modes has members beyond the first k, which its mean counts.

    The other spectrum may have no such group, and its values must not be compared with that mean.
    """
    if levels.group_sizes is None:
        return False
    groups = levels.groups[:k]
    return any((groups == groups[mode]).sum() < levels.group_sizes[mode] for mode in part)


def mean_of(levels: Levels, name: str, part: list[int]) -> float:
    """Return the mean `values` or `errors` of some modes.

    The error of a mean is at most the mean of the errors, and equal to it within a group.
    """
    return float(getattr(levels, name)[part].mean())


def basis_differences(
    a: Levels, b: Levels, larger: NDArray[np.bool_], parts: list[list[int]]
) -> Array:
    """Return by how much (m,) more functions may move the values towards each other.

    Eigenvalues become smaller with more functions, so the larger of two comes closer to the
    smaller one; correlations become larger.
    """

    def errors(levels: Levels) -> Array:
        if levels.basis_errors is None:
            return np.zeros(len(parts))
        return np.array([levels.basis_errors[part].mean() for part in parts])

    falling = isinstance(a, Spectrum) or bool(a.values[0] < a.values[-1])
    return np.where(larger == falling, errors(a), errors(b))


def folds_of(levels: Levels) -> int:
    """Return the number of folds that the errors of a spectrum come from."""
    return DEFAULT_FOLDS if levels.folds is None else len(levels.folds.weight)


def welch(distances: Array, errors_a: Array, errors_b: Array, folds: Sequence[int]) -> Array:
    """Return two-sided p-values (m,) of distances between means of some numbers of folds."""
    errors = np.hypot(errors_a, errors_b)
    unit = np.where(errors > 0, errors, 1.0)
    share_a, share_b = (errors_a / unit) ** 2, (errors_b / unit) ** 2
    shares = share_a**2 / (folds[0] - 1) + share_b**2 / (folds[1] - 1)
    degrees = 1 / np.where(errors > 0, shares, 1.0)
    with np.errstate(over="ignore"):
        t = np.where(errors > 0, distances / unit, np.inf)
    return np.where(distances > 0, 2 * stdtr(degrees, -t), 1.0)


def holm(p_values: Array) -> Array:
    """Return p-values (m,) adjusted by Holm's method for their number."""
    order = np.argsort(p_values)
    m = len(p_values)
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate((m - np.arange(m)) * p_values[order])
    return np.minimum(adjusted, 1.0)


def function_overlaps(
    a: Spectrum | SingularSpectrum, b: Spectrum | SingularSpectrum, X: Any, parts: list[list[int]]
) -> Array:
    """Return cosines (m,) of the largest angle between spans of functions on points.

    Of singular functions it is the smaller one of both sides.
    """
    sides: list[tuple[Array, Array]]
    if isinstance(a, Spectrum) and isinstance(b, Spectrum):
        sides = [(a(X), b(X))]
    else:
        assert isinstance(a, SingularSpectrum)
        assert isinstance(b, SingularSpectrum)
        if not isinstance(X, tuple | list) or len(X) != 2:
            what = "a pair of arrays, for left and right functions"
            raise parameter_error("X", what, type(X).__name__, kind=TypeError)
        sides = list(zip(a(*X), b(*X), strict=True))
    cosines = np.ones(len(parts))
    for F, G in sides:
        for j, part in enumerate(parts):
            A, B = orthonormal(F[:, part]), orthonormal(G[:, part])
            cosines[j] = min(cosines[j], np.linalg.svd(A.T @ B, compute_uv=False)[-1])
    return cosines


def orthonormal(F: Array) -> Array:
    """Return an orthonormal basis (n, m) of the columns of F."""
    n, m = F.shape
    if n <= m:
        raise parameter_error("X", f"more than {m} rows, to compare {m} functions", f"{n} rows")
    # Division by the largest entry prevents overflow of squares.
    largest = np.abs(F).max(axis=0)
    U, sizes, _ = np.linalg.svd(F / np.where(largest > 0, largest, 1.0), full_matrices=False)
    if sizes[-1] <= n * np.finfo(np.float64).eps * sizes[0]:
        raise parameter_error("X", "rows on which the functions are independent", f"{n} others")
    return np.asarray(U)
