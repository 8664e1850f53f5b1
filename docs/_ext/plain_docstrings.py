"""Read docstrings as the plain text they are: |x - y| and x_ mean nothing to reStructuredText."""

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

# A span of code stays; a bar, a star before a word and an underscore after one are escaped.
SPECIAL = re.compile(r"`[^`]*`|\||\*(?=\S)|(?<=\w)_(?!\w)")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def parts(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield runs of lines, and whether they are text: not an example, a formula or a name."""
    text: list[str] = []
    within: str | int | None = None
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        stripped = line.strip()
        ends = (
            not stripped if within == "example" else stripped and indent(line) <= int(within or 0)
        )
        if within is not None and ends:
            within = None
        if within is None and stripped.startswith(">>>"):
            within = "example"
        elif within is None and stripped.startswith(".. "):
            within = indent(line)
        is_name = following.strip() and indent(following) > indent(line)
        if within is None and not is_name:
            text.append(line)
            continue
        yield True, text
        text = []
        yield False, [line]
    yield True, text


def escape(text: str) -> str:
    return SPECIAL.sub(lambda m: m[0] if m[0].startswith("`") else "\\" + m[0], text)


def process(app: Any, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    done: list[str] = []
    for is_text, run in parts(list(lines)):
        done += escape("\n".join(run)).split("\n") if is_text and run else run
    lines[:] = done


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    # Before numpydoc, which has the default priority.
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
