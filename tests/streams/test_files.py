"""Files that are wrong, with file and position; values in files, in constant memory."""

import gzip
import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import ritz
from ritz.streams.labels import as_numbers
from tests.streams.conftest import NAMES, N, X, table, write

LAPLACIAN, BASIS = ritz.laplacian(), ritz.Monomials(2)


def assembled(path, columns=NAMES, **options):
    return ritz.assemble(LAPLACIAN, BASIS, ritz.open(path, columns, **options), random_state=0)


def test_a_missing_column_is_named(parquet, tmp_path):
    with pytest.raises(ValueError, match=r"'columns'.*'a', 'b'.*'nothing'"):
        assembled(parquet, ["a", "nothing"])
    folder, _ = write(tmp_path, "folder")
    pq.write_table(table().drop_columns(["b"]), folder / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet has no column 'b', but \['a', 'y'"):
        assembled(folder)


def test_a_row_group_that_does_not_decode_is_named(parquet):
    place = pq.ParquetFile(parquet).metadata.row_group(2).column(1).data_page_offset
    data = bytearray(parquet.read_bytes())
    data[place : place + 300] = b"\xff" * 300
    parquet.write_bytes(data)
    with pytest.raises(ValueError, match=r"row group 2 \(rows 800 to 1199\) of file .*rows\.parq"):
        assembled(parquet)
    assert assembled(parquet, ["a"]).n_rows == N


def test_a_file_that_is_cut_off_is_named(parquet, tmp_path):
    parquet.write_bytes(parquet.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read"):
        assembled(parquet)
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(ValueError, match=r"ragged\.csv cannot be read.*Expected 2 columns, got 3"):
        assembled(path)


@pytest.mark.parametrize("row", [3, 1400])
def test_text_in_a_column_of_numbers_is_named_with_its_row(parquet, tmp_path, row):
    with pytest.raises(ValueError, match=r"Column 'id' of .*rows\.parquet.*type string"):
        assembled(parquet, ["a", "id"])
    path = tmp_path / "text.csv"
    lines = ["a,b", *(f"{a},{b}" for a, b in X)]
    lines[1 + row] = "1.5,many"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=rf"Column 'b' of .*text\.csv.*'many' in row {row}\."):
        assembled(path)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_nulls_are_errors_or_dropped(tmp_path, kind):
    Z = X.astype(object)
    Z[[7, 1100], [1, 0]] = None
    rows = pa.table({name: list(column) for name, column in zip(NAMES, Z.T, strict=True)})
    path = tmp_path / f"nulls.{kind}"
    if kind == "parquet":
        pq.write_table(rows, path, row_group_size=500)
    else:
        pa.csv.write_csv(rows, path)
    with pytest.raises(ValueError, match=r"Column 'b' of .*nulls.*a null in row 7\. .*nulls=\"dr"):
        assembled(path)
    found = assembled(path, nulls="drop")
    expected = ritz.assemble(LAPLACIAN, BASIS, np.delete(X, [7, 1100], axis=0), random_state=0)
    assert found.n_rows == N - 2
    np.testing.assert_allclose(found.mean().L, expected.mean().L, rtol=1e-12, atol=1e-12)


def test_a_file_that_changes_between_passes_is_named(parquet):
    stream = ritz.open(parquet, NAMES)
    sums = ritz.assemble(LAPLACIAN, BASIS, stream, random_state=0)
    time.sleep(0.01)
    pq.write_table(table().slice(1), parquet)
    with pytest.raises(ValueError, match=r"rows\.parquet has changed since it was opened"):
        ritz.assemble(LAPLACIAN, sums.left, stream)


def test_what_holds_no_rows_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"'path'.*\.parquet.*the folder .*empty without any"):
        ritz.open(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match=r"There is no file 'none\.parquet'"):
        ritz.open(tmp_path / "none.parquet")
    with pytest.raises(FileNotFoundError, match=r"fits the name of no file"):
        ritz.open(str(tmp_path / "*.parquet"))
    np.save(tmp_path / "flat.npy", np.arange(5.0))
    with pytest.raises(ValueError, match=r"'path'.*\(n, d\).*\(5,\)"):
        ritz.open(tmp_path / "flat.npy")
    with pytest.raises(ValueError, match=r"'nulls'.*'error' or 'drop'.*'keep'"):
        ritz.open(tmp_path, nulls="keep")


def test_weights_groups_and_delimiters(tmp_path):
    weight, groups = np.arange(N) % 3, np.arange(N) // 20
    rows = table().append_column("w", pa.array(weight)).append_column("g", pa.array(groups))
    path = tmp_path / "rows.csv"
    pa.csv.write_csv(rows, path, pa.csv.WriteOptions(delimiter=";"))
    found = assembled(path, weight="w", groups="g", delimiter=";")
    options = {"sample_weight": weight.astype(float), "groups": groups, "random_state": 0}
    expected = ritz.assemble(LAPLACIAN, BASIS, X, **options)
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_allclose(found.mean().L, expected.mean().L, rtol=1e-12, atol=1e-12)


MODEL = ritz.SpectralEmbedding(
    2,
    operator="laplacian",
    kernel="gaussian",
    length_scale=1.0,
    n_centers=40,
    regularization=1e-6,
    random_state=0,
)


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "feather"])
def test_embedded_rows_are_written_with_columns_passed_through(tmp_path, parquet, kind):
    rows, out = ritz.open(parquet, NAMES), tmp_path / f"out.{kind}"
    model = MODEL.fit(rows)
    assert model.transform_to(rows, out, keep=["id", "label"]) == N
    names = [f"spectral{j}" for j in range(model.n_components_)]
    written = ritz.open(out, names)
    blocks = [block.views[0] for block in written.blocks()]
    np.testing.assert_allclose(np.concatenate(blocks), model.transform(rows), rtol=1e-12)
    assert written.files[0].schema().names == ["id", "label", *names]
    if kind == "parquet":
        assert pq.read_table(out)["id"].to_pylist() == table()["id"].to_pylist()


def test_clusters_are_written(tmp_path, parquet):
    rows, out = ritz.open(parquet, NAMES), tmp_path / "clusters.parquet"
    options = {"kernel": "gaussian", "length_scale": 1.0, "n_centers": 40, "random_state": 0}
    model = ritz.SpectralClustering(2, operator="laplacian", **options).fit(rows)
    assert model.predict_to(rows, out) == N
    np.testing.assert_array_equal(pq.read_table(out)["cluster"], model.predict(rows))
    assert not hasattr(model, "labels_")


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path, parquet):
    out, model = tmp_path / "out.parquet", MODEL.fit(X)
    out.write_bytes(b"before")

    def failing():
        yield X[:50]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        model.transform_to(ritz.Batches(failing), out)
    assert out.read_bytes() == b"before"
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    with pytest.raises(ValueError, match=r"'path'.*\.parquet, .*out\.txt"):
        model.transform_to(X, tmp_path / "out.txt")
    with pytest.raises(ValueError, match=r"'keep'.*ritz\.open"):
        model.transform_to(X, out, keep=["id"])
    with pytest.raises(ValueError, match=r"'keep'.*'id'.*'nothing'"):
        model.transform_to(ritz.open(parquet, NAMES), out, keep=["nothing"])


MEMORY = """
import sys, numpy as np, resource, ritz
import pyarrow as pa, pyarrow.parquet as pq
folder, rows = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
path = folder + "/rows.parquet"
with pq.ParquetWriter(path, pa.schema([(f"x{j}", pa.float64()) for j in range(10)])) as writer:
    for _ in range(rows // 50_000):
        X = rng.normal(size=(50_000, 10))
        writer.write_table(pa.table({f"x{j}": X[:, j] for j in range(10)}))
model = ritz.SpectralEmbedding(2, operator="laplacian", kernel="gaussian", length_scale=3.0,
                               n_centers=20, regularization=1e-6, random_state=0, n_jobs=1)
model.fit(ritz.open(path))
model.transform_to(ritz.open(path), folder + "/out.parquet")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_rows_of_a_file(tmp_path):
    def peak(rows):
        command = [sys.executable, "-W", "ignore", "-c", MEMORY, str(tmp_path), str(rows)]
        return 1024 * int(subprocess.run(command, capture_output=True, check=True).stdout)

    # All numbers of the larger file would take 96 MB more than those of the smaller one.
    assert peak(1_600_000) - peak(400_000) < 40e6


@pytest.mark.parametrize("verbose", [True, False, None])
def test_progress_is_shown_when_asked_for(capsys, verbose):
    model = ritz.SpectralEmbedding(
        1, operator="laplacian", kernel="gaussian", n_centers=30, random_state=0, verbose=verbose
    )
    model.fit(ritz.Batches(np.array_split(X, 3)))
    shown = capsys.readouterr().err
    for stage in ("drawing rows", "comparing bases", "sums"):
        assert (f"ritz: {stage}" in shown) == (verbose is True)


def test_a_plan_counts_and_measures():
    found = ritz.plan(10**8, 10, n_centers=200)
    assert found.passes == 2
    assert found.bytes_read == 2 * 8 * 10**9
    assert found.flops == 10**8 * (3 * 200**2 + 2 * 10 * 200)
    assert found.memory < 1e9
    assert 1 < found.seconds < 1e6
    assert "100,000,000 rows of 10 columns, 200 centers" in str(found)
    assert ritz.plan(X).n_rows == ritz.plan(ritz.Batches([X])).n_rows == N
    with pytest.raises(ValueError, match=r"'d'.*number of columns"):
        ritz.plan(1000)


@pytest.mark.parametrize("operator", ["laplacian", "neighbors"])
def test_a_plan_has_as_many_centers_as_an_estimator_takes(operator):
    rows = ritz.datasets.half_moons(1000, random_state=0).X
    model = ritz.SpectralEmbedding(2, operator=operator, random_state=0).fit(rows)
    planned = ritz.plan(rows, operator=operator, n_components=2)
    assert model.n_centers_ <= planned.n_centers <= 2 * model.n_centers_
    with pytest.raises(ValueError, match=r"'n_components'.*at most the 20 centers"):
        ritz.plan(1000, 2, n_centers=20, n_components=30)


def test_a_plan_of_many_columns_is_measured_too():
    assert ritz.plan(10**6, 8000, n_centers=20).seconds > 1


def test_a_plan_leaves_an_iterator_as_it_is():
    rows = ritz.Batches(iter([X, X]))
    with pytest.raises(ValueError, match=r"can be read again\. Got Batches of an iterator"):
        ritz.plan(rows)
    assert sum(map(len, rows.blocks())) == 2 * N


@pytest.mark.parametrize("name", ["1.csv.gz", "1.parquet", "1.feather"])
def test_a_damaged_file_among_others_is_named(name, tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / name).write_bytes(b"these are no rows")
    rows = ritz.open(tmp_path)
    with pytest.raises(ValueError, match=rf"{name} cannot be read"):
        list(rows.blocks())
    if not name.endswith("gz"):
        (tmp_path / "0.csv").unlink()
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "0.parquet")
        with pytest.raises(ValueError, match=rf"{name} cannot be read"):
            ritz.open(tmp_path).n_rows  # noqa: B018


def test_a_damaged_end_of_a_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("ritz.streams.formats.CSV_BYTES", 1000)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 5000 + "1\n")
    with pytest.raises(
        ValueError, match=r"The file .*rows\.csv cannot be read.*Expected 2 columns"
    ):
        assembled(path)


def test_positions_count_rows_that_are_dropped(tmp_path):
    path, first = tmp_path / "rows.parquet", [None] * 50
    for name, wrong, message in (
        ("b", 1e200, "1e\\+200 in row 60"),
        ("w", -1.0, r"Column 'w' of .*nonnegative weights. Got -1.0 in row 60"),
    ):
        columns = {"a": first + [1.0] * 50, "b": [2.0] * 100, "w": [1.0] * 100}
        columns[name][60] = wrong
        pq.write_table(pa.table(columns), path)
        with pytest.raises(ValueError, match=message):
            list(ritz.open(path, ["a", "b"], weight="w", nulls="drop").blocks())


def test_large_labels_stay_whole_beside_dropped_rows(tmp_path):
    path, labels = tmp_path / "rows.parquet", [2**60 + i for i in range(4)]
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "g": labels}), path)
    (whole,) = ritz.open(path, ["a"], groups="g", nulls="drop").blocks()
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "g": [None, *labels[1:]]}), path)
    (part,) = ritz.open(path, ["a"], groups="g", nulls="drop").blocks()
    np.testing.assert_array_equal(part.groups, whole.groups[1:])
    assert len(set(whole.groups)) == 4


def test_a_second_view_is_of_the_same_files(tmp_path):
    """Files of other formats, and others than files of rows, stay what they are."""
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "0.parquet")
    (tmp_path / "1.csv").write_text("a,b\n3,4\n")
    (tmp_path / "README.md").write_text("These are rows.")
    rows = ritz.open(tmp_path, ["a"]).beside(["b"])
    views = [np.concatenate(views) for views in zip(*[b.views for b in rows.blocks()], strict=True)]
    np.testing.assert_array_equal(views, [[[1.0], [3.0]], [[2.0], [4.0]]])
    (tmp_path / "1.csv").write_text("a,b\n3,4\n5,6\n")
    with pytest.raises(ValueError, match=r"1\.csv has changed"):
        list(rows.blocks())


def test_arrays_in_files_are_named(tmp_path):
    wrong = X[:3].copy()
    wrong[1, 0] = np.nan
    for name, part in (("0.npy", X), ("1.npy", X[:1]), ("2.npy", wrong)):
        np.save(tmp_path / name, part)
    some = ritz.open([tmp_path / "0.npy", tmp_path / "1.npy"])
    assert some.n_rows == N + 1
    with pytest.raises(ValueError, match=r"rows of .*2\.npy.*nan in row 1, column 0"):
        list(ritz.open(tmp_path / "*.npy").blocks())
    with pytest.raises(ValueError, match=r"'path'.*at least 2 rows\. Got 1 row"):
        ritz.open(tmp_path / "1.npy")


def test_a_limit_that_is_no_number_is_named(monkeypatch):
    monkeypatch.setenv("RITZ_SPOOL_BYTES", "20GB")
    with pytest.raises(ValueError, match=r"'RITZ_SPOOL_BYTES'.*a number of bytes\. Got '20GB'"):
        ritz.Batches(iter([X])).rereadable()


def test_rows_in_units_that_come_once_can_be_kept():
    rows = ritz.Batches(iter([X])).in_units(lambda part: 2 * part).rereadable()
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate([b.views[0] for b in rows.blocks()]), 2 * X)


def test_names_that_occur_twice_are_refused_where_they_are_used(tmp_path):
    """One of two columns of a name would take the place of the other."""
    text, parts = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    text.write_text("a,b,a,g,g\n1,2,3,4,4\n5,6,7,8,8\n")
    columns = [pa.array([float(j), 1.0]) for j in range(5)]
    pq.write_table(pa.table(columns, names=["a", "b", "a", "g", "g"]), parts)
    for path in (text, parts):
        message = rf"'columns' .* names that occur once\. Got 'a' twice in .*{path.name} .*Rename"
        for names in (None, ["a"], ["b", "a"], (["b"], ["a"])):
            with pytest.raises(ValueError, match=message):
                ritz.open(path, names)
        for option in ("weight", "groups"):
            with pytest.raises(ValueError, match="'g' twice"):
                ritz.open(path, ["b"], **{option: "g"})
        rows = ritz.open(path, ["b"])
        assert sum(map(len, rows.blocks())) == 2
        with pytest.raises(ValueError, match="'g' twice"):
            list(rows.with_columns(["g"]))
    (tmp_path / "0.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"'a' twice in .*rows\.csv"):
        list(ritz.open([tmp_path / "0.csv", text], ["a"]).blocks())


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("rows.txt", "format="), ("rows", "format="), ("rows.xlsx", "sheet"), ("r.npy", "Leave it")],
)
def test_an_ending_that_names_no_format_is_refused(tmp_path, name, remedy):
    (tmp_path / name).write_text("a,b\n1,2\n")
    (tmp_path / "0.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=rf"'path'.* end in \.parquet, .*{name}.*{remedy}"):
        ritz.open([tmp_path / "0.csv", tmp_path / name])
    rows = ritz.open([tmp_path / "0.csv", tmp_path / name], format="csv")
    assert sum(map(len, rows.blocks())) == 2


@pytest.mark.parametrize("end", ["tsv", "tsv.gz"])
def test_tabs_separate_the_columns_of_tsv_files(tmp_path, end):
    for name, separator in (("tabs", "\t"), ("semicolons", ";")):
        pa.csv.write_csv(table(), tmp_path / "rows", pa.csv.WriteOptions(delimiter=separator))
        data = (tmp_path / "rows").read_bytes()
        (tmp_path / f"{name}.{end}").write_bytes(gzip.compress(data) if end[-1] == "z" else data)
    (tmp_path / "rows").unlink()
    for rows in (
        ritz.open(tmp_path / f"tabs.{end}", NAMES),
        ritz.open(tmp_path / f"semicolons.{end}", NAMES, delimiter=";"),
    ):
        np.testing.assert_allclose(rows.head(N), X, rtol=1e-12)
    (tmp_path / f"semicolons.{end}").unlink()
    np.testing.assert_allclose(ritz.open(tmp_path, NAMES).head(N), X, rtol=1e-12)


@pytest.mark.parametrize("encoding", ["latin1", "utf-16"])
def test_a_file_that_is_not_utf_8_is_named(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    message = rf"rows\.csv is not UTF-8 \(byte 0x\w\w in line {{}}\)\..*iconv -f {encoding}"
    for names, word, line in (("Größe,b", "x", 1), ("a,b", "Käse", 3)):
        path.write_bytes(f"{names},n\n1,2,x\n3,4,{word}\n".encode(encoding))
        where = 1 if encoding == "utf-16" else line
        with pytest.raises(ValueError, match=message.format(where)):
            list(ritz.open(path).blocks())
    if encoding == "latin1":
        rows = ritz.open(path, NAMES)
        np.testing.assert_array_equal(rows.head(2), [[1, 2], [3, 4]])
        with pytest.raises(ValueError, match=message.format(3)):
            list(rows.with_columns(["n"]))


def test_decimal_commas_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n1;2\n3;4,5\n")
    with pytest.raises(ValueError, match=r"'4,5' in row 1\. Write decimal points"):
        list(ritz.open(path, delimiter=";").blocks())


def test_rows_without_weight_are_named_with_the_remedy_of_their_source(tmp_path):
    path = tmp_path / "rows.parquet"
    rows = {"a": [1.0, 2.0, 3.0], "w": [0.0] * 3, "gap": pa.array([None] * 3, pa.float64())}
    pq.write_table(pa.table(rows), path)
    for stream in (found := ritz.open(path, ["a"], weight="w"), found.in_units(lambda part: part)):
        with pytest.raises(ValueError, match=r"^Column 'w' holds no positive weight\.$"):
            stream.sample(2, 0)
    with pytest.raises(ValueError, match=r"'path'.*some row has no gap. Got none"):
        ritz.open(path, ["a", "gap"], nulls="drop").sample(2, 0)
    pq.write_table(pa.table(rows).slice(0, 0), path)
    with pytest.raises(ValueError, match=r"'path'.*files that hold rows\. Got none instead\.$"):
        ritz.open(path, ["a"]).sample(2, 0)
    weightless = ritz.Batches([(X, np.zeros(N))], weighted=True)
    with pytest.raises(ValueError, match=r"'X'.*positive weight\. Got weights .* zero instead\.$"):
        weightless.sample(2, 0)


def test_files_are_read_once_whatever_a_pattern_fits(tmp_path):
    rows = table()
    for name in ("a.parquet", "sub/b.parquet", "out.parquet/part-0.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(rows, tmp_path / name)
    for pattern in ("**", "**/*.parquet"):
        assert ritz.open(str(tmp_path / pattern)).n_rows == 3 * N
    for hidden in (".ipynb_checkpoints/a-checkpoint.parquet", "_temporary/0/part.parquet"):
        (tmp_path / hidden).parent.mkdir(parents=True)
        pq.write_table(rows, tmp_path / hidden)
    assert ritz.open(tmp_path).n_rows == 3 * N


def test_a_label_is_one_group_in_all_files(tmp_path):
    """Arrow takes the labels of one file for integers and those of the other for texts."""
    labels = {"one.csv": ["000", "001", "2", "-3"], "two.csv": ["000", "001", "2", "A1"]}
    for name, column in labels.items():
        lines = [f"{i}.5,{label}" for i, label in enumerate(column)]
        (tmp_path / name).write_text("\n".join(["a,g", *lines]))
    one, two = (
        np.concatenate([block.groups for block in ritz.open(tmp_path / name, groups="g").blocks()])
        for name in labels
    )
    np.testing.assert_array_equal(one[:3], two[:3])
    assert len(set(one)) == len(set(two)) == 4
    # As in memory: numbers are themselves, and texts have their hash.
    np.testing.assert_array_equal(one[2:], [2.0, -3.0])
    np.testing.assert_array_equal(two[[0, 1, 3]], as_numbers(np.array(["000", "001", "A1"])))


def test_a_label_that_is_nan_is_missing(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "g": [1.0, float("nan"), 2.0]}), path)
    with pytest.raises(ValueError, match=r"must have a label in each row\. Got a null in row 1"):
        list(ritz.open(path, ["a"], groups="g").blocks())
    (block,) = ritz.open(path, ["a"], groups="g", nulls="drop").blocks()
    assert block.groups.tolist() == [1.0, 2.0]


def test_a_mapped_file_that_changes_between_passes_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    rows = ritz.open(path)
    left = ritz.assemble(ritz.laplacian(), ritz.Monomials(2), rows, random_state=0).left
    np.save(path, np.vstack([X, X]))
    with pytest.raises(ValueError, match=r"rows.npy has changed since it was opened"):
        ritz.assemble(ritz.laplacian(), left, rows)


@pytest.mark.parametrize("end", [".npy", ".zarr"])
def test_a_folder_and_a_pattern_of_arrays(tmp_path, end):
    for number, part in enumerate(np.array_split(X, 3)):
        path = str(tmp_path / f"part{number}{end}")
        np.save(path, part) if end == ".npy" else pytest.importorskip("zarr").save(path, part)
    for path in (tmp_path, tmp_path / f"*{end}"):
        rows = np.concatenate([block.views[0] for block in ritz.open(path).blocks()])
        np.testing.assert_array_equal(rows, X)
    with pytest.raises(FileNotFoundError, match="fits the name of no"):
        ritz.open(tmp_path / f"other*{end}")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_files_without_an_ending_are_known_by_their_first_bytes(tmp_path, kind):
    path = tmp_path / "part-00000"
    pq.write_table(table(), path) if kind == "parquet" else feather.write_feather(
        table(), path, compression="uncompressed"
    )
    assert ritz.open(path, NAMES).format == kind
    np.testing.assert_array_equal(ritz.open(path, NAMES).head(N), X)
