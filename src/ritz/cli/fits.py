"""The commands that fit a model to the rows of files."""

from __future__ import annotations

from math import isfinite, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ritz
from ritz.cli.console import finish, note
from ritz.cli.data import Source, listed
from ritz.cli.options import (
    Centers,
    Clusters,
    Columns,
    Data,
    Debug,
    Delimiter,
    Eigenvalues,
    Exclude,
    Functions,
    Gradient,
    Json,
    Keep,
    Nulls,
    NullsOption,
    Operator,
    OperatorOption,
    OptionalOutput,
    Output,
    Report,
    Save,
    Scale,
    ScaleOption,
    Seed,
    Target,
    Weight,
)
from ritz.cli.outputs import require_outputs, require_page, require_table
from ritz.cli.results import (
    facts_of,
    note_dropped,
    require_report,
    sizes_of_clusters,
    title_of,
    values_of,
    write_report,
    wrote,
)
from ritz.cli.targets import gradient_columns, note_derivatives, target_of

if TYPE_CHECKING:
    from ritz.streams import Stream


def embed(
    data: Data,
    output: Output,
    k: Functions = "8",
    columns: Columns = None,
    exclude: Exclude = None,
    weight: Weight = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    keep: Keep = None,
    report: Report = None,
    save: Save = None,
    operator: OperatorOption = Operator.auto,
    centers: Centers = "auto",
    scale: ScaleOption = Scale.auto,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the first eigenfunctions of an operator at each row of DATA."""
    require_files(data, output, report, save, keep)
    source = Source.at(data, nulls, weight, delimiter, exclude)
    kept = source.kept(keep)
    rows = source.open(source.chosen(columns, kept))
    options = spectral(operator, centers, scale, seed)
    model = ritz.SpectralEmbedding(count_of(k), **options).fit(rows)
    n_rows = model.transform_to(rows, output, keep=kept)
    note_dropped(source, n_rows)
    others = write_others(model, rows, report, save, seed)
    facts = {"command": "embed", **facts_of(model), "rows": n_rows, "output": output, **others}
    lines = wrote({"embedding": output, "report": report, "model": save}, n_rows)
    finish(as_json, facts, [title_of(model), values_of(model.spectrum_), *lines])


def cluster(
    data: Data,
    output: Output,
    k: Clusters = "auto",
    columns: Columns = None,
    exclude: Exclude = None,
    weight: Weight = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    keep: Keep = None,
    report: Report = None,
    save: Save = None,
    operator: OperatorOption = Operator.auto,
    centers: Centers = "auto",
    scale: ScaleOption = Scale.auto,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the cluster of each row of DATA."""
    require_files(data, output, report, save, keep)
    source = Source.at(data, nulls, weight, delimiter, exclude)
    kept = source.kept(keep)
    rows = source.open(source.chosen(columns, kept))
    options = spectral(operator, centers, scale, seed)
    model = ritz.SpectralClustering(count_of(k), **options).fit(rows)
    n_rows = model.predict_to(rows, output, keep=kept)
    note_dropped(source, n_rows)
    sizes = sizes_of_clusters(output, model.n_clusters_)
    others = write_others(model, rows, report, save, seed)
    facts = {"command": "cluster", **facts_of(model), "sizes": sizes, "rows": n_rows}
    sure = ""
    if hasattr(model, "sure_"):
        sure = ", a clear number" if model.sure_ else ", though the number is not sure"
    found = f"{model.n_clusters_} cluster{'' if model.n_clusters_ == 1 else 's'}{sure}."
    counts = listed(f"{j}: {size:,}" for j, size in enumerate(sizes))
    lines = wrote({"clusters": output, "report": report, "model": save}, n_rows)
    parts = [title_of(model), found, f"Rows of each cluster: {counts}.", *lines]
    finish(as_json, {**facts, "output": output, **others}, parts)


def spectrum(
    data: Data,
    k: Eigenvalues = "8",
    columns: Columns = None,
    exclude: Exclude = None,
    weight: Weight = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    report: Report = None,
    save: Save = None,
    operator: OperatorOption = Operator.auto,
    centers: Centers = "auto",
    scale: ScaleOption = Scale.auto,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the eigenvalues of an operator on DATA, with their errors."""
    require_files(data, None, report, save)
    source = Source.at(data, nulls, weight, delimiter, exclude)
    rows = source.open(source.chosen(columns))
    options = spectral(operator, centers, scale, seed)
    model = ritz.SpectralEmbedding(count_of(k), **options).fit(rows)
    if weight is None:
        note_dropped(source, model.spectrum_.n_rows)
    others = write_others(model, rows, report, save, seed)
    facts = {"command": "spectrum", **facts_of(model), **others}
    lines = wrote({"report": report, "model": save})
    finish(as_json, facts, [title_of(model), values_of(model.spectrum_), *lines])


def surrogate(
    data: Data,
    target: Target,
    gradient: Gradient = None,
    columns: Columns = None,
    exclude: Exclude = None,
    weight: Weight = None,
    nulls: NullsOption = Nulls.error,
    delimiter: Delimiter = ",",
    output: OptionalOutput = None,
    keep: Keep = None,
    report: Report = None,
    save: Save = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Fit a function of the columns of DATA to values and derivatives (Hermite regression)."""
    require_files(data, output, report, save, keep)
    source = Source.at(data, nulls, weight, delimiter, exclude)
    kept = source.kept(keep)
    target = target_of(source, target)
    slopes = source.named(gradient or (), "--gradient")
    inputs = source.chosen(columns, [*kept, target, *slopes])
    slopes = gradient_columns(source, gradient or (), inputs or ())
    rows = source.open(inputs)
    if slopes:
        pairs = [f"{slope} by {name}" for slope, name in zip(slopes, inputs or (), strict=True)]
        note(f"Derivatives of {target}: {listed(pairs)}.")
    elif columns is None:
        note_derivatives(source, target, inputs or ())
    model = ritz.HermiteRegressor(random_state=seed).fit(rows, target, gradient=slopes or None)
    n_rows = None if output is None else model.predict_to(rows, output, keep=kept)
    others = write_others(model, rows, report, save, seed)
    found = model.summary()
    facts = {"command": "surrogate", **facts_of(model), "target": target, "gradient": slopes}
    path = model.path_
    errors = [] if path is None else [error for error in path.errors.tolist() if isfinite(error)]
    if errors:
        facts["relative_error_left_out"] = sqrt(min(errors))
    facts |= {"sure": found.sure, "rows": n_rows, "output": output, **others}
    lines = wrote({"predictions": output, "report": report, "model": save}, n_rows)
    finish(as_json, facts, [found.title, *found.sure, *lines])


def count_of(k: str) -> Any:
    """Return the number that an option names, or "auto"."""
    return k if k == "auto" else int(k)


def spectral(operator: Operator, centers: str, scale: Scale, seed: int) -> dict[str, Any]:
    """Return the options of commands that find a spectrum as arguments of its estimators."""
    return {
        "operator": operator.value,
        "n_centers": count_of(centers),
        "scale": None if scale is Scale.none else scale.value,
        "random_state": seed,
    }


def require_files(
    data: list[str],
    output: Path | None,
    report: Path | None,
    save: Path | None,
    keep: list[str] | None = None,
) -> None:
    """Raise for a file that cannot be written, before anything is computed."""
    require_table(output, keep)
    require_page(report, "--report")
    require_outputs({"--output": output, "--report": report, "--save": save}, data)
    require_report(report)


def write_others(
    model: Any, rows: Stream, report: Path | None, save: Path | None, seed: int
) -> dict[str, Path | None]:
    """Write the model and the report that were asked for, and return where they are."""
    if save is not None:
        model.save(save)
    if report is not None:
        write_report(model, rows, report, seed)
    return {"report": report, "saved": save}
