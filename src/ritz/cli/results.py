"""What a model found, as facts for programs and as texts for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

import ritz
from ritz.cli.console import note, table
from ritz.cli.data import Source
from ritz.cli.samples import sampled

if TYPE_CHECKING:
    from ritz.spectrum import SingularSpectrum, Spectrum
    from ritz.streams import Stream


def facts_of(model: Any) -> dict[str, Any]:
    """Return the numbers of a fit, for JSON."""
    facts: dict[str, Any] = {"model": type(model).__name__}
    for name in ("n_features_in_", "feature_names_in_", "n_clusters_", "sure_", "length_scale_"):
        if hasattr(model, name):
            facts[name.rstrip("_").removesuffix("_in")] = getattr(model, name)
    if isinstance(model, ritz.HermiteRegressor):
        facts["n_functions"] = model.n_centers_
        facts["gradient_weight"] = model.gradient_weight_
        facts["regularization"] = model.regularization_
        return facts
    levels = model if isinstance(model, ritz.Spectrum | ritz.SingularSpectrum) else model.spectrum_
    singular = isinstance(levels, ritz.SingularSpectrum)
    first = 0 if singular or model is levels else 1
    kind = "singular_value" if singular else "eigenvalue"
    facts["operator"] = str(levels.operator)
    facts["fitted_rows"] = levels.n_rows
    facts[f"{kind}s"] = levels.values[first:]
    facts[f"{kind}_errors"] = None if levels.errors is None else levels.errors[first:]
    return facts


def values_of(levels: Spectrum | SingularSpectrum) -> Table:
    """Return the table of values with errors and multiplicities."""
    from ritz.spectrum.spectrum import cells

    name = "singular value" if isinstance(levels, ritz.SingularSpectrum) else "eigenvalue"
    headers, rows = cells(levels, name)
    return table(("number", *headers[1:-1], "note"), rows)


def title_of(model: Any) -> str:
    """Return in a line what was fitted, and to what."""
    levels = model.spectrum_
    n = model.n_features_in_
    columns = f"{levels.n_rows:,} rows of {n} column{'' if n == 1 else 's'}"
    return f"{type(model).__name__} by {levels.operator}: {columns}"


def note_dropped(source: Source, left: int) -> None:
    """Say how many rows lack a number, where they are left out."""
    if source.nulls == "drop":
        n_rows = source.count_rows()
        if n_rows > left:
            note(f"Left out, as they lack a number: {n_rows - left:,} of {n_rows:,} rows.")


def sizes_of_clusters(path: Path, n_clusters: int) -> list[int]:
    """Return how many rows of a file that was written are in each cluster."""
    rows = ritz.open(path, None if path.suffix == ".npy" else ["cluster"])
    sizes = [0] * n_clusters
    for block in rows.blocks():
        labels = block.views[0][:, 0]
        sizes = [size + int((labels == j).sum()) for j, size in enumerate(sizes)]
    return sizes


def require_report(path: Path | None) -> None:
    """Raise before a fit where what a report needs is not installed."""
    if path is not None:
        from ritz.reports.render import require_extras

        require_extras()


def write_report(model: Any, rows: Stream, path: Path, seed: int) -> None:
    """Write the page about a fit, on all rows or a sample of them."""
    from ritz.reports.render import write_page

    title = f"{type(model).__name__}: {path.stem}"
    write_page(model, sampled(rows, seed), path, title=title, drawn_from=n_rows_of(rows))


def n_rows_of(rows: Stream) -> int:
    """Return how many rows a stream has."""
    return rows.n_rows or sum(len(block) for block in rows.blocks())


def wrote(files: dict[str, Path | None], n_rows: int | None = None) -> list[str]:
    """Return a line for each file that was written."""
    counted = "" if n_rows is None else f", {n_rows:,} rows"
    lines = []
    for what, path in files.items():
        if path is not None:
            lines.append(f"Wrote {path}: {what}{'' if what in ('report', 'model') else counted}.")
    return lines
