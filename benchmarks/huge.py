"""Rows beyond memory: seconds and resident memory of a fit, and of embedding a file into a file.

python -m benchmarks.huge                                   10^8 rows from generated blocks
python -m benchmarks.huge --source mapped --folder DIR      the same from a map of a file
python -m benchmarks.huge --source parquet --rows 3e6 --folder DIR   Parquet to embedded Parquet

Files are written first, outside of the measurement.

Memory is the most anonymous memory that is resident: pages of mapped files are not counted.
"""

import argparse
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

import ritz
from ritz.atomic import write_atomically

BLOCK_ROWS = 131_072


def blocks(rows, columns):
    """Yield rows of a mixture of normal distributions, the same at each call."""
    for number, start in enumerate(range(0, rows, BLOCK_ROWS)):
        rng = np.random.default_rng(number)
        n = min(BLOCK_ROWS, rows - start)
        X = rng.standard_normal(size=(n, columns))
        X[:, 0] += 4.0 * rng.integers(0, 2, size=n)
        yield X


def mapped(rows, columns, folder):
    """Return rows as a .npy file, written first."""
    path = folder / f"rows_{rows}_{columns}.npy"
    file = np.lib.format.open_memmap(path, "w+", np.float64, (rows, columns))
    start = 0
    for X in blocks(rows, columns):
        file[start : start + len(X)] = X
        start += len(X)
    file.flush()
    return path


def parquet(rows, columns, folder):
    """Return rows with numbers of their own as a Parquet file, written first."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, start = folder / f"rows_{rows}_{columns}.parquet", 0
    names = [f"x{j}" for j in range(columns)]
    schema = pa.schema([("id", pa.int64()), *((name, pa.float64()) for name in names)])
    with write_atomically(path) as file, pq.ParquetWriter(file, schema) as writer:
        for X in blocks(rows, columns):
            table = {"id": np.arange(start, start + len(X)), **dict(zip(names, X.T, strict=True))}
            writer.write_table(pa.table(table, schema))
            start += len(X)
    return path, names


class AnonymousMemory(threading.Thread):
    """The most anonymous memory that is resident while it runs, in bytes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.stopped = 0, threading.Event()

    def run(self):
        while not self.stopped.wait(0.05):
            self.peak = max(self.peak, self.now())

    @staticmethod
    def now():
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.split("RssAnon:")[1].split()[0])


def measured(name, call):
    """Print the seconds that a call takes, and the most anonymous memory."""
    memory = AnonymousMemory()
    memory.start()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    memory.stopped.set()
    memory.join()
    print(f"{name:<40}{seconds:>10.1f} s{max(memory.peak, memory.now()) / 1e6:>10.0f} MB")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--centers", type=int, default=200)
    parser.add_argument("--source", choices=("blocks", "mapped", "parquet"), default="blocks")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, columns = int(options.rows), options.columns
    print(ritz.plan(rows, columns, n_centers=options.centers), end="\n\n")
    model = ritz.SpectralEmbedding(
        3, operator="laplacian", n_centers=options.centers, random_state=0
    )
    if options.source == "blocks":
        stream = ritz.Batches(partial(blocks, rows, columns))
        measured(f"fit to {rows:,} generated rows", lambda: model.fit(stream))
    elif options.source == "mapped":
        path = mapped(rows, columns, options.folder)
        measured(f"fit to {rows:,} mapped rows", lambda: model.fit(ritz.open(path)))
        path.unlink()
    else:
        path, names = parquet(rows, columns, options.folder)
        out = path.with_name("embedded.parquet")

        def embed():
            table = ritz.open(path, columns=names)
            model.fit(table)
            return model.transform_to(table, out, keep=["id"])

        measured(f"{rows:,} rows of Parquet to Parquet", embed)
        print(f"{path.stat().st_size / 1e6:.0f} MB read, {out.stat().st_size / 1e6:.0f} MB written")
        path.unlink()
        out.unlink()
    print(model.spectrum_)


if __name__ == "__main__":
    main()
