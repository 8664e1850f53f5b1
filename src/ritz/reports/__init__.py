"""One self-contained page about a fit: data, spectrum, functions, evidence (extra `report`)."""

from ritz.reports.render import report

__all__ = ["report"]
