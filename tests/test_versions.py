"""The lowest versions that pyproject.toml allows are those that `make test-oldest` installs."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *(r for name in EXTRAS for r in EXTRAS[name])]
# Tools that no test in that environment uses: linters, type checkers, peers in benchmarks, and what
# builds the site.
NOT_INSTALLED = {
    "Sphinx",
    "codespell",
    "ipykernel",
    "latex2mathml",
    "myst-nb",
    "numpydoc",
    "pydata-sphinx-theme",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-gallery",
    "deeptime",
    "scanpy",
    "umap-learn",
    "anndata",
    "array-api-strict",
    "bokeh",
    "gpytorch",
    "import-linter",
    "jinja2",
    "klap",
    "mypy",
    "numba",
    "psutil",
    "ruff",
    "scipy-stubs",
    "selenium",
    "smt",
    "zarr",
}


def pins():
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize(
    "requirement",
    [r for r in map(Requirement, REQUIREMENTS) if r.name not in NOT_INSTALLED],
    ids=str,
)
def test_the_oldest_environment_has_the_lower_bound(requirement):
    [bound] = requirement.specifier
    assert bound.operator == ">="
    assert Version(pins()[requirement.name]) == Version(bound.version)
