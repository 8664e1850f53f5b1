"""The result as a value: call it, differentiate it, slice it, print it, save it, use it again."""

import json
import pickle
import zipfile
from functools import cache

import numpy as np
import pytest

import ritz
from ritz import datasets

RNG = np.random.default_rng(0)
PLANE = np.column_stack([RNG.gamma(4.0, 0.3, 600), RNG.standard_normal(600) + 0.5])
FRESH = np.column_stack([RNG.gamma(4.0, 0.3, 50), RNG.standard_normal(50) + 0.5])

KERNELS = {
    "Gaussian": ritz.Gaussian(1.0),
    "Gaussian, a length a dimension": ritz.Gaussian((0.7, 1.5)),
    "Exponential": ritz.Exponential(1.5),
    "Matern 3/2": ritz.Matern(1.5, 1.5),
    "Matern 5/2": ritz.Matern(2.5, 2.0),
    "RationalQuadratic": ritz.RationalQuadratic(1.5, 1.0),
    "Polynomial": ritz.Polynomial(3, 0.5, 2.0),
    "DotExponential": ritz.DotExponential(2.0),
    "sum": ritz.Gaussian(1.0) + ritz.Matern(2.5, 2.0),
    "product": ritz.Gaussian(2.0) * ritz.RationalQuadratic(1.0, 2.0),
    "scaled": 3.0 * ritz.Gaussian(1.0),
}
BASES = {
    **{f"Nystrom, {name}": ritz.Nystrom(kernel, 20) for name, kernel in KERNELS.items()},
    "Nystrom, wide": ritz.Nystrom(ritz.Gaussian(50.0), 20),
    "Nystrom, given centers": ritz.Nystrom(ritz.Gaussian(1.0), centers=PLANE[:15] + 0.1),
    "RandomFourier": ritz.RandomFourier(ritz.Gaussian(1.0), 30),
    "RandomFourier, Matern": ritz.RandomFourier(ritz.Matern(2.5, 2.0), 30),
    "Monomials": ritz.Monomials(3),
    "Stack": ritz.Stack(ritz.Monomials(2), ritz.Nystrom(ritz.Gaussian(1.0), 10)),
}
FUNCTIONS = ritz.Functions(
    [lambda x: np.sin(x[:, 0]), lambda x: np.cos(x[:, 1]), lambda x: x[:, 0] * x[:, 1]],
    gradients=[
        lambda x: np.column_stack([np.cos(x[:, 0]), np.zeros(len(x))]),
        lambda x: np.column_stack([np.zeros(len(x)), -np.sin(x[:, 1])]),
        lambda x: x[:, ::-1],
    ],
)
ALL_BASES = {**BASES, "Functions": FUNCTIONS}


def learn(basis, X=PLANE, k=4, **options):
    return ritz.decompose(ritz.laplacian(), basis, X, k, **{"random_state": 0, **options})


@cache
def spectrum_of(name):
    return learn(ALL_BASES[name])


@pytest.fixture(params=ALL_BASES)
def spectrum(request):
    return spectrum_of(request.param)


@cache
def circle():
    problem = datasets.circle()
    X = problem.sample(20_000, random_state=0)
    return ritz.decompose(ritz.laplacian(problem.tangent), ritz.Monomials(3), X, 5, random_state=0)


@cache
def pair():
    X, Y = datasets.gaussian_pair(0.6).sample(2000, random_state=0)
    basis = (ritz.Nystrom(ritz.Gaussian(1.0), 10), ritz.Monomials(3))
    return ritz.decompose(ritz.cross(), basis, (X, Y), 3, random_state=0)


# What every result satisfies.


def test_functions_are_orthonormal_on_the_samples(spectrum):
    F = spectrum(PLANE)
    assert F.shape == (600, 4)
    # Products of functions are known to eps times their condition, at most 1e12 or so.
    np.testing.assert_allclose(F.T @ F / 600, np.eye(4), atol=1e-7)


def test_values_are_the_energies_of_the_functions(spectrum):
    G = spectrum.gradient(PLANE)
    assert G.shape == (600, 2, 4)
    energy = np.einsum("ndi,ndj->ij", G, G) / 600
    np.testing.assert_allclose(
        energy, np.diag(spectrum.ritz_values), atol=1e-6 * spectrum.ritz_values[-1]
    )


def test_the_constant_comes_first_and_is_exact(spectrum):
    assert spectrum.ritz_values[0] == 0.0
    assert spectrum.residuals[0] == 0.0
    np.testing.assert_array_equal(spectrum(FRESH)[:, 0], 1.0)
    np.testing.assert_array_equal(spectrum.gradient(FRESH)[:, :, 0], 0.0)
    assert (np.diff(spectrum.ritz_values) >= 0).all()
    assert (spectrum.residuals < 1e-5).all()


@pytest.mark.parametrize("name", ALL_BASES)
def test_gradients_are_the_slopes(name):
    spectrum = spectrum_of(name)
    # A wide kernel's functions are differences of nearly equal numbers: their values are rounded
    # at 1e-6 or so, which a small step would magnify, but they are all but cubic polynomials.
    step = 0.05 if name == "Nystrom, wide" else 2e-5
    for axis, e in enumerate(np.eye(2) * step):
        near, far = (spectrum(FRESH + m * e) - spectrum(FRESH - m * e) for m in (1, 2))
        slope = (8 * near - far) / (12 * step)
        scale = np.abs(slope).max()
        tolerance = 1e-4 if name == "Nystrom, wide" else 1e-5
        np.testing.assert_allclose(spectrum.gradient(FRESH)[:, axis], slope, atol=tolerance * scale)


@pytest.mark.parametrize("name", ["Nystrom, Gaussian", "Monomials", "RandomFourier", "Stack"])
def test_partial_derivatives(name):
    spectrum, step = spectrum_of(name), 1e-5
    np.testing.assert_array_equal(spectrum.partial(FRESH, (0, 0)), spectrum(FRESH))
    G = spectrum.gradient(FRESH)
    np.testing.assert_allclose(spectrum.partial(FRESH, (0, 1)), G[:, 1], atol=1e-11)
    forward, back = (spectrum.gradient(FRESH + s * np.array([step, 0.0])) for s in (1, -1))
    second = (forward - back) / (2 * step)
    scale = np.abs(second).max()
    for axis, alpha in enumerate([(2, 0), (1, 1)]):
        np.testing.assert_allclose(
            spectrum.partial(FRESH, alpha), second[:, axis], atol=1e-6 * scale
        )


@pytest.mark.parametrize("name", ALL_BASES)
def test_evaluation_by_parts_is_evaluation(name):
    spectrum = spectrum_of(name)
    parts = [spectrum(FRESH[i : i + 1]) for i in range(len(FRESH))]
    whole = spectrum(FRESH)
    rounding = 1e-6 if name == "Nystrom, wide" else 1e-9
    np.testing.assert_allclose(np.vstack(parts), whole, atol=rounding * np.abs(whole).max())
    assert spectrum(FRESH[:0]).shape == (0, 4)
    assert spectrum.gradient(FRESH[:0]).shape == (0, 2, 4)


def test_weighted_functions_are_orthonormal_under_the_weights():
    weight = np.random.default_rng(1).exponential(size=600)
    weight[::7] = 0.0
    for basis in (ritz.Monomials(3), ritz.Nystrom(ritz.Gaussian(1.0), 20)):
        found = learn(basis, sample_weight=weight)
        F = found(PLANE)
        np.testing.assert_allclose(F.T @ (weight[:, None] * F) / weight.sum(), np.eye(4), atol=1e-7)
        assert found.ritz_values[0] == 0.0
        np.testing.assert_array_equal(F[:, 0], 1.0)
        assert found.n_rows == (weight > 0).sum()


def test_weights_are_repetitions():
    counts = np.random.default_rng(1).integers(0, 4, 600)
    weighted = learn(ritz.Monomials(3), sample_weight=counts.astype(float))
    repeated = learn(ritz.Monomials(3), np.repeat(PLANE, counts, axis=0))
    np.testing.assert_allclose(weighted.ritz_values, repeated.ritz_values, rtol=1e-10)
    np.testing.assert_allclose(weighted(FRESH), repeated(FRESH), atol=1e-7)
    scaled = learn(ritz.Monomials(3), sample_weight=1e6 * counts)
    np.testing.assert_allclose(weighted.ritz_values, scaled.ritz_values, rtol=1e-11)


def test_regularization_keeps_functions_orthonormal_and_raises_values():
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 20)
    free = learn(basis).ritz_values
    previous = free
    for gamma in (1e-4, 1e-2, 1.0):
        found = learn(basis, regularization=gamma)
        F = found(PLANE)
        np.testing.assert_allclose(F.T @ F / 600, np.eye(4), atol=1e-7)
        assert found.ritz_values[0] == 0.0
        assert (found.ritz_values >= free - 1e-10).all()
        assert found.ritz_values.sum() >= previous.sum() - 1e-10
        previous = found.ritz_values
    assert previous.sum() > 1.01 * free.sum()


# The same question gives the same answer.


@pytest.mark.parametrize("name", ALL_BASES)
def test_same_seed_same_bits(name):
    one, two = learn(ALL_BASES[name]), learn(ALL_BASES[name])
    np.testing.assert_array_equal(one.ritz_values, two.ritz_values)
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_array_equal(one(FRESH), two(FRESH))


@pytest.mark.parametrize("basis", [ritz.Monomials(3), ritz.Nystrom(ritz.Gaussian(1.0), 40)])
def test_threads_do_not_change_a_bit(basis):
    X = np.random.default_rng(0).standard_normal((20_000, 2))
    found = [learn(basis, X, n_jobs=jobs) for jobs in (1, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(other.ritz_values, found[0].ritz_values)
        np.testing.assert_array_equal(other.errors, found[0].errors)
        np.testing.assert_array_equal(other.coefficients, found[0].coefficients)


@pytest.mark.parametrize("name", ALL_BASES)
def test_the_order_of_rows_does_not_matter(name):
    found = spectrum_of(name)
    for order in (np.argsort(PLANE[:, 0]), np.random.default_rng(2).permutation(600)):
        other = learn(ALL_BASES[name], PLANE[order])
        np.testing.assert_allclose(other.ritz_values, found.ritz_values, rtol=1e-6, atol=1e-9)
        # Signs are the same too.
        np.testing.assert_allclose(other(FRESH), found(FRESH), atol=1e-4)


def test_signs_do_not_depend_on_the_samples():
    """On new samples of the same law polynomials come with the same sign."""
    Z = np.linspace(0.05, 0.95, 50)[:, None]
    found = [
        learn(ritz.Monomials(6), datasets.cube().sample(5000, random_state=seed))(Z)
        for seed in range(10)
    ]
    for other in found[1:]:
        assert ((other * found[0]).mean(axis=0) > 0.5).all()


def test_generators_and_seeds():
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 20)
    one = learn(basis, random_state=5)
    two = learn(basis, random_state=np.random.default_rng(5))
    np.testing.assert_array_equal(one.ritz_values, two.ritz_values)
    assert not np.array_equal(one.ritz_values, learn(basis, random_state=6).ritz_values)


def test_sums_in_between_change_nothing():
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 20)
    sums = ritz.assemble(ritz.laplacian(), basis, PLANE, random_state=0)
    found = ritz.decompose_sums(sums, 4)
    np.testing.assert_array_equal(found.ritz_values, learn(basis).ritz_values)
    np.testing.assert_array_equal(found(FRESH), learn(basis)(FRESH))


# Slices.


@pytest.mark.parametrize(
    ("which", "columns"),
    [
        (2, [2]),
        (-1, [3]),
        (np.int64(1), [1]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice(0, 0), []),
        ([3, 1], [3, 1]),
        ([-1, 0], [3, 0]),
        (np.array([0, 2]), [0, 2]),
        ((0, 1), [0, 1]),
        ([False, True, False, True], [1, 3]),
        (np.array([True, True, False, False]), [0, 1]),
    ],
)
def test_slices(which, columns):
    found = spectrum_of("Nystrom, Gaussian")
    part = found[which]
    assert isinstance(part, ritz.Spectrum)
    assert len(part) == part.size == len(columns)
    np.testing.assert_allclose(part(FRESH), found(FRESH)[:, columns], atol=1e-12)
    np.testing.assert_allclose(
        part.gradient(FRESH), found.gradient(FRESH)[:, :, columns], atol=1e-11
    )
    for name in ("values", "errors", "groups", "group_confidence", "residuals"):
        np.testing.assert_array_equal(getattr(part, name), getattr(found, name)[columns])
    assert (part.rank, part.n_rows, part.operator) == (found.rank, found.n_rows, found.operator)
    assert len(str(part).splitlines()) == 2 + len(columns)


def test_slices_of_singular_spectra():
    X, Y = datasets.gaussian_pair(0.6).sample(30, random_state=1)
    found = pair()
    left, right = found(X, Y)
    for which, columns in ((1, [1]), (slice(1, None), [1, 2]), ([2, 0], [2, 0]), (-1, [2])):
        part = found[which]
        assert isinstance(part, ritz.SingularSpectrum)
        np.testing.assert_array_equal(part.ritz_values, found.ritz_values[columns])
        np.testing.assert_allclose(part(X, Y)[0], left[:, columns], atol=1e-12)
        np.testing.assert_allclose(part(X, Y)[1], right[:, columns], atol=1e-12)


@pytest.mark.parametrize(
    ("which", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ([0, 9], IndexError),
        (1.0, TypeError),
        ("first", TypeError),
        (None, TypeError),
        ([True, False], TypeError),
        ([[0, 1]], TypeError),
    ],
)
def test_bad_slices(which, error):
    found = spectrum_of("Nystrom, Gaussian")
    with pytest.raises(error, match="'index' parameter must be"):
        found[which]


# Printing.


def test_printing():
    found = circle()
    head, columns, *rows = str(found).splitlines()
    assert "laplacian(tangent=...)" in head
    assert "20,000 rows" in head
    assert f"rank {found.rank}" in head
    words = "eigenvalue std. error may be lower by times confidence"
    assert columns.split() == words.split()
    assert len(rows) == 5
    for j, row in enumerate(rows):
        number, value = row.split()[:2]
        assert int(number) == j
        assert float(value) == pytest.approx(found.values[j], rel=1e-5)
    times = [row.split()[4 if found.basis_errors is not None else 3] for row in rows]
    assert times == ["1", "2", "·", "2", "·"]
    sure = [f"{found.group_confidence[j]:.0%}" for j in (0, 1, 3)]
    assert [rows[j].split()[-1] for j in (0, 1, 3)] == sure
    assert repr(found) == "<Spectrum of laplacian(tangent=...): 5 eigenvalues, 20,000 rows>"


def test_more_functions_lower_eigenvalues_in_any_order():
    backwards = circle()[::-1]
    assert "may be lower by" in str(backwards)
    assert "may be lower by" in backwards._repr_html_()


def test_printing_singular_spectra():
    text = str(pair())
    assert "cross()" in text
    assert "singular value" in text
    assert "2,000 rows" in text
    assert f"rank {pair().rank}" in text
    assert len(text.splitlines()) == 5
    assert repr(pair()) == "<SingularSpectrum of cross(): 3 values, 2,000 rows>"


# Functions of functions.


@pytest.mark.parametrize("name", ["Nystrom, Gaussian", "Monomials", "RandomFourier", "Stack"])
def test_a_spectrum_is_a_basis(name):
    found = spectrum_of(name)
    again = learn(found)
    np.testing.assert_allclose(again.ritz_values, found.ritz_values, rtol=1e-8)
    assert again.ritz_values[0] == 0.0
    overlap = again(PLANE).T @ found(PLANE) / 600
    np.testing.assert_allclose(np.abs(overlap), np.eye(4), atol=1e-5)
    assert again.rank == 4
    # The constant is always in the span: without it the answer is the same.
    np.testing.assert_allclose(learn(found[1:]).ritz_values, found.ritz_values, rtol=1e-8)


def test_functions_of_one_operator_solve_another():
    found = learn(ritz.Monomials(4), k=10)
    twice = ritz.decompose(
        ritz.laplacian() + ritz.potential(lambda x: x[:, 0] ** 2), found, PLANE, 3, random_state=0
    )
    direct = ritz.decompose(
        ritz.laplacian() + ritz.potential(lambda x: x[:, 0] ** 2),
        ritz.Monomials(4),
        PLANE,
        3,
        random_state=0,
    )
    assert (twice.ritz_values >= direct.ritz_values - 1e-9).all()
    np.testing.assert_allclose(twice.ritz_values, direct.ritz_values, rtol=0.1)


# Files.


@pytest.mark.parametrize("name", BASES)
def test_saved_spectra_come_back_to_the_bit(name, tmp_path):
    found = spectrum_of(name)
    path = tmp_path / "spectrum.npz"
    found.save(path)
    back = ritz.load(path)
    assert type(back) is ritz.Spectrum
    np.testing.assert_array_equal(back(FRESH), found(FRESH))
    np.testing.assert_array_equal(back.gradient(FRESH), found.gradient(FRESH))
    for field in ("values", "errors", "groups", "group_confidence", "residuals"):
        array = getattr(back, field)
        np.testing.assert_array_equal(array, getattr(found, field))
        assert array.dtype == getattr(found, field).dtype
    assert (back.rank, back.n_rows, back.operator) == (found.rank, found.n_rows, found.operator)
    assert str(back) == str(found)
    # What came back can be used like what went in.
    np.testing.assert_array_equal(back[1:3](FRESH), found[1:3](FRESH))


def test_slices_and_nested_spectra_are_saved(tmp_path):
    nested = learn(spectrum_of("Stack"), k=3)[1:]
    nested.save(tmp_path / "nested")
    back = ritz.load(str(tmp_path / "nested"))
    np.testing.assert_array_equal(back(FRESH), nested(FRESH))
    np.testing.assert_array_equal(back.ritz_values, nested.ritz_values)


def test_spectra_without_errors_are_saved(tmp_path):
    found = learn(ritz.Monomials(2), n_folds=1)
    found.save(tmp_path / "a.npz")
    back = ritz.load(tmp_path / "a.npz")
    assert back.errors is None
    np.testing.assert_array_equal(back(FRESH), found(FRESH))


def test_singular_spectra_are_saved(tmp_path):
    X, Y = datasets.gaussian_pair(0.6).sample(30, random_state=1)
    pair()[1:].save(tmp_path / "pair.npz")
    back = ritz.load(tmp_path / "pair.npz")
    assert type(back) is ritz.SingularSpectrum
    for ours, theirs in zip(back(X, Y), pair()[1:](X, Y), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(back.ritz_values, pair().ritz_values[1:])
    assert str(back) == str(pair()[1:])


def test_files_hold_arrays_and_json_only(tmp_path):
    spectrum_of("Stack").save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays.pop("header")))
    assert header["format"] == "ritz 1"
    assert header["value"]["type"] == "Spectrum"
    assert all(array.dtype.kind in "fi" for array in arrays.values())


CUSTOM = ritz.CustomKernel(
    "distance", [lambda u: (1 + u) ** -0.5, lambda u: -0.5 * (1 + u) ** -1.5]
)


@pytest.mark.parametrize(
    "basis",
    [
        FUNCTIONS,
        ritz.Nystrom(CUSTOM, 10),
        ritz.Nystrom(2.0 * CUSTOM, 10),
        ritz.Stack(ritz.Monomials(2), FUNCTIONS),
    ],
    ids=["functions", "custom kernel", "scaled custom kernel", "stack"],
)
def test_a_users_functions_are_not_saved(basis, tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(TypeError, match=r"holds functions of yours.*never code"):
        learn(basis).save(path)
    # Nothing half written is left behind.
    assert not path.exists()


def header_and_arrays():
    """A saved spectrum taken apart, to be damaged."""
    found = spectrum_of("Nystrom, Gaussian")
    arrays = {
        "centers": found.basis.basis.centers,
        "offset": found.basis.offset,
        "coefficients": found.coefficients,
        "constants": found.constants,
    }
    for name in ("values", "errors", "groups", "residuals"):
        arrays[name] = getattr(found, name)
    kernel = {"type": "Gaussian", "fields": {"length_scale": 1.0}}
    sections = {
        "type": "KernelSections",
        "fields": {"kernel": kernel, "centers": {"array": "centers"}},
    }
    centered = {
        "type": "Centered",
        "fields": {"basis": sections, "offset": {"array": "offset"}},
    }
    fields = {name: {"array": name} for name in list(arrays)[2:]}
    fields |= {"basis": centered, "rank": 21, "n_rows": 600, "operator": "laplacian()"}
    header = {"format": "ritz 1", "value": {"type": "Spectrum", "fields": fields}}
    return header, arrays


def write(path, header, arrays):
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


def test_files_can_be_made_by_hand(tmp_path):
    header, arrays = header_and_arrays()
    write(tmp_path / "a.npz", header, arrays)
    np.testing.assert_array_equal(
        ritz.load(tmp_path / "a.npz")(FRESH), spectrum_of("Nystrom, Gaussian")(FRESH)
    )


class Trap:
    """Unpickling this leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_loading_never_unpickles(tmp_path):
    sprung = tmp_path / "sprung"
    trap = Trap(sprung)
    header, arrays = header_and_arrays()
    objects = np.empty(4, dtype=object)
    objects[:] = [trap] * 4
    np.savez(
        tmp_path / "objects.npz",
        header=np.array(json.dumps(header)),
        **{**arrays, "values": objects},
    )
    np.savez(tmp_path / "header.npz", header=objects, **arrays)
    np.save(tmp_path / "plain.npy", objects, allow_pickle=True)
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(trap))
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("header.npy", pickle.dumps(trap))
    for name in ("objects.npz", "header.npz", "plain.npy", "pickle.npz", "zip.npz"):
        with pytest.raises(ValueError, match="is not a file saved by ritz, or it is damaged"):
            ritz.load(tmp_path / name)
        assert not sprung.exists()
    # The trap works: what does unpickle springs it.
    with np.load(tmp_path / "objects.npz", allow_pickle=True) as archive:
        archive["values"][0].close()
    assert sprung.exists()


def put(tree, path, value):
    *steps, last = path
    for step in steps:
        tree = tree[step]
    tree[last] = value


FIELDS = ("value", "fields")
DAMAGED_HEADERS = {
    "no format": (("format",), None),
    "a later format": (("format",), "ritz 2"),
    "unknown type": (("value", "type"), "Popen"),
    "a type that is no string": (("value", "type"), ["Spectrum"]),
    "not a spectrum": (("value",), {"type": "Gaussian", "fields": {"length_scale": 1.0}}),
    "a number": (("value",), 3),
    "fields that are a list": (FIELDS, []),
    "missing array": ((*FIELDS, "values"), {"array": "nowhere"}),
    "array by number": ((*FIELDS, "values"), {"array": 3}),
    "values that are a number": ((*FIELDS, "values"), 3.0),
    "values that are None": ((*FIELDS, "values"), None),
    "values that are text": ((*FIELDS, "values"), "abcd"),
    "coefficients of another shape": ((*FIELDS, "coefficients"), {"array": "centers"}),
    "constants of another shape": ((*FIELDS, "constants"), {"array": "offset"}),
    "errors of another shape": ((*FIELDS, "errors"), {"array": "offset"}),
    "residuals of another shape": ((*FIELDS, "residuals"), {"array": "centers"}),
    "offset of another shape": ((*FIELDS, "basis", "fields", "offset"), {"array": "values"}),
    "a basis that is a kernel": (
        (*FIELDS, "basis"),
        {"type": "Gaussian", "fields": {"length_scale": 1.0}},
    ),
    "a basis that is text": ((*FIELDS, "basis"), "basis"),
    "a kernel that is text": (
        (*FIELDS, "basis", "fields", "basis", "fields", "kernel"),
        "Gaussian",
    ),
    "a kernel that is a basis": (
        (*FIELDS, "basis", "fields", "basis", "fields", "kernel"),
        {
            "type": "FourierFeatures",
            "fields": {"frequencies": {"array": "centers"}, "phases": {"array": "offset"}},
        },
    ),
    "a bad length": (
        (*FIELDS, "basis", "fields", "basis", "fields", "kernel", "fields", "length_scale"),
        -1.0,
    ),
    "an unknown field": ((*FIELDS, "color"), "red"),
}


@pytest.mark.parametrize("damage", DAMAGED_HEADERS.values(), ids=DAMAGED_HEADERS.keys())
def test_a_damaged_header_is_an_error(damage, tmp_path):
    header, arrays = header_and_arrays()
    put(header, *damage)
    write(tmp_path / "a.npz", header, arrays)
    with pytest.raises(ValueError, match=r"a\.npz"):
        ritz.load(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["values", "coefficients", "centers", "errors", "offset"])
@pytest.mark.parametrize("kind", ["nan", "complex", "text", "flat"])
def test_a_damaged_array_is_an_error(name, kind, tmp_path):
    header, arrays = header_and_arrays()
    array = arrays[name]
    arrays[name] = {
        "nan": np.full_like(array, np.nan),
        "complex": array * 1j,
        "text": array.astype(str),
        "flat": np.float64(3.0),
    }[kind]
    write(tmp_path / "a.npz", header, arrays)
    with pytest.raises(ValueError, match=r"a\.npz"):
        ritz.load(tmp_path / "a.npz")


def test_a_missing_field_is_an_error(tmp_path):
    header, arrays = header_and_arrays()
    for name in list(header["value"]["fields"]):
        one, _ = header_and_arrays()
        del one["value"]["fields"][name]
        write(tmp_path / "a.npz", one, arrays)
        with pytest.raises(ValueError, match=r"a\.npz is not a file saved by ritz"):
            ritz.load(tmp_path / "a.npz")


def test_foreign_files_are_errors(tmp_path):
    spectrum_of("Monomials").save(tmp_path / "good.npz")
    good = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "text.npz").write_text("0.0 1.0 2.0\n")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "noise.npz").write_bytes(np.random.default_rng(0).bytes(1000))
    (tmp_path / "head.npz").write_bytes(good[:1000])
    (tmp_path / "tail.npz").write_bytes(good[1000:])
    (tmp_path / "short.npz").write_bytes(good[:-1])
    np.savez(tmp_path / "foreign.npz", X=PLANE)
    np.savez_compressed(tmp_path / "header.npz", header=np.arange(3.0))
    np.savez(tmp_path / "json.npz", header=np.array("[1, 2"))
    np.savez(tmp_path / "list.npz", header=np.array("[1, 2]"))
    np.savez(tmp_path / "deep.npz", header=np.array("[" * 100_000))
    np.save(tmp_path / "array.npz.npy", PLANE)
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with zipfile.ZipFile(tmp_path / "header.txt.npz", "w") as archive:
        archive.writestr("header", "{}")
    files = sorted(path for path in tmp_path.iterdir() if path.name != "good.npz")
    assert len(files) == 14
    for path in files:
        with pytest.raises(ValueError, match="is not a file saved by ritz, or it is damaged"):
            ritz.load(path)


def test_a_changed_byte_is_an_error_or_harmless(tmp_path):
    """Archives check their parts, so that a byte that changed either matters not or is found."""
    found = spectrum_of("Monomials")
    path = tmp_path / "a.npz"
    found.save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    detected = 0
    for place in rng.integers(len(good), size=400):
        bad = bytearray(good)
        bad[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bad))
        try:
            back = ritz.load(path)
        except ValueError:
            detected += 1
        else:
            np.testing.assert_array_equal(back(FRESH), found(FRESH))
            np.testing.assert_array_equal(back.ritz_values, found.ritz_values)
    assert detected > 200


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        ritz.load(tmp_path / "nowhere.npz")


# Bad arguments.


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRESH[:, :1], "'X' parameter must be an array with 2 columns. Got 1 columns"),
        (FRESH[:, 0], r"'X' parameter must be an array \(n, d\). Got shape \(50,\)"),
        (np.full((2, 2), np.nan), "'X' parameter must be finite. Got nan in row 0"),
        ([["a", "b"]], "'X' parameter must be a numeric array"),
    ],
)
def test_bad_points(X, message):
    found = spectrum_of("Nystrom, Gaussian")
    for call in (found, found.gradient, lambda Z: found.partial(Z, (1, 0))):
        with pytest.raises(ValueError, match=message):
            call(X)


@pytest.mark.parametrize("alpha", [(1,), (1, 0, 0), (-1, 0), (0.5, 0), 1, "10"])
def test_bad_multi_indices(alpha):
    with pytest.raises(ValueError, match="'alpha' parameter must be 2 nonnegative integers"):
        spectrum_of("Monomials").partial(FRESH, alpha)


def test_derivatives_beyond_the_kernels_smoothness():
    with pytest.raises(ValueError, match="derivatives up to order 3; order 4"):
        spectrum_of("Nystrom, Matern 3/2").partial(FRESH, (4, 0))


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, [3]])
def test_k_must_be_a_positive_integer(k):
    with pytest.raises(ValueError, match="'k' parameter must be a positive integer"):
        learn(ritz.Monomials(2), k=k)


def test_k_up_to_the_rank():
    assert len(learn(ritz.Monomials(2), k=6)) == 6
    with pytest.raises(ValueError, match=r"'k' parameter must be at most 6.*Got 7 instead.*k"):
        learn(ritz.Monomials(2), k=7)


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf])
def test_regularization_must_be_nonnegative(gamma):
    with pytest.raises(ValueError, match="'regularization' parameter must be a nonnegative numb"):
        learn(ritz.Monomials(2), regularization=gamma)
