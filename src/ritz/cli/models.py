"""The commands that use a model which was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

import ritz
from ritz.cli.console import finish, listing
from ritz.cli.data import Source, require_outputs, require_page, require_table, sampled
from ritz.cli.options import (
    Columns,
    Data,
    Debug,
    Delimiter,
    Json,
    Keep,
    Model,
    Nulls,
    NullsOption,
    Output,
    Page,
    ShownData,
    ShownTarget,
)
from ritz.cli.results import facts_of, note_dropped, require_report, values_of, wrote


def transform(
    model: Model,
    data: Data,
    output: Output,
    columns: Columns = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    keep: Keep = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the embedding, clusters or predictions of MODEL at the rows of DATA."""
    require_table(output)
    require_outputs({"--output": output}, [str(model), *data])
    fitted = loaded(model)
    if not is_estimator(fitted):
        what = f"{model} holds a {type(fitted).__name__}, which does not evaluate rows of a file."
        raise ValueError(f"{what} Save an estimator, as ritz embed --save does.")
    source = Source.at(data, nulls, None, delimiter)
    kept = source.kept(keep)
    rows = source.open(columns_of(fitted, source, columns, kept))
    write: Any = getattr(fitted, "transform_to", None) or fitted.predict_to
    n_rows = write(rows, output, keep=kept)
    note_dropped(source, n_rows)
    facts = {"command": "transform", "model": type(fitted).__name__, "rows": n_rows}
    what = "embedding" if hasattr(fitted, "transform_to") else "predictions"
    finish(as_json, {**facts, "output": output}, wrote({what: output}, n_rows))


def report(
    model: Model,
    output: Page,
    data: ShownData = None,
    target: ShownTarget = None,
    columns: Columns = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a page about MODEL, to be opened in a browser."""
    paths = data or []
    require_page(output, "--output")
    require_outputs({"--output": output}, [str(model), *paths])
    if target is not None and not paths:
        raise typer.BadParameter("needs DATA, whose column it is.", param_hint="--target")
    require_report(output)
    fitted = loaded(model)
    X, y = None, None
    if paths:
        source = Source.at(paths, nulls, None, delimiter)
        others = [] if target is None else [source.target(target)]
        chosen = columns_of(fitted, source, columns, others)
        rows = sampled(source.open(None if chosen is None else [*chosen, *others]), 0)
        X, y = (rows, None) if target is None else (rows[:, :-1], rows[:, -1])
    ritz.report(fitted, X, output, y=y, title=f"{type(fitted).__name__}: {model.name}")
    facts = {"command": "report", "model": type(fitted).__name__, "output": output}
    opened = f"Open it in a browser: {output.resolve().as_uri()}"
    finish(as_json, facts, [*wrote({"report": output}), opened])


def info(model: Model, as_json: Json = False, debug: Debug = False) -> None:
    """Print what MODEL is, what was chosen and why, and how sure the result is."""
    fitted = loaded(model)
    if isinstance(fitted, ritz.Spectrum | ritz.SingularSpectrum):
        finish(as_json, {"command": "info", **facts_of(fitted)}, [repr(fitted), values_of(fitted)])
    elif is_estimator(fitted):
        found: Any = fitted.summary()
        chosen = [dict(zip(("name", "value", "why"), row, strict=True)) for row in found.chosen]
        facts = {"command": "info", **facts_of(fitted), "chosen": chosen}
        parts = [found.title, listing("Chosen", found.chosen)]
        for heading, items in (("How sure", found.sure), ("What to try next", found.next)):
            parts.append(listing(heading, [("-", item) for item in items]))
        finish(as_json, {**facts, "sure": found.sure, "next": found.next}, parts)
    else:
        facts = {"command": "info", "model": type(fitted).__name__, "rows": fitted.n_rows}
        finish(as_json, {**facts, "operator": str(fitted.form)}, [repr(fitted)])


def loaded(model: Path) -> Any:
    """Return what a file of `save` holds."""
    if not model.exists():
        raise FileNotFoundError(f"{str(model)!r} is the name of no file.")
    return ritz.load(model)


def is_estimator(fitted: Any) -> bool:
    """Return whether a file held an estimator, and neither a spectrum nor sums."""
    return not isinstance(fitted, ritz.Spectrum | ritz.SingularSpectrum | ritz.Sums)


def columns_of(
    model: Any, source: Source, columns: list[str] | None, others: list[str]
) -> list[str] | None:
    """Return the columns to evaluate a model at: those of its fit, unless others are named."""
    names = getattr(model, "feature_names_in_", None)
    if columns or names is None or source.kinds is None:
        return source.chosen(columns, others)
    missing = [name for name in names if name not in source.kinds]
    if missing:
        what = f"The model was fitted to the column {missing[0]!r}"
        raise ValueError(f"{what}, which {source.paths[0]} has not. Name the columns alike.")
    return list(names)
