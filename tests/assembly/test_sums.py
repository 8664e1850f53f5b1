"""Sums: chunked equals whole, whatever the order, the threads and the container; they add."""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pytest

import ritz
from ritz.bases import Centered
from ritz.rows import hash_rows

N, D = 1501, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X + 0.5 * RNG.normal(size=(N, D))
V = RNG.uniform(size=N)
U = RNG.normal(size=(N, D))

GAUSSIAN = ritz.Nystrom(ritz.Gaussian(1.5), 30)
BASES = {
    "gaussian": GAUSSIAN,
    "exponential": ritz.Nystrom(ritz.Exponential(1.5), 30),
    "wide": ritz.Nystrom(ritz.Gaussian(50.0), 30),
    "ard": ritz.Nystrom(ritz.Matern(1.5, [1.0, 2.0, 3.0]), 30),
    "polynomial": ritz.Nystrom(ritz.Polynomial(2), 30),
    "kmeans++": ritz.Nystrom(ritz.Gaussian(1.5), 30, "kmeans++"),
    "rpcholesky": ritz.Nystrom(ritz.Gaussian(1.5), 30, "rpcholesky"),
    "fourier": ritz.RandomFourier(ritz.Gaussian(1.5), 30),
    "monomials": ritz.Monomials(2),
    "stack": ritz.Stack(ritz.Monomials(1), ritz.Nystrom(ritz.Gaussian(1.0), 10)),
}
FORMS = {
    "laplacian": ritz.laplacian(),
    "pca": ritz.laplacian("pca", dimension=2),
    "density": ritz.laplacian(density_correction=1.0),
    "diffusion": ritz.diffusion(lambda x: 1 + x**2),
    "potential": ritz.laplacian() + ritz.potential(V),
    "directional": ritz.directional(U),
    "differential": ritz.differential({((0, 0, 0), (1, 0, 0)): 1.0, ((0, 1, 0), (0, 0, 0)): 2.0}),
    "pairs": ritz.pairs(),
    "cross": ritz.cross(),
}


def data_of(form, rows=slice(None)):
    return (X[rows], Y[rows]) if form.views == 2 else X[rows]


def assemble(form, basis, data, **options):
    return ritz.assemble(form, basis, data, random_state=0, **options)


def assert_same(a, b, rtol=1e-12):
    """Both sums agree, to rounding in units of each matrix's largest entry."""
    np.testing.assert_array_equal(a.count, b.count)
    np.testing.assert_allclose(a.weight, b.weight, rtol=rtol)
    for name in ("L", "Phi", "Psi"):
        left, right = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(left, right, rtol=0, atol=rtol * np.abs(right).max())


def rounding(basis):
    """A wide kernel's functions are mixed until all have unit size, and their rounding too."""
    return 1e-9 if basis == "wide" else 1e-12


def assert_identical(a, b):
    for name in ("count", "weight", "L", "Phi", "Psi"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def cut(data, sizes):
    """Cut rows into batches of the given sizes, the last taking the rest."""
    ends = np.cumsum(sizes)
    if isinstance(data, tuple):
        return list(zip(*(np.split(view, ends) for view in data), strict=True))
    return np.split(data, ends)


# Chunked equals whole

SIZES = {
    "odd sizes": [1, 7, 500, 3],
    "empty ones": [0, 0, 700, 0, 11, 0],
    "rows one by one": [1] * 40,
    "an empty end": [700, N - 700],
}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("basis", BASES)
def test_batches_give_the_sums_of_the_whole(basis, sizes):
    whole = assemble(ritz.laplacian(), BASES[basis], X)
    batches = ritz.Batches(cut(X, SIZES[sizes]))
    assert_same(assemble(ritz.laplacian(), BASES[basis], batches), whole, rounding(basis))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_sums_of_the_whole(form):
    form = FORMS[form]
    batches = ritz.Batches(cut(data_of(form), SIZES["odd sizes"]), views=form.views)
    assert_same(assemble(form, GAUSSIAN, batches), assemble(form, GAUSSIAN, data_of(form)), 1e-11)


def test_batches_carry_weights():
    weight = V
    ends = [5, 600, 601]
    items = list(zip(np.split(X, ends), np.split(weight, ends), strict=True))
    batches = ritz.Batches(items, weighted=True)
    whole = assemble(ritz.laplacian(), GAUSSIAN, X, sample_weight=weight)
    assert_same(assemble(ritz.laplacian(), GAUSSIAN, batches), whole)


def test_batches_from_a_function_are_read_anew_each_time():
    batches = ritz.Batches(lambda: (X[start : start + 100] for start in range(0, N, 100)))
    assert_same(
        assemble(ritz.laplacian(), GAUSSIAN, batches), assemble(ritz.laplacian(), GAUSSIAN, X)
    )


@pytest.mark.parametrize("density_correction", [0.5, 1.0])
def test_the_subsample_for_the_density_does_not_depend_on_the_stream(density_correction):
    # More rows than the 2,000 that the estimate takes.
    rows = np.random.default_rng(1).normal(size=(6000, 1))
    form = ritz.laplacian(density_correction=density_correction)
    whole = assemble(form, ritz.Monomials(2), rows)
    batches = ritz.Batches(np.array_split(rows, 7))
    assert_same(assemble(form, ritz.Monomials(2), batches), whole)


# Order, threads


@pytest.mark.parametrize("form", ["laplacian", "density", "pca", "pairs", "cross"])
def test_the_order_of_rows_does_not_matter(form):
    form, basis = FORMS[form], BASES["exponential"]
    whole = assemble(form, basis, data_of(form))
    order = np.random.default_rng(3).permutation(N)
    assert_same(assemble(form, basis, data_of(form, order)), whole, 1e-11)
    order = np.argsort(X[:, 0])
    assert_same(assemble(form, basis, data_of(form, order)), whole, 1e-11)


@pytest.mark.parametrize("basis", ["gaussian", "exponential", "fourier", "monomials"])
@pytest.mark.parametrize("form", ["laplacian", "potential", "cross"])
def test_threads_do_not_change_a_bit(form, basis):
    form, basis = FORMS[form], BASES[basis]
    one = assemble(form, basis, data_of(form), n_jobs=1)
    for n_jobs in (2, 3, None):
        assert_identical(assemble(form, basis, data_of(form), n_jobs=n_jobs), one)


def test_a_seed_fixes_every_bit_and_another_seed_other_centers():
    a, b = (ritz.assemble(ritz.laplacian(), GAUSSIAN, X, random_state=7) for _ in range(2))
    assert_identical(a, b)
    c = ritz.assemble(ritz.laplacian(), GAUSSIAN, X, random_state=8)
    assert not np.array_equal(a.left.basis.centers, c.left.basis.centers)


# Containers


@dataclass
class Frame:
    """What NumPy can read as an array, as it reads data frames."""

    array: np.ndarray

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


def spread_out(array):
    wide = np.full((2 * len(array), 2 * array.shape[1]), np.nan)
    wide[::2, ::2] = array
    return wide[::2, ::2]


CONTAINERS = {
    "list": lambda a: a.tolist(),
    "fortran": np.asfortranarray,
    "strided": spread_out,
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "big endian": lambda a: a.astype(">f8"),
    "objects": lambda a: a.astype(object),
    "frame": Frame,
}
if find_spec("pandas"):
    import pandas as pd

    CONTAINERS["pandas"] = pd.DataFrame


@pytest.mark.parametrize("basis", ["gaussian", "exponential", "monomials"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_does_not_matter(container, basis):
    found = assemble(ritz.laplacian(), BASES[basis], CONTAINERS[container](X))
    assert_same(found, assemble(ritz.laplacian(), BASES[basis], X), 1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16, np.int64, np.uint8, bool])
def test_other_numbers_are_their_float64_values(dtype):
    rows = X > 0 if dtype is bool else (20 * np.abs(X)).astype(dtype)
    basis = ritz.Monomials(1)
    found = assemble(ritz.laplacian(), basis, rows)
    assert found.L[0].dtype == found.Phi[0].dtype == np.float64
    assert_identical(found, assemble(ritz.laplacian(), basis, rows.astype(np.float64)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_mapped_file_gives_the_sums_of_its_rows(tmp_path, dtype):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(dtype))
    mapped = np.load(path, mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    found = assemble(ritz.laplacian(), GAUSSIAN, mapped)
    assert_identical(found, assemble(ritz.laplacian(), GAUSSIAN, X.astype(dtype)))


# Weights


@pytest.mark.parametrize("basis", ["gaussian", "exponential", "fourier", "monomials"])
def test_weights_are_repetitions(basis):
    times = np.random.default_rng(2).integers(0, 4, size=N)
    weighted = assemble(ritz.laplacian(), BASES[basis], X, sample_weight=times)
    repeated = assemble(ritz.laplacian(), BASES[basis], np.repeat(X, times, axis=0))
    assert weighted.n_rows == (times > 0).sum()
    assert repeated.n_rows == times.sum()
    np.testing.assert_allclose(weighted.weight.sum(), repeated.weight.sum())
    for name in ("L", "Phi"):
        a, b = getattr(weighted.mean(), name), getattr(repeated.mean(), name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


ZERO_WEIGHT_FORMS = {
    **{name: form for name, form in FORMS.items() if name not in ("potential", "directional")},
    "neighbors": ritz.neighbors(4),
    "neighbors, directional": ritz.neighbors(4, "directional"),
    "graph": ritz.graph(ritz.Gaussian(1.0)),
}


@pytest.mark.parametrize("form", ZERO_WEIGHT_FORMS)
def test_rows_of_zero_weight_change_nothing(form):
    form = ZERO_WEIGHT_FORMS[form]
    keep = np.random.default_rng(4).random(N) < 0.5
    without = assemble(form, BASES["exponential"], data_of(form, keep))
    zeroed = assemble(form, BASES["exponential"], data_of(form), sample_weight=keep.astype(float))
    assert zeroed.n_rows == keep.sum()
    assert_same(zeroed, without, 1e-13)


def test_outliers_of_zero_weight_change_no_bit():
    far = np.concatenate([X, np.full((5, D), 1e100)])
    weight = np.concatenate([np.ones(N), np.zeros(5)])
    for basis in BASES.values():
        found = assemble(ritz.laplacian(), basis, far, sample_weight=weight)
        assert_identical(found, assemble(ritz.laplacian(), basis, X, sample_weight=np.ones(N)))


def test_a_batch_of_zero_weight_changes_nothing():
    items = [(X, np.ones(N)), (X + 9, np.zeros(N)), (Y, np.ones(N))]
    found = assemble(ritz.laplacian(), GAUSSIAN, ritz.Batches(items, weighted=True))
    assert_same(found, assemble(ritz.laplacian(), GAUSSIAN, np.concatenate([X, Y])))


def test_a_row_that_is_not_a_number_is_an_error_even_with_zero_weight():
    bad, weight = X.copy(), np.ones(N)
    bad[20, 1], weight[20] = np.nan, 0.0
    with pytest.raises(ValueError, match=r"'X'.*nan in row 20, column 1"):
        assemble(ritz.laplacian(), GAUSSIAN, bad, sample_weight=weight)


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_the_unit_of_the_weights_does_not_matter(factor):
    weight = 1 + V
    for basis in (BASES["exponential"], ritz.Monomials(2)):
        one = assemble(ritz.laplacian(), basis, X, sample_weight=weight).mean()
        other = assemble(ritz.laplacian(), basis, X, sample_weight=factor * weight).mean()
        np.testing.assert_allclose(other.L, one.L, rtol=0, atol=1e-12 * np.abs(one.L).max())
        np.testing.assert_allclose(other.Phi, one.Phi, rtol=0, atol=1e-12 * np.abs(one.Phi).max())


# Adding and forgetting


def two_parts(form, basis, size=600, **labels):
    """Return the sums of all rows and of two parts, over the same functions."""

    def some(rows):
        options = {name: label[rows] for name, label in labels.items()}
        return assemble(form, functions, data_of(form, rows), **options)

    functions = basis
    whole = some(slice(None))
    functions = whole.left if form.symmetric else (whole.left, whole.right)
    return whole, some(slice(size)), some(slice(size, None))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("form", ["laplacian", "differential", "pairs", "cross"])
def test_sums_of_parts_add_and_subtract(form, basis):
    whole, first, second = two_parts(FORMS[form], BASES[basis])
    assert_same(first + second, whole, rounding(basis))
    assert_same(second + first, whole, rounding(basis))
    assert (first + second).n_rows == N
    forgotten = whole - first
    np.testing.assert_array_equal(forgotten.count, second.count)
    for name in ("L", "Phi", "Psi"):
        scale = np.abs(getattr(whole, name)).max()
        left, right = getattr(forgotten, name), getattr(second, name)
        np.testing.assert_allclose(left, right, rtol=0, atol=rounding(basis) * scale)


def test_parts_give_the_spectrum_of_the_whole():
    whole, first, second = two_parts(ritz.laplacian(), BASES["exponential"])
    found, truth = (ritz.decompose_sums(sums, 8) for sums in (first + second, whole))
    np.testing.assert_allclose(found.ritz_values, truth.ritz_values, rtol=1e-9)
    np.testing.assert_allclose(found.errors, truth.errors, rtol=1e-6)


def test_weighted_parts_add():
    whole, first, second = two_parts(ritz.laplacian(), GAUSSIAN, sample_weight=V)
    assert_same(first + second, whole)
    np.testing.assert_allclose(whole.weight.sum(), V.sum())


@pytest.mark.parametrize("kind", ["numbers", "names"])
def test_a_group_has_the_same_fold_in_every_part(kind):
    numbers = np.arange(N) // 50
    groups = {"numbers": 3 * numbers, "names": np.array([f"run {i}" for i in numbers])}[kind]
    # The cut falls within a group, and the parts hold different groups.
    whole, first, second = two_parts(ritz.laplacian(), GAUSSIAN, size=777, groups=groups)
    assert_same(first + second, whole)


DIFFERENT = {
    "operators": (ritz.laplacian(), ritz.laplacian() + ritz.potential(1.0)),
    "factors": (ritz.laplacian(), 2.0 * ritz.laplacian()),
    "nearly equal factors": (1.0 * ritz.laplacian(), 1.0000001 * ritz.laplacian()),
    "potentials": (
        ritz.laplacian() + ritz.potential(1.0),
        ritz.laplacian() + ritz.potential(2.0),
    ),
    "diffusions": (ritz.diffusion(1.0), ritz.diffusion(2.0)),
    "diagonals": (ritz.diffusion([1.0, 1.0, 1.0]), ritz.diffusion([100.0, 7.0, 1.0])),
    "fields": (ritz.diffusion(lambda x: 1 + x**2), ritz.diffusion(lambda x: 2 + x**2)),
    "a field and an array": (ritz.potential(lambda x: x[:, 0]), ritz.potential(V)),
    "a number and an array": (ritz.potential(1.0), ritz.potential(V)),
    "frames and none": (ritz.laplacian(np.tile(np.eye(D)[:, :2], (N, 1, 1))), ritz.laplacian()),
    "coefficients": (
        ritz.differential({((1, 0, 0), (1, 0, 0)): 1.0}),
        ritz.differential({((1, 0, 0), (1, 0, 0)): 2.0}),
    ),
    "functions of one's own": (
        ritz.form(lambda f, g, x: f.value * g.value, symmetric=True),
        ritz.form(lambda f, g, x: 2.0 * (f.value * g.value), symmetric=True),
    ),
}


@pytest.mark.parametrize("which", DIFFERENT)
@pytest.mark.parametrize("sign", ["+", "-"])
def test_sums_of_different_operators_do_not_add(which, sign):
    for one, other in (DIFFERENT[which], DIFFERENT[which][::-1]):
        first = assemble(one, GAUSSIAN, X)
        second = assemble(other, first.left, Y)
        with pytest.raises(ValueError, match=r"different operators.* and "):
            first + second if sign == "+" else first - second


def test_arrays_with_one_entry_a_row_may_differ_as_the_rows_do():
    first = assemble(ritz.laplacian() + ritz.potential(V), GAUSSIAN, X)
    second = assemble(ritz.laplacian() + ritz.potential(2 * V), first.left, Y)
    assert (first + second).n_rows == 2 * N


def test_sums_over_different_functions_do_not_add():
    first = assemble(ritz.laplacian(), GAUSSIAN, X)
    for basis in (
        GAUSSIAN,
        ritz.Monomials(2),
        ritz.KernelSections(ritz.Gaussian(1.4), first.left.basis.centers),
    ):
        second = ritz.assemble(ritz.laplacian(), basis, Y, random_state=1)
        for combine in (first.__add__, first.__sub__):
            with pytest.raises(ValueError, match=r"same functions.*sums\.left"):
                combine(second)


def test_sums_over_different_folds_do_not_add():
    first = assemble(ritz.laplacian(), GAUSSIAN, X, n_folds=8)
    second = assemble(ritz.laplacian(), first.left, Y, n_folds=4)
    with pytest.raises(ValueError, match=r"n_folds.* 8\b.* 4\b"):
        first + second


def test_rows_never_seen_cannot_be_forgotten():
    first = assemble(ritz.laplacian(), GAUSSIAN, X[:300])
    second = assemble(ritz.laplacian(), first.left, Y)
    with pytest.raises(ValueError, match="only from sums that contain them"):
        first - second


def test_sums_add_only_to_sums():
    first = assemble(ritz.laplacian(), GAUSSIAN, X)
    with pytest.raises(TypeError, match="Sums"):
        first + 1.0
    with pytest.raises(TypeError, match="Sums"):
        first - X


def test_sums_that_others_were_subtracted_from_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    # Along the diagonal more is subtracted than there is, along each axis less.
    others = 1.6 * rng.choice([-1.0, 1.0], size=(300, 1)) * np.ones((1, 2))
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X, n_folds=1)
    less = sums - assemble(ritz.laplacian(), sums.left, others, n_folds=1)
    assert (np.diag(less.Phi[0]) > 0).all()
    with pytest.raises(ValueError, match="never part of them"):
        ritz.decompose_sums(less, 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_sums_that_leave_a_variance_below_zero_are_refused(k):
    """Such a function is not one that hardly varies, and its rank no reason to lower k."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2))
    others = np.array([0.1, 9.0]) * rng.normal(size=(200, 2))
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X)
    less = sums - assemble(ritz.laplacian(), sums.left, others)
    assert np.linalg.eigvalsh(less.mean().Phi)[0] < 0
    with pytest.raises(ValueError, match="never part of them"):
        ritz.decompose_sums(less, k)


def test_forgetting_everything_leaves_nothing_to_average():
    sums = assemble(ritz.laplacian(), GAUSSIAN, X)
    with pytest.raises(ValueError, match="no weight left"):
        (sums - sums).mean()


def test_graph_sums_belong_together():
    form = ritz.graph(ritz.Gaussian(1.0))
    first = assemble(form, GAUSSIAN, X[:200])
    assert first.n_folds == 1
    second = assemble(form, first.left, X[200:400])
    for combine in (first.__add__, first.__sub__):
        with pytest.raises(ValueError, match=r"graph.*do not add up"):
            combine(second)
    added = ritz.laplacian() + form
    assert assemble(added, GAUSSIAN, X[:200]).n_folds == 1


# Folds


@pytest.mark.parametrize("n_folds", [1, 2, 8, 13])
def test_the_folds_hold_all_rows_evenly(n_folds):
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X, n_folds=n_folds)
    assert sums.n_folds == n_folds
    assert sums.count.sum() == sums.n_rows == N
    assert np.abs(sums.count - N / n_folds).max() <= 5 * np.sqrt(N / n_folds)
    total = sum(sums.Phi)
    one = assemble(ritz.laplacian(), ritz.Monomials(1), X, n_folds=1).Phi[0]
    np.testing.assert_allclose(total, one, rtol=0, atol=1e-12 * np.abs(one).max())


def test_a_rows_fold_is_its_hash():
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X)
    folds = (hash_rows(X) % np.uint64(8)).astype(int)
    np.testing.assert_array_equal(sums.count, np.bincount(folds, minlength=8))


COUNTS = np.random.default_rng(6).poisson(2.0, size=(4000, 2)).astype(float)


def assert_same_folds(a, b):
    """Check that two sums hold the same rows in each fold."""
    np.testing.assert_array_equal(a.count, b.count)
    for name in ("weight", "L", "Phi", "Psi"):
        x, y = np.array(getattr(a, name)), np.array(getattr(b, name))
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * np.abs(y).max())


def test_repeated_rows_are_spread_over_the_folds():
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), COUNTS)
    assert sums.left.repeats
    assert np.abs(sums.count - 500).max() <= 5 * np.sqrt(500)
    alike = assemble(ritz.laplacian(), sums.left, np.ones((4000, 2)))
    assert np.abs(alike.count - 500).max() <= 5 * np.sqrt(500)
    # Where no row repeats, the order of rows does not matter.
    assert not assemble(ritz.laplacian(), ritz.Monomials(1), X).left.repeats


def test_pairs_repeat_only_if_the_rows_of_both_views_do():
    twice = np.concatenate([X, X])
    other = np.random.default_rng(7).normal(size=(2 * N, 2))
    for views in ((twice, other), (other, twice)):
        sums = assemble(ritz.cross(), ritz.Monomials(1), views)
        folds = (hash_rows(*views) % np.uint64(8)).astype(int)
        np.testing.assert_array_equal(sums.count, np.bincount(folds, minlength=8))
    sums = assemble(ritz.cross(), ritz.Monomials(1), (COUNTS, COUNTS[:, :1]))
    assert np.abs(sums.count - 500).max() <= 5 * np.sqrt(500)


@pytest.mark.parametrize("form", ["laplacian", "cross"])
def test_sums_of_parts_have_the_folds_of_the_whole_where_rows_repeat(form):
    form, weight = FORMS[form], np.random.default_rng(8).integers(0, 3, size=4000)
    views = (COUNTS, COUNTS[::-1])[: form.views]
    whole = assemble(
        form, ritz.Monomials(2), views if form.views == 2 else COUNTS, sample_weight=weight
    )
    basis = whole.left if form.symmetric else (whole.left, whole.right)
    total = 0
    for rows in (slice(0, 1000), slice(1000, 1010), slice(1010, 4000)):
        some = tuple(view[rows] for view in views)
        total += assemble(
            form,
            basis,
            some if form.views == 2 else some[0],
            sample_weight=weight[rows],
            first_row=total.n_rows if total else 0,
        )
    assert_same_folds(total, whole)


def test_chunks_and_rows_of_zero_weight_do_not_change_the_folds_of_repeated_rows():
    dask = pytest.importorskip("dask.array")
    whole = assemble(ritz.laplacian(), GAUSSIAN, COUNTS)
    batches = ritz.Batches([COUNTS[:7], COUNTS[7:3000], COUNTS[3000:]])
    chunked = dask.from_array(COUNTS, chunks=(700, 2))
    padded = np.insert(COUNTS, [0, 5, 3999], 1.0, axis=0)
    weight = np.insert(np.ones(4000), [0, 5, 3999], 0.0)
    for rows, weights in ((batches, None), (chunked, None), (padded, weight)):
        assert_same_folds(assemble(ritz.laplacian(), GAUSSIAN, rows, sample_weight=weights), whole)


@pytest.mark.parametrize("m", [1, 5, 40, 1000])
def test_a_sample_knows_how_often_its_rows_occur_and_with_what_weight(m):
    weight = np.random.default_rng(11).integers(0, 3, size=4000)
    for order in (np.arange(4000), np.random.default_rng(12).permutation(4000)):
        parts = np.array_split(order, [10, 700, 2500])
        items = [(COUNTS[part], weight[part].astype(float)) for part in parts]
        found = ritz.Batches(items, weighted=True).sample_distinct(m, 3)
        assert len(found.X) == min(m, len(np.unique(COUNTS[weight > 0], axis=0)))
        for row, total, copies in zip(found.X, found.weight, found.copies, strict=True):
            same = (row == COUNTS).all(axis=1)
            assert total == weight[same].sum()
            assert copies == (weight[same] > 0).sum()
        assert found.repeat == (found.copies > 1).any()


def test_groups_decide_the_folds_also_where_rows_repeat():
    groups = np.random.default_rng(9).integers(40, size=4000)
    order = np.random.default_rng(10).permutation(4000)
    a = assemble(ritz.laplacian(), ritz.Monomials(1), COUNTS, groups=groups)
    b = assemble(ritz.laplacian(), ritz.Monomials(1), COUNTS[order], groups=groups[order])
    assert_same_folds(a, b)


def test_functions_fixed_by_hand_look_for_repeated_rows_at_the_first_sums():
    basis = Centered(ritz.KernelSections(ritz.Gaussian(2.0), COUNTS[:5]), np.zeros(5))
    sums = assemble(ritz.laplacian(), basis, COUNTS)
    assert sums.left.repeats
    assert np.abs(sums.count - 500).max() <= 5 * np.sqrt(500)


def test_sums_add_only_if_their_folds_are_made_alike():
    basis = Centered(ritz.KernelSections(ritz.Gaussian(1.0), X[:5]), np.zeros(5))
    once = assemble(ritz.laplacian(), basis, X)
    twice = assemble(ritz.laplacian(), basis, np.concatenate([X, X]))
    with pytest.raises(ValueError, match="fixed by the same sample"):
        _ = once + twice
    assert (once + assemble(ritz.laplacian(), once.left, np.concatenate([X, X]))).n_rows == 3 * N


@pytest.mark.parametrize("first_row", [-1, 0.5, "first", None])
def test_the_first_row_is_a_row_number(first_row):
    with pytest.raises(ValueError, match="'first_row' parameter must be a nonnegative integer"):
        assemble(ritz.laplacian(), ritz.Monomials(1), X, first_row=first_row)


def test_rows_of_a_group_share_a_fold():
    numbers = np.random.default_rng(5).integers(40, size=N)
    folds_of_rows = np.zeros(N, dtype=int)
    basis = ritz.Functions([lambda x: x[:, 0]], gradients=[lambda x: np.eye(2)[0] + 0 * x])
    marked = np.column_stack([numbers, X[:, :1]])
    sums = assemble(ritz.laplacian(), basis, marked, groups=numbers)
    # Sums of one group alone, by weights, lie in one fold.
    for number in range(40):
        alone = assemble(
            ritz.laplacian(),
            sums.left,
            marked,
            groups=numbers,
            sample_weight=(numbers == number).astype(float),
        )
        (fold,) = np.flatnonzero(alone.count)
        folds_of_rows[numbers == number] = fold
    np.testing.assert_array_equal(np.bincount(folds_of_rows, minlength=8), sums.count)
    assert (sums.count > 0).sum() >= 6


# Averages


@pytest.mark.parametrize("form", ["laplacian", "cross"])
def test_the_mean_without_a_fold_is_that_of_the_other_rows(form):
    form = FORMS[form]
    sums = assemble(form, GAUSSIAN, data_of(form))
    views = (X, Y) if form.views == 2 else (X,)
    folds = (hash_rows(*views) % np.uint64(8)).astype(int)
    basis = sums.left if form.symmetric else (sums.left, sums.right)
    for fold in range(8):
        rest = assemble(form, basis, data_of(form, folds != fold)).mean()
        found = sums.mean(without=fold)
        for name in ("L", "Phi", "Psi"):
            a, b = getattr(found, name), getattr(rest, name)
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


def test_the_mean_is_an_average_over_rows():
    sums = assemble(ritz.laplacian(), GAUSSIAN, X, sample_weight=V)
    mean = sums.mean()
    f, g = sums.left(X), sums.left.gradient(X)
    ones = np.column_stack([np.ones(N), f])
    w = V / V.sum()
    np.testing.assert_allclose(mean.Phi, ones.T @ (w[:, None] * ones), atol=1e-12)
    L = np.einsum("n,ndi,ndj->ij", w, g, g)
    np.testing.assert_allclose(mean.L[1:, 1:], L, rtol=0, atol=1e-12 * np.abs(L).max())
    np.testing.assert_array_equal(mean.L[0], 0.0)
    np.testing.assert_array_equal(mean.Phi, mean.Phi.T)
    np.testing.assert_array_equal(mean.L, mean.L.T)


@pytest.mark.parametrize("without", [8, -1, 100, 1.5, "first"])
def test_only_a_fold_that_exists_can_be_left_out(without):
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X)
    with pytest.raises(ValueError, match="'without' parameter must be None or a fold below 8"):
        sums.mean(without=without)


def test_the_only_fold_cannot_be_left_out():
    sums = assemble(ritz.laplacian(), ritz.Monomials(1), X, n_folds=1)
    with pytest.raises(ValueError, match="no weight left"):
        sums.mean(without=0)


def test_sums_over_other_centers_are_refused_where_all_values_vanish():
    """Narrow kernels in many dimensions are zero at nearly all points, whatever their centers."""
    X = np.random.default_rng(0).normal(size=(600, 10))
    narrow = ritz.Nystrom(ritz.Gaussian(0.01), 20)
    first, second = (
        ritz.assemble(ritz.laplacian(), narrow, X, random_state=seed) for seed in (0, 1)
    )
    with pytest.raises(ValueError, match="same functions"):
        first + second


def test_an_error_says_in_what_two_operators_differ():
    X = np.random.default_rng(0).normal(size=(50, 2))
    first, second = (
        assemble(ritz.laplacian() + ritz.diffusion(D), ritz.Monomials(1), X)
        for D in ([1.0, 1.0], [100.0, 7.0])
    )
    with pytest.raises(ValueError, match=r"diffusion.*1\., +1.* and .*100\., +7"):
        first + second


@pytest.mark.parametrize("name", ["laplacian", "cross"])
def test_joined_folds_hold_the_same_rows_and_centers(name):
    form = FORMS[name]
    sums = assemble(form, (GAUSSIAN, GAUSSIAN) if form.views == 2 else GAUSSIAN, data_of(form))
    joined = sums.joined(3)
    assert joined.n_folds == 3
    assert sums.joined(8) is sums
    # Folds 1, 4 and 7 of 8 become fold 1 of 3.
    for whole, parts in ((joined.L, sums.L), (joined.Phi, sums.Phi), (joined.Psi, sums.Psi)):
        np.testing.assert_allclose(whole[1], parts[1] + parts[4] + parts[7], rtol=1e-15)
    assert joined.count.tolist() == [sums.count[fold::3].sum() for fold in range(3)]
    assert joined.weight.sum() == pytest.approx(sums.weight.sum(), rel=1e-15)
    # Centers of two views are rows of one of them, which have no fold.
    assert (joined.homes is None) == (sums.homes is None) == (name == "cross")
    for home, before in zip(joined.homes or (), sums.homes or (), strict=True):
        np.testing.assert_array_equal(home, before % 3)
    mean, before = joined.mean(1), sums.of([0, 2, 3, 5, 6]).mean()
    np.testing.assert_allclose(mean.L, before.L, atol=1e-14 * np.abs(before.L).max())
