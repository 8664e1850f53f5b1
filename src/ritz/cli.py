"""The command line: `ritz reproduce NAME` computes and draws a figure of the paper."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from ritz.experiments import NAMES, DamagedError, Record, Runner, lacking, load

app = typer.Typer(no_args_is_help=True, add_completion=False)
console = Console()


@app.callback()
def main() -> None:
    """Spectra of operators, learned from samples by the Galerkin method."""


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="An experiment, or all; none lists them.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's sizes, not a minute's.")
    ] = False,
    out: Annotated[Path, typer.Option(file_okay=False, help="Records and figures go here.")] = Path(
        "reproduced"
    ),
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default one a core.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other samples.")] = 0,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Repetitions, of experiments that have them.")
    ] = None,
    backend: Annotated[
        Literal["loky", "threading", "dask"], typer.Option(help="joblib's; dask for a cluster.")
    ] = "loky",
    names: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
) -> None:
    """Compute and draw a figure of the paper; what is already in the folder is not run again."""
    if names or name is None:
        console.print(_contents())
        return
    chosen: tuple[str, ...] = NAMES if name == "all" else (name,)
    try:
        # What is wrong is said before anything runs.
        setting = Setting(full, out, Runner(jobs, progress=True, backend=backend), seed, trials)
        chosen = tuple(one for one in chosen if _ready(one, alone=name != "all"))
        if trials is not None and not any(_repeats(load(one)) for one in chosen):
            raise ValueError(f"{name} has no trials. Leave --trials out.")
    except (ImportError, ValueError) as error:
        raise _refused(error, 2) from None
    for one in chosen:
        try:
            setting.reproduce(one)
        except (DamagedError, OSError) as error:
            raise _refused(error, 1) from None
        except KeyboardInterrupt:
            where = f"Stopped in {one}. Finished tasks are kept in {out}; the same command goes on."
            console.print(where, style="yellow", markup=False, soft_wrap=True)
            # What shells expect of a program that Ctrl-C ended.
            raise typer.Exit(130) from None


def _refused(error: Exception, code: int) -> typer.Exit:
    """Print an error, and return the exit that it makes."""
    console.print(str(error), style="red", markup=False, soft_wrap=True)
    return typer.Exit(code)


def _repeats(experiment: Any) -> bool:
    """Return whether an experiment's config has trials."""
    return any(field.name == "trials" for field in fields(experiment.QUICK))


def _ready(name: str, *, alone: bool) -> bool:
    """Return whether an experiment can run; of many, say that one is left out."""
    missing = lacking(load(name))
    if not missing:
        return True
    what = f"{name} needs {', '.join(missing)}: pip install 'ritz[{missing[0]}]'."
    if alone:
        raise ImportError(what)
    console.print(f"Left out: {what}", style="yellow", markup=False, soft_wrap=True)
    return False


@dataclass(frozen=True)
class Setting:
    """What the options say: how large, where, how, from which seed, and how often."""

    full: bool
    out: Path
    runner: Runner
    seed: int
    trials: int | None

    def reproduce(self, name: str) -> None:
        """Run one experiment, save its figure, and print its numbers."""
        experiment = load(name)
        records_folder = self.out / getattr(experiment, "RECORDS", name)
        config = replace(experiment.FULL if self.full else experiment.QUICK, seed=self.seed)
        if self.trials is not None and _repeats(experiment):
            config = replace(config, trials=self.trials)
        records = experiment.run(config, replace(self.runner, folder=records_folder))
        picture = self.out / name / f"{name}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        experiment.plot(records).savefig(picture, dpi=120)
        console.print(_table(name, _sentence(experiment), experiment.numbers(records)))
        console.print(f"records: {records_folder / 'records.jsonl'}", soft_wrap=True)
        console.print(f"figure:  {picture}\n", soft_wrap=True)


def _contents() -> Table:
    table = Table("name", "shows", title="ritz reproduce NAME")
    for name in NAMES:
        table.add_row(name, _sentence(load(name)))
    return table


def _table(name: str, sentence: str, rows: list[Record]) -> Table:
    table = Table(*rows[0], title=f"{name}: {sentence}")
    for row in rows:
        table.add_row(*map(_text, row.values()))
    return table


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _sentence(experiment: Any) -> str:
    return str(experiment.__doc__).partition("\n")[0]
