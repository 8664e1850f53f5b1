"""Compiled loops equal NumPy: kernel sections by their profile, hashes by splitmix64."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import ritz
from ritz import compiled
from ritz.kernels.kernel import Kernel
from ritz.rows import hash_rows

# Without a C compiler there is nothing to compare, and NumPy is compared with itself.
BUILT = find_spec("ritz._compiled") is not None
COMPILED = [
    ritz.Gaussian(),
    ritz.Exponential(),
    ritz.Matern(0.5),
    ritz.Matern(1.5),
    ritz.Matern(2.5),
]
OTHERS = [
    ritz.Matern(3.5),
    2.5 * ritz.Gaussian(),
    0.5 * ritz.Matern(1.5),
    ritz.Gaussian() + ritz.Matern(1.5),
    ritz.Gaussian() * ritz.Exponential(2.0),
    ritz.RationalQuadratic(0.7),
]
# One output alone, some of them, and all.
WANTED = {
    "values": {},
    "slopes": {"slopes": True},
    "stretched": {"stretched": True},
    "all": {"slopes": True, "stretched": True},
}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def points(d, n=40, p=25):
    """Return points and centers, some of them equal."""
    X, Y = normal(n, d, seed=1), normal(p, d, seed=2)
    X[:5] = Y[:5]
    return X, Y


def assert_sections(kernel, X, Y, offset, wanted):
    """Compare sections with the kernel's profile at distances taken by differences."""
    found = kernel.sections(X, Y, offset, **wanted)
    squares = ((X[:, None] - Y) ** 2).sum(axis=2)
    q, slope = kernel.profile(squares / 2, 1)
    names = {"values": True, "slopes": False, "stretched": False} | wanted
    for name, truth in zip(names, (q, slope, squares * slope), strict=True):
        part = getattr(found, name)
        if not names[name]:
            assert part is None
        elif name == "values" and offset is not None:
            np.testing.assert_allclose(part, truth - offset, rtol=0, atol=1e-13)
        else:
            np.testing.assert_allclose(part, truth, rtol=1e-13, atol=1e-300)


def test_the_compiled_part_is_used_where_it_was_built():
    wanted = os.environ.get("RITZ_COMPILED", "1") != "0"
    assert (BUILT and wanted) == compiled.AVAILABLE
    assert all(kernel.coefficients is not None for kernel in COMPILED)
    assert all(kernel.coefficients is None for kernel in OTHERS)


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("with_offset", [False, True], ids=["plain", "offset"])
@pytest.mark.parametrize("d", [1, 3, 32])
@pytest.mark.parametrize("kernel", COMPILED + OTHERS, ids=str)
def test_sections_are_profiles(kernel, d, with_offset, wanted):
    X, Y = points(d)
    offset = normal(len(Y)) if with_offset else None
    assert_sections(kernel, X, Y, offset, WANTED[wanted])


@pytest.mark.parametrize("p", [1, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("kernel", COMPILED, ids=str)
def test_any_number_of_centers(kernel, p):
    """Centers are taken eight at a time."""
    X, Y = points(3, n=11, p=17)
    assert_sections(kernel, X, Y[:p], normal(p), WANTED["all"])


@pytest.mark.parametrize("with_offset", [False, True], ids=["plain", "offset"])
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("kernel", COMPILED, ids=str)
def test_many_columns(kernel, wanted, with_offset):
    """Beyond 32 columns distances come from a matrix product, exact here up to its rounding."""
    X, Y = points(3)
    offset = normal(len(Y)) if with_offset else None
    few = kernel.sections(X, Y, offset, **WANTED[wanted])
    # Columns of zeros change no distance.
    X, Y = (np.pad(Z, ((0, 0), (0, 37))) for Z in (X, Y))
    many = kernel.sections(X, Y, offset, **WANTED[wanted])
    numpy = Kernel.sections(Uncompiled(kernel), X, Y, offset, **WANTED[wanted])
    for one, other, same in zip(few, many, numpy, strict=True):
        assert (one is None) == (other is None) == (same is None)
        if one is not None:
            np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(other, same, rtol=1e-13, atol=1e-13)


class Uncompiled(Kernel):
    """A kernel that is known to NumPy only."""

    def __init__(self, kernel):
        self.kernel, self.family, self.length_scale = kernel, kernel.family, kernel.length_scale

    def profile(self, u, order):
        return self.kernel.profile(u, order)


@pytest.mark.parametrize("kernel", [*COMPILED, *OTHERS, ritz.Polynomial(2)], ids=str)
@pytest.mark.parametrize("d", [3, 40])
def test_no_points_have_no_values(kernel, d):
    for n, p in ((0, 5), (5, 0), (0, 0)):
        X, Y = np.ones((n, d)), np.ones((p, d))
        assert kernel(X, Y).shape == (n, p)
        found = kernel.sections(X, Y, np.zeros(p), slopes=True)
        assert found.values.shape == found.slopes.shape == (n, p)


def test_the_exponential_is_right_to_the_last_places():
    """A Gaussian at points on a line is the exponential alone."""
    distances = np.sqrt(np.concatenate([np.linspace(0, 1416, 20_001), [1e4, 1e300, 0.0]]))
    found = ritz.Gaussian().sections(distances[:, None], np.zeros((1, 1))).values[:, 0]
    exact = np.exp(-(distances**2) / 2)
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=3e-308)
    assert found[-1] == 1.0


@pytest.mark.parametrize("kernel", COMPILED, ids=str)
def test_points_too_far_to_see_each_other_see_zeros(kernel):
    found = kernel.sections(np.array([[1e4], [1e200]]), np.zeros((1, 1)), **WANTED["all"])
    for part in found:
        assert (np.abs(part[:1]) < 1e-300).all()
    # The square of 1e200 overflows, and the product of infinity and zero is no number.
    assert found.values[1] == found.slopes[1] == 0.0


# Hashes


def splitmix64(row):
    """Return the hash of the bits of a row, one number after the other, by Python's integers."""
    mask, key = 2**64 - 1, 0
    for number in row:
        # Adding zero turns -0.0 into 0.0.
        bits = int(np.float64(number + 0.0).view(np.uint64))
        key = ((key ^ bits) + 0x9E3779B97F4A7C15) & mask
        key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & mask
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & mask
        key ^= key >> 31
    return key


@pytest.mark.parametrize("d", [1, 5, 40])
def test_the_hash_is_splitmix64_of_the_bits(d):
    X = normal(300, d) ** 9
    X[::3, 0], X[::4, d // 2], X[::5, -1], X[7, 0] = -0.0, 0.0, 5e-324, -1e308
    np.testing.assert_array_equal(hash_rows(X), [splitmix64(row) for row in X])
    Y = normal(300, 2, seed=1)
    both = [splitmix64(np.concatenate(pair)) for pair in zip(X, Y, strict=True)]
    np.testing.assert_array_equal(hash_rows(X, Y), both)


# Without the compiled part

RESULTS = """
import sys
import numpy as np
import ritz
from ritz import compiled
from ritz.rows import hash_rows

X = np.random.default_rng(0).normal(size=(600, 3))
kernels = [ritz.Gaussian(1.0), ritz.Exponential([1.0, 2.0, 3.0]), ritz.Matern(2.5, 1.5)]
results = {"available": compiled.AVAILABLE, "hashes": hash_rows(X)}
for number, kernel in enumerate(kernels):
    sums = ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, 20), X, random_state=0)
    spectrum = ritz.decompose_sums(sums, 5)
    results[f"centers {number}"] = sums.left.basis.centers
    for name, part in (("L", sums.L), ("Phi", sums.Phi), ("values", spectrum.values)):
        results[f"{name} {number}"] = np.array(part)
    results[f"functions {number}"] = spectrum(X[:20])
np.savez(sys.argv[1], **results)
"""


def test_results_without_the_compiled_part_are_the_same(tmp_path):
    found = {}
    for choice in ("0", "1"):
        path = tmp_path / f"results{choice}.npz"
        environment = os.environ | {"RITZ_COMPILED": choice}
        command = [sys.executable, "-c", RESULTS, str(path)]
        subprocess.run(command, env=environment, check=True)
        found[choice] = np.load(path)
    numpy, loops = found["0"], found["1"]
    assert not numpy["available"]
    assert loops["available"] == BUILT
    assert set(numpy) == set(loops)
    for name in set(numpy) - {"available"}:
        if name == "hashes" or name.startswith("centers"):
            np.testing.assert_array_equal(numpy[name], loops[name])
        else:
            atol = 1e-12 * np.abs(loops[name]).max()
            np.testing.assert_allclose(numpy[name], loops[name], rtol=0, atol=atol, err_msg=name)
