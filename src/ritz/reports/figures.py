"""Pictures of a report as SVG whose lines and text take the color of the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

from ritz.pictures import GRAY, matplotlib_module

# A color that pictures do not have otherwise; the page puts its own in its place.
INK = "#010203"
STYLE = {
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor"], INK),
    **dict.fromkeys(["xtick.color", "ytick.color", "grid.color"], INK),
    "font.family": "sans-serif",
    "font.size": 10.0,
    "svg.fonttype": "none",
    "legend.framealpha": 0.0,
}
# The resolution of points, which are pixels: vectors of thousands would be large.
DOTS_PER_INCH = 144


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, with a text that stands for it, and what to say below it."""

    svg: str
    caption: str


@contextmanager
def style() -> Iterator[None]:
    """Draw in the colors that `picture` replaces."""
    with matplotlib_module("pyplot").rc_context(STYLE):
        yield


def new_axes(size: tuple[float, float], projection: str | None = None) -> Any:
    """Return axes of a figure of its own, which pyplot does not keep."""
    figure = matplotlib_module("figure").Figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection=projection)


def picture(
    name: str,
    size: tuple[float, float],
    draw: Callable[[Any], Any],
    text: str,
    caption: str = "",
    projection: str | None = None,
) -> Picture:
    """Return what `draw` draws on axes.

    Parameters
    ----------
    name
        The name of the picture in the page, one word.
    size
        The size in inches.
    draw
        A function of matplotlib axes.
    text
        What the picture shows, for those who do not see it.
    caption
        What to say below it.
    projection
        The projection of the axes, "3d" or None.
    """
    with style():
        ax = new_axes(size, projection)
        draw(ax)
        return Picture(as_svg(ax.figure, name, text), caption)


def as_svg(figure: Any, name: str, text: str) -> str:
    """Return a figure as SVG for a page, with names of its own."""
    file = StringIO()
    figure.savefig(file, format="svg", transparent=True, dpi=DOTS_PER_INCH, metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several pictures of one page must not share names.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    svg = svg.replace(INK, "currentColor").replace(GRAY, "var(--muted)")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(text)}" ', 1)
