"""The reference lists every public name once, and no other."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "api"
BLOCK = re.compile(r"currentmodule:: (\S+)\n\.\. autosummary::\n(?: +:.*\n)*\n((?: +\S+\n)+)")


def listed():
    """Return how often each name is listed, by its full name."""
    return Counter(
        f"{module}.{name}"
        for page in PAGES.glob("*.md")
        for module, names in BLOCK.findall(page.read_text(encoding="utf-8"))
        for name in names.split()
    )


@pytest.mark.parametrize("module", ["ritz", "ritz.datasets", "ritz.neural", "ritz.scanpy"])
def test_the_reference_has_every_public_name(module):
    if module == "ritz.neural":
        pytest.importorskip("torch")
    public = import_module(module)
    names = {f"{module}.{name}" for name in public.__all__ if name != "datasets"}
    found = listed()
    assert names - set(found) == set(), "list these in docs/api"
    here = {name for name in found if name.rpartition(".")[0] == module}
    assert here - names == set(), "these are no longer public"


def test_no_name_is_listed_twice():
    assert [name for name, times in listed().items() if times > 1] == []


def test_every_page_of_the_reference_is_in_its_table_of_contents():
    contents = (PAGES / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index"}
    assert pages == set(re.findall(r"^(\w+)$", contents, re.MULTILINE))
