"""What a release needs besides code: one version, types, and a way to cite and to report."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import ritz

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", ritz.__version__)
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    attribute = PYPROJECT["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    assert attribute == "ritz.version.__version__"
    # A file that said it again could disagree.
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert not re.search(r"^version:", citation, re.MULTILINE)
    assert f"## {ritz.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_package_says_that_it_has_types():
    assert (Path(ritz.__file__).parent / "py.typed").exists()
    assert "py.typed" in PYPROJECT["tool"]["setuptools"]["package-data"]["ritz"]


def test_wheels_are_built_for_every_python_that_is_named():
    classifiers = PYPROJECT["project"]["classifiers"]
    named = set(re.findall(r"Python :: (3\.\d+)", " ".join(classifiers)))
    built = re.findall(r"cp3(\d+)-", PYPROJECT["tool"]["cibuildwheel"]["build"])
    assert named == {f"3.{minor}" for minor in built}
    assert PYPROJECT["project"]["requires-python"] == f">={min(named)}"


def test_every_public_name_is_found():
    assert {"datasets", "decompose", "Gaussian", "SpectralEmbedding"} <= set(ritz.__all__)
    assert all(hasattr(ritz, name) for name in ritz.__all__)
    assert set(ritz.__all__) <= set(dir(ritz))
    assert not hasattr(ritz, "nothing")


def test_import_is_quick_and_silent():
    script = "import sys, ritz; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
