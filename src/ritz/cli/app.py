"""The program `ritz`, its commands and how it ends."""

from __future__ import annotations

from typing import Annotated

import typer

from ritz.cli import demo, fits, models
from ritz.cli.console import Command
from ritz.version import __version__

FITS, MODELS = "Fit a model to a file", "Use a model that was saved"
START = "Example: ritz demo"
ABOUT = (
    "Spectra of operators from the rows of a file: embeddings, clusters, surrogates.",
    "DATA are CSV, Parquet, Feather or .npy files of any length. The exit code is 0, or 1 where "
    "data or a fit are at fault, 2 where the command is, and 130 after Ctrl-C.",
)

app = typer.Typer(
    name="ritz",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for function, panel, example in (
    (
        fits.embed,
        FITS,
        "ritz embed penguins.csv -o embedded.parquet --nulls drop --exclude year --keep species",
    ),
    (fits.cluster, FITS, "ritz cluster penguins.csv -o clusters.csv --columns 'bill_*'"),
    (fits.spectrum, FITS, "ritz spectrum trajectory.npy -k 12"),
    (fits.surrogate, FITS, "ritz surrogate runs.csv --target y --gradient 'dy_*' --save y.ritz"),
    (models.transform, MODELS, "ritz transform model.ritz new.csv -o embedded.csv"),
    (models.report, MODELS, "ritz report model.ritz penguins.csv -o report.html"),
    (models.info, MODELS, "ritz info model.ritz"),
    (demo.demo, "Start here", "ritz demo --folder first-steps"),
):
    register = app.command(cls=Command, rich_help_panel=panel, epilog=f"Example: {example}")
    register(function)


def show_version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        print(f"ritz {__version__}")
        raise typer.Exit()


@app.callback(help="\n\n".join(ABOUT), epilog=START)
def ritz(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """Run a command; what is said about the program stands in ABOUT."""
