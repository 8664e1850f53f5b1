"""Links in the checkout lead somewhere, and the check of the built site finds what does not."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Written when the site is built.
BUILT = ("docs/_build", "docs/api/generated", "docs/gallery")
PAGES = [
    page
    for folder in (".", "docs", "benchmarks")
    for page in sorted((ROOT / folder).glob("*.md" if folder == "." else "**/*.md"))
    if not page.relative_to(ROOT).as_posix().startswith(BUILT)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_links_to_exists(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text)
    here = [link for link in links if "://" not in link]
    dead = [link for link in here if not (page.parent / link).exists()]
    # The gallery's pages come from the examples.
    assert [link for link in dead if "gallery/" not in link] == []


@pytest.fixture(scope="module")
def problems():
    path = ROOT / "docs" / "_ext" / "check_site.py"
    spec = importlib.util.spec_from_file_location("check_site", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


GOOD = (
    '<a id="here" href="#here"></a><a href="b.html#there">b</a><a href="https://example.org">c</a>'
)


def test_a_site_without_faults_passes(problems, tmp_path):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="there"></p><img src="data:image/png;base64,AA=="/>')
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ('<a href="missing.html">x</a>', "b.html: no file missing.html"),
        ('<a href="a.html#nowhere">x</a>', "b.html: no anchor a.html#nowhere"),
        ('<img src="picture.png">', "b.html: no file picture.png"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "b.html loads https://cdn.example/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example/f.css">',
            "b.html loads //fonts.example/f.css",
        ),
    ],
)
def test_each_kind_of_fault_is_found(problems, tmp_path, fault, line):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text(f'<p id="there"></p>{fault}')
    assert problems(tmp_path) == [line]
