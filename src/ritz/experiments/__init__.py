"""Every figure of the paper, one small module each: `ritz reproduce NAME` runs and draws them.

A module has

- a frozen dataclass `Config` of plain values with a `seed`, and two of them, `QUICK` and `FULL`;
- `run(config, runner=Runner()) -> list[Record]`, through `runner.map` over tasks;
- `plot(records) -> Figure`;
- `numbers(records) -> list[Record]`, the rows of the table that is printed: what to look at;
- `RECORDS = "other"` where the records are those of another experiment.

The first line of its docstring says what it shows.
"""
