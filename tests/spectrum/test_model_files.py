"""Files of every version that wrote some are read, or refused by their format's name."""

import json

import numpy as np
import pytest

import ritz
from tests.fixtures.models.write import FOLDER, numbers_of, spectrum_of

EXPECTED = json.loads((FOLDER / "expected.json").read_text())
# What classes are called in files, whatever they are called in the code.
TAGS = {
    "Centered",
    "Combination",
    "DotExponential",
    "Estimator",
    "Exponential",
    "FoldMatrices",
    "FormScaled",
    "FourierFeatures",
    "Gaussian",
    "KernelProduct",
    "KernelScaled",
    "KernelSections",
    "KernelSum",
    "Laplacian",
    "Matern",
    "OrthogonalPolynomials",
    "Polynomial",
    "RationalQuadratic",
    "SingularSpectrum",
    "Spectrum",
    "StackedBasis",
    "Sums",
}

# Functions that differ near rounding are scaled up: another exponential moves them by 3e-11.
ROUNDING = {"wide": 5e-9}


def header_of(path):
    with np.load(path, allow_pickle=False) as archive:
        return json.loads(str(archive["header"]))


def tags_of(tree):
    """Yield the names of classes in a header, in its order."""
    if isinstance(tree, dict):
        if "type" in tree:
            yield tree["type"]
        for part in tree.values():
            yield from tags_of(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from tags_of(part)


def test_every_file_is_small_and_has_its_numbers():
    files = {path.stem: path for path in FOLDER.glob("*.npz")}
    assert set(files) == set(EXPECTED)
    assert max(path.stat().st_size for path in files.values()) < 20_000


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_earlier_versions_give_the_same_numbers(name):
    found, expected = ritz.load(FOLDER / f"{name}.npz"), dict(EXPECTED[name])
    assert expected.pop("version")
    assert spectrum_of(found).operator == expected.pop("operator")
    for retired in ritz.Spectrum.retired_fields:
        expected.pop(retired, None)
    numbers = numbers_of(found)
    assert list(numbers) == list(expected)
    for key, then in expected.items():
        if then is None:
            assert numbers[key] is None
            continue
        # Residuals are rounding errors themselves, which differ from processor to processor.
        size = 1.0 if key == "residuals" else np.abs(then).max() or 1.0
        close = ROUNDING.get(name, 1e-12) * size
        np.testing.assert_allclose(numbers[key], then, rtol=0, atol=close, err_msg=key)


def test_these_class_names_are_in_the_files_and_no_others():
    found = {tag for name in EXPECTED for tag in tags_of(header_of(FOLDER / f"{name}.npz"))}
    assert found == TAGS


@pytest.mark.parametrize("name", EXPECTED)
def test_class_names_in_files_do_not_change(name, tmp_path):
    path = FOLDER / f"{name}.npz"
    ritz.load(path).save(tmp_path / "again.npz")
    assert list(tags_of(header_of(tmp_path / "again.npz"))) == list(tags_of(header_of(path)))


@pytest.mark.parametrize("version", ["ritz 0", "ritz 99"])
def test_other_formats_are_refused_by_name(version, tmp_path):
    path = FOLDER / "gaussian.npz"
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header"))) | {"format": version}
    np.savez(tmp_path / "other.npz", header=np.array(json.dumps(header)), **arrays)
    with pytest.raises(ValueError, match=f"{version}'"):
        ritz.load(tmp_path / "other.npz")
