"""Tables and lists as HTML for notebooks, legible in light and dark, and words for their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

# Rows of a table in a notebook; of more the first ones are shown.
MOST_ROWS = 30
# All colors are those of the text around, so that they fit any theme.
STYLE = """
.ritz-face{color:inherit;color-scheme:light dark;font:13px/1.45 system-ui,sans-serif;
 max-width:100%;overflow-x:auto}
.ritz-face table{border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums}
.ritz-face caption,.ritz-face h4{caption-side:top;text-align:left;font-weight:600;
 padding:.2em 0;margin:.5em 0 .1em;font-size:1em}
.ritz-face th,.ritz-face td{background:transparent;color:inherit;padding:.15em .7em;border:0;
 border-bottom:1px solid color-mix(in srgb,currentColor 22%,transparent);text-align:right;
 vertical-align:top;white-space:nowrap}
.ritz-face thead th{border-bottom:1px solid currentColor;font-weight:600}
.ritz-face .ritz-text{text-align:left;white-space:normal}
.ritz-face tr.ritz-mark>*{font-weight:600;
 background:color-mix(in srgb,currentColor 9%,transparent)}
.ritz-face ul{margin:.2em 0;padding-left:1.3em}
.ritz-face p{margin:.3em 0}
"""


def face(*parts: str) -> str:
    """Return parts in HTML as what a notebook shows."""
    return f'<div class="ritz-face"><style>{STYLE}</style>{"".join(parts)}</div>'


def table(
    caption: str,
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text: Sequence[int] = (),
    marked: Sequence[int] = (),
    most: int = MOST_ROWS,
) -> str:
    """Return a table in HTML; the first cell of each row is its header.

    Parameters
    ----------
    caption
        What stands above it.
    headers, rows
        The cells, as plain text; without any header there is no row of them.
    text
        The numbers of columns that hold text and not numbers.
    marked
        The numbers of rows to stress.
    most
        The most rows to show, the first ones.
    """
    rows = list(rows)
    words = {column: ' class="ritz-text"' for column in text}
    heads = "".join(
        f'<th scope="col"{words.get(j, "")}>{escape(header)}</th>'
        if header
        else f"<td{words.get(j, '')}></td>"
        for j, header in enumerate(headers)
    )
    lines = []
    for i, row in enumerate(rows[:most]):
        cells = "".join(
            f'<th scope="row"{words.get(j, "")}>{escape(cell)}</th>'
            if j == 0
            else f"<td{words.get(j, '')}>{escape(cell)}</td>"
            for j, cell in enumerate(row)
        )
        lines.append(f'<tr class="ritz-mark">{cells}</tr>' if i in marked else f"<tr>{cells}</tr>")
    more = len(rows) - most
    end = f"<p>and {more} more</p>" if more > 0 else ""
    top = f"<thead><tr>{heads}</tr></thead>" if any(headers) else ""
    body = f"{top}<tbody>{''.join(lines)}</tbody>"
    return f"<table><caption>{escape(caption)}</caption>{body}</table>{end}"


def paragraphs(lines: Iterable[str]) -> str:
    """Return lines of text as paragraphs in HTML."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def listing(heading: str, items: Sequence[str]) -> str:
    """Return sentences as a list in HTML, nothing if there are none."""
    points = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<h4>{escape(heading)}</h4><ul>{points}</ul>" if items else ""


def rounded(text: str) -> str:
    """Return a text with its decimal numbers rounded to four digits."""
    return re.sub(r"\d+\.\d+(e[-+]\d+)?", lambda number: f"{float(number[0]):.4g}", text)


def numbered(numbers: Iterable[int], noun: str = "function") -> str:
    """Return numbers in words: "function 3", "functions 1 to 4 and 7"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = []
    for run in runs:
        texts += [str(n) for n in run] if len(run) < 3 else [f"{run[0]} to {run[-1]}"]
    several = sum(map(len, runs)) > 1
    joined = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"{noun}{'s' * several} {joined}"
