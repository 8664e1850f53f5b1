"""The commands that use a model which was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import ritz
from ritz.cli.console import finish, in_words, listing
from ritz.cli.data import Source, is_plain
from ritz.cli.options import (
    Data,
    Debug,
    Delimiter,
    Json,
    Keep,
    Model,
    ModelColumns,
    Nulls,
    NullsOption,
    Output,
    Page,
    ShownData,
    ShownTarget,
    Slopes,
    Std,
)
from ritz.cli.outputs import require_outputs, require_page, require_table
from ritz.cli.results import facts_of, n_rows_of, note_dropped, require_report, values_of, wrote
from ritz.cli.samples import REPORT_ROWS, sampled, with_target
from ritz.cli.targets import target_of

if TYPE_CHECKING:
    from ritz.hermite import HermiteRegressor


def transform(
    model: Model,
    data: Data,
    output: Output,
    columns: ModelColumns = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    keep: Keep = None,
    std: Std = False,
    gradient: Slopes = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the embedding, clusters or predictions of MODEL at the rows of DATA."""
    require_table(output, keep)
    require_outputs({"--output": output}, [str(model), *data])
    fitted = loaded(model)
    if not is_estimator(fitted):
        what = f"{model} holds a {type(fitted).__name__}, which does not evaluate rows of a file."
        raise ValueError(f"{what} Save an estimator, as ritz embed --save does.")
    for asked, option in ((std, "--std"), (gradient, "--gradient")):
        if asked and not isinstance(fitted, ritz.HermiteRegressor):
            message = f"needs a model of ritz surrogate. {model} holds a {type(fitted).__name__}."
            raise typer.BadParameter(message, param_hint=option)
    source = Source.at(data, nulls, None, delimiter)
    kept = source.kept(keep)
    rows = source.open(columns_of(fitted, source, columns, kept))
    if std or gradient:
        n_rows = write_certainty(fitted, rows, output, kept, std, gradient)
    else:
        write: Any = getattr(fitted, "transform_to", None) or fitted.predict_to
        n_rows = write(rows, output, keep=kept)
    note_dropped(source, n_rows)
    facts = {"command": "transform", "model": type(fitted).__name__, "rows": n_rows}
    what = "embedding" if hasattr(fitted, "transform_to") else "predictions"
    finish(as_json, {**facts, "output": output}, wrote({what: output}, n_rows))


def write_certainty(
    model: HermiteRegressor, rows: Any, output: Path, keep: list[str], std: bool, gradient: bool
) -> int:
    """Write predictions with standard deviations and partial derivatives; return how many rows."""
    import numpy as np

    from ritz.estimators.writing import write_values

    columns = getattr(model, "feature_names_in_", range(model.n_features_in_))
    one = model.predict(np.zeros((1, model.n_features_in_)))
    # Several outputs are numbered.
    numbers = [""] if one.ndim == 1 else list(map(str, range(one.shape[1])))
    names = [f"prediction{j}" for j in numbers]
    names += [f"std{j}" for j in numbers if std]
    names += [f"d{j}_{column}" for column in columns for j in numbers if gradient]

    def values(X: Any) -> Any:
        parts = model.predict(X, return_std=True) if std else (model.predict(X),)
        parts = (*parts, model.predict_gradient(X)) if gradient else parts
        return np.concatenate([part.reshape(len(X), -1) for part in parts], axis=1)

    return write_values(model, rows, output, values, names, keep)


def report(
    model: Model,
    output: Page,
    data: ShownData = None,
    target: ShownTarget = None,
    columns: ModelColumns = None,
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
    from ritz.reports.render import write_page

    fitted = loaded(model)
    X, y, n_rows = None, None, 0
    if paths:
        source = Source.at(paths, nulls, None, delimiter)
        labels = not isinstance(fitted, ritz.HermiteRegressor)
        others = [] if target is None else [target_of(source, target, labels=labels)]
        chosen = columns_of(fitted, source, columns, others)
        if target is None:
            rows = source.open(chosen)
            X, n_rows = sampled(rows, 0), n_rows_of(rows)
        else:
            X, y = with_target(source, chosen or (), others[0], labels)
            n_rows = source.count_rows() if len(X) == REPORT_ROWS else len(X)
    title = f"{type(fitted).__name__}: {model.name}"
    write_page(fitted, X, output, y, title, drawn_from=n_rows)
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
            parts.append(listing(heading, [("-", in_words(item)) for item in items]))
        facts |= {"sure": list(map(in_words, found.sure)), "next": list(map(in_words, found.next))}
        finish(as_json, facts, parts)
    else:
        facts = {"command": "info", "model": type(fitted).__name__, "rows": fitted.n_rows}
        finish(as_json, {**facts, "operator": str(fitted.form)}, [repr(fitted)])


def loaded(model: Path) -> Any:
    """Return what a file of `save` holds."""
    from ritz.streams.paths import no_file, read_format

    if not model.exists():
        raise no_file(model)
    if read_format(str(model)) is not None or is_plain([str(model)]):
        raise ValueError(f"{model} is a table and not a saved model. Name a file of --save.")
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
