"""Check the built site: `python docs/_ext/check_site.py docs/_build/html`.

Every link within it leads to a page and an anchor that exist, and no page loads anything from
elsewhere.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, in contrast to what a reader may follow.
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif (tag, name) in LOADED and value and dict(attrs).get("rel") != "canonical":
                self.loads.append(value)
            elif name == "href" and value:
                self.links.append(value)


def problems(folder: Path) -> list[str]:
    """Return a line for each dead link and for each thing loaded from elsewhere."""
    # Files of the theme are parts of pages, not pages.
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in paths}
    found = []
    for path, page in pages.items():
        here = path.relative_to(folder.resolve())
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{here} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{here}: no file {link}")
            elif parts.fragment and target in pages:
                anchors = pages[target].anchors | {"", "top"}
                if unquote(parts.fragment) not in anchors:
                    found.append(f"{here}: no anchor {link}")
    return found


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    print("\n".join(lines) or "No dead link, and nothing loaded from elsewhere.")
    sys.exit(bool(lines))
