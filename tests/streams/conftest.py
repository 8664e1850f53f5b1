"""Rows and the files that hold them."""

import gzip
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zarr

N = 1500
NAMES = ["a", "b"]
FORMATS = ("parquet", "csv", "csv.gz", "feather", "folder", "list", "pattern", "npy", "zarr")


def rows():
    """Two clusters, the rows of which differ."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    X[:, 0] += 5.0 * (np.arange(N) % 2)
    return X


X = rows()
VALUES = np.sin(X[:, 0]) * X[:, 1]
GRADIENTS = np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
LABELS = np.where(np.arange(N) < 60, np.arange(N) % 2, -1)


def table():
    columns = dict(zip(NAMES, X.T, strict=True))
    columns |= {"y": VALUES, "da": GRADIENTS[:, 0], "db": GRADIENTS[:, 1], "label": LABELS}
    return pa.table(columns | {"id": [f"row {i}" for i in range(N)]})


def write(folder, kind):
    """Write the rows as files of a kind; return what `ritz.open` takes, and the columns."""
    path, all_rows = folder / f"rows.{kind}", table()
    if kind == "parquet":
        pq.write_table(all_rows, path, row_group_size=400)
    elif kind == "csv":
        pa.csv.write_csv(all_rows, path)
    elif kind == "csv.gz":
        pa.csv.write_csv(all_rows, folder / "rows.csv")
        with open(folder / "rows.csv", "rb") as source, gzip.open(path, "wb") as target:
            shutil.copyfileobj(source, target)
    elif kind == "feather":
        pa.feather.write_feather(all_rows, path, chunksize=300)
    elif kind == "npy":
        np.save(path, X)
        return path, None
    elif kind == "zarr":
        zarr.save(path, X)
        return path, None
    else:
        path = folder / "many"
        path.mkdir()
        parts = [path / f"{number}.parquet" for number in range(3)]
        for number, part in enumerate(parts):
            pq.write_table(all_rows.slice(500 * number, 500), part)
        path = {"folder": path, "list": parts, "pattern": str(path / "*.parquet")}[kind]
    return path, NAMES


@pytest.fixture
def parquet(tmp_path):
    return write(tmp_path, "parquet")[0]
