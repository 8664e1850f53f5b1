"""Columns of files beside those of X: targets are none of them, and kept ones have one type."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ritz
from tests.streams.conftest import NAMES, N, X, table


@pytest.mark.parametrize(
    ("columns", "name", "call"),
    [
        (None, "label", lambda rows: ritz.LaplacianClassifier().fit(rows, "label")),
        ([*NAMES, "y"], "y", lambda rows: ritz.LaplacianRegressor().fit(rows, "y")),
        ([*NAMES, "y"], "y", lambda rows: ritz.HermiteRegressor().fit(rows, "y")),
        (
            [*NAMES, "db"],
            "db",
            lambda rows: ritz.HermiteRegressor().fit(rows, "y", gradient=["da", "db", "id"]),
        ),
    ],
    ids=["classifier", "regressor", "hermite", "gradient"],
)
def test_a_target_is_no_column_of_the_rows(tmp_path, columns, name, call):
    path = tmp_path / "rows.parquet"
    pq.write_table(table().drop_columns(["id"]) if columns is None else table(), path)
    argument = "gradient" if name == "db" else "y"
    what = rf"'{argument}' parameter .*'{name}', which is a column of X too.*columns=\[\.\.\.\]"
    with pytest.raises(ValueError, match=what):
        call(ritz.open(path, columns))


def in_two_files(folder, first, second, kind="parquet"):
    """Write half of the rows each, with a column of other entries."""
    for number, entries in enumerate((first, second)):
        part = slice(number * (N // 2), (number + 1) * (N // 2))
        columns = dict(zip(NAMES, X[part].T, strict=True)) | {"id": entries}
        path = folder / f"{number}.{kind}"
        write = pq.write_table if kind == "parquet" else pa.csv.write_csv
        write(pa.table(columns), path)
    return ritz.open(str(folder / f"*.{kind}"), NAMES)


@pytest.fixture(scope="module")
def model():
    names = {"a": X[:, 0], "b": X[:, 1]}
    import pandas as pd

    return ritz.SpectralEmbedding(2, n_centers=30, random_state=0).fit(pd.DataFrame(names))


WHOLE, TEXTS = np.arange(N // 2), [f"row {i}" for i in range(N // 2)]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(("first", "second"), [(WHOLE, TEXTS), (TEXTS, WHOLE)], ids=["0", "1"])
def test_a_kept_column_of_several_types_is_named_with_its_files(
    model, tmp_path, first, second, kind
):
    rows = in_two_files(tmp_path, first, second, kind)
    with pytest.raises(ValueError, match=rf"Column 'id'.*1\.{kind}.*0\.{kind}.*leave the column"):
        model.transform_to(rows, tmp_path / "out.feather", keep=["id"])
    assert not (tmp_path / "out.feather").exists()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("other", [WHOLE + 0.5, pa.nulls(N // 2)], ids=["fractions", "nulls"])
def test_kept_columns_have_the_type_that_holds_those_of_all_files(model, tmp_path, other, kind):
    expected = pa.array(other).cast(pa.float64()).to_pylist()
    for entries, order in (((WHOLE, other), 1), ((other, WHOLE), -1)):
        rows = in_two_files(tmp_path, *entries, kind)
        assert model.transform_to(rows, tmp_path / "out.pq", keep=["a", "id"]) == N
        found = pq.read_table(tmp_path / "out.pq")["id"].to_pylist()
        assert found == [*WHOLE.tolist(), *expected] if order == 1 else [*expected, *WHOLE.tolist()]


def test_a_number_that_another_type_does_not_hold_is_named(model, tmp_path):
    large = WHOLE + 2**53
    rows = in_two_files(tmp_path, large, WHOLE + 0.5)
    with pytest.raises(ValueError, match=r"Column 'id' .*rows 0 to \d+ .*double"):
        model.transform_to(rows, tmp_path / "out.pq", keep=["id"])


def test_a_kept_column_that_one_file_lacks_is_named_before_any_work(model, tmp_path, monkeypatch):
    rows = in_two_files(tmp_path, WHOLE, WHOLE)
    pq.write_table(table().select(NAMES), tmp_path / "1.parquet")
    rows = ritz.open(str(tmp_path / "*.parquet"), NAMES)
    monkeypatch.setattr(type(rows), "with_columns", None)
    with pytest.raises(ValueError, match=r"1\.parquet has no column 'id'"):
        model.transform_to(rows, tmp_path / "out.feather", keep=["id"])


def test_columns_written_do_not_replace_kept_ones(tmp_path):
    targets = np.column_stack([X[:, 0], X[:, 1]])
    model = ritz.HermiteRegressor(n_centers=20, random_state=0).fit(X, targets)
    columns = dict(zip(NAMES, X.T, strict=True)) | {"prediction0": np.arange(N)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    rows = ritz.open(tmp_path / "rows.parquet", NAMES)
    with pytest.raises(ValueError, match=r"'keep' parameter .*new columns.*'prediction0'"):
        model.predict_to(rows, tmp_path / "out.parquet", keep=["prediction0"])
    assert not (tmp_path / "out.parquet").exists()
