"""First steps: a small file, and what the other commands make of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

import ritz
from ritz.cli.console import printed
from ritz.cli.options import RESULTS, Debug
from ritz.cli.results import require_report

ROWS = 3000


def demo(
    ctx: typer.Context,
    folder: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", rich_help_panel=RESULTS, help="Where to write; made if missing."
        ),
    ] = Path("ritz-demo"),
    debug: Debug = False,
) -> None:
    """Write a small table, embed it, find its clusters, and write a report to open."""
    from ritz.streams.formats import arrow

    require_report(folder)
    arrow()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        message = f"must be a folder that may be written. {str(folder)!r} is not."
        raise typer.BadParameter(message, param_hint="--folder") from None
    data, page = folder / "moons.csv", folder / "report.html"
    write_moons(data)
    printed(f"Wrote {data}: {ROWS:,} points on two half-moons, with a name for each.\n")
    model, kept = str(folder / "moons.ritz"), ["--keep", "id,moon"]
    embedded, clusters = str(folder / "embedded.parquet"), str(folder / "clusters.csv")
    for arguments in (
        ["embed", str(data), "-o", embedded, *kept, "-k", "6", "--save", model],
        ["cluster", str(data), "-o", clusters, *kept, "--report", str(page)],
        ["transform", model, str(data), "-o", str(folder / "again.feather")],
    ):
        printed(f"$ ritz {shlex.join(arguments)}", style="bold")
        run(ctx, arguments)
        printed("")
    printed("The report shows the data, the spectrum, its functions and the clusters.")
    printed(f"Open it in a browser: {page.resolve().as_uri()}")


def run(ctx: typer.Context, arguments: list[str]) -> None:
    """Run another command of the same program."""
    program: Any = ctx.parent
    command = program.command.commands[arguments[0]]
    with command.make_context(arguments[0], arguments[1:], parent=program) as inner:
        command.invoke(inner)


def write_moons(path: Path) -> None:
    """Write a table of points with a number and a name."""
    from ritz.atomic import write_atomically
    from ritz.streams.formats import arrow

    moons = ritz.datasets.half_moons(ROWS, random_state=0)
    labels: Any = moons.labels
    columns = {
        "id": list(range(ROWS)),
        "x": moons.X[:, 0].round(4),
        "y": moons.X[:, 1].round(4),
        "moon": ["lower" if label else "upper" for label in labels.tolist()],
    }
    with write_atomically(path) as file:
        arrow("pyarrow.csv").write_csv(arrow().table(columns), file)
