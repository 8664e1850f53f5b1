"""Files made to do harm are refused by name, or read, in little time and memory."""

import io
import json
import struct
import time
import tracemalloc
import zipfile
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import ritz
from tests.fixtures.models.write import FOLDER, POINTS

MODELS = sorted(path.stem for path in FOLDER.glob("*.npz"))
MEGABYTE = 2**20


def parts_of(name="gaussian"):
    """Return the header and the arrays of a good file."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as archive:
        arrays = dict(archive)
    return json.loads(str(arrays.pop("header"))), arrays


def npy(array, **changes):
    """Return an array as bytes, with changes to what its header declares."""
    file = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array) | changes
    np.lib.format.write_array_header_2_0(file, described)
    return file.getvalue() + array.tobytes()


def archive(path, entries, compressed=()):
    """Write a zip file of named bytes, in order, some of them compressed."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries:
            kind = zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED
            file.writestr(zipfile.ZipInfo(name), content, kind)


def entries_of(header, arrays):
    """Return the entries of a file by name."""
    text = header if isinstance(header, str) else json.dumps(header)
    return {"header.npy": npy(np.array(text))} | {f"{k}.npy": npy(a) for k, a in arrays.items()}


def with_entries(path, compressed=(), **changes):
    """Write a good file with some of its arrays replaced by bytes, or with more of them."""
    changed = {f"{name}.npy": content for name, content in changes.items()}
    archive(path, (entries_of(*parts_of()) | changed).items(), compressed)


def with_header(path, change):
    """Write a good file whose header is changed, or replaced by a text."""
    header, arrays = parts_of()
    header = change if isinstance(change, str) else change(header) or header
    archive(path, entries_of(header, arrays).items())


def with_field(name, value):
    """Return a change of a field of the spectrum."""
    return lambda header: header["value"]["fields"].update({name: value})


def with_kernel(kernel):
    """Return a change of the kernel."""

    def change(header):
        sections = header["value"]["fields"]["basis"]["fields"]["basis"]
        sections["fields"]["kernel"] = kernel

    return change


def declare(path, name, *, size):
    """Let the directory of a good file declare another size of an entry."""
    with_entries(path)
    content = bytearray(path.read_bytes())
    place = content.rindex(f"{name}.npy".encode()) - 46
    assert content[place : place + 4] == b"PK\x01\x02"
    content[place + 20 : place + 28] = struct.pack("<2L", size, size)
    path.write_bytes(content)


def directory_of(path, n):
    """Write a zip file with a directory of n entries, and nothing else."""
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 6) + bytes(16)
    directory = b"".join(entry + f"{i:06}".encode() for i in range(n))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)
    path.write_bytes(directory + end)


def duplicate(path):
    entries = [*entries_of(*parts_of()).items(), ("array3.npy", npy(np.zeros(4)))]
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(path, entries)


def one_array_many_times(path):
    """Stack a basis on an array of another order many times: each use of it would be a copy."""
    header, arrays = parts_of()
    arrays["big"] = np.zeros((20_000, 2))
    sections = header["value"]["fields"]["basis"]["fields"]["basis"]
    sections["fields"]["centers"] = {"array": "big"}
    stack = {"type": "StackedBasis", "fields": {"parts": {"tuple": [sections] * 1000}}}
    header["value"]["fields"]["basis"]["fields"]["basis"] = stack
    content = entries_of(header, arrays)
    content["big.npy"] = npy(arrays["big"], fortran_order=True)
    archive(path, content.items())


def kernels(depth, kind="KernelSum"):
    """Return sums of sums of kernels, as deep as said."""
    kernel = {"type": "Gaussian", "fields": {}}
    if not depth:
        return kernel
    inner = kernels(depth - 1, kind)
    if kind == "KernelScaled":
        return {"type": kind, "fields": {"kernel": inner, "factor": 1.0}}
    return {"type": kind, "fields": {"first": inner, "second": inner}}


ZEROS = np.zeros(8_000_000)
LARGE = np.zeros(500_000)
HUGE = 10**12
REFUSED = {
    "compressed": lambda path: with_entries(path, ["array3.npy"], array3=npy(ZEROS)),
    "compressed header": lambda path: with_entries(path, ["header.npy"]),
    "size beyond the file": lambda path: declare(path, "array3", size=2**31),
    "size beyond the entry": lambda path: declare(path, "array3", size=4000),
    "size below the entry": lambda path: declare(path, "array3", size=10),
    "shape beyond the entry": lambda path: with_entries(path, array3=npy(LARGE, shape=(HUGE,))),
    "shape that overflows": lambda path: with_entries(
        path, array3=npy(LARGE, shape=(2**40, 2**40))
    ),
    "shape that wraps to the size": lambda path: with_entries(
        path, array3=npy(np.zeros(4), shape=(2**61 + 1, 4))
    ),
    "shape below the entry": lambda path: with_entries(path, array3=npy(LARGE, shape=(4,))),
    "negative shape": lambda path: with_entries(path, array3=npy(np.zeros(4), shape=(-2, -2))),
    "objects": lambda path: with_entries(path, array3=npy(np.zeros(4), descr="|O")),
    "numbers of no size": lambda path: with_entries(
        path, array3=npy(np.zeros(4), descr="|V0", shape=(HUGE,))
    ),
    "records": lambda path: with_entries(path, array3=npy(np.zeros(4), descr=[("a", "<f8")])),
    "bytes": lambda path: with_entries(path, array3=npy(np.zeros(4, np.int8))),
    "short floats": lambda path: with_entries(path, array3=npy(np.zeros(4, np.float32))),
    "dates": lambda path: with_entries(path, array3=npy(np.zeros(4, "M8[s]"))),
    "not a number": lambda path: with_entries(path, array3=npy(np.full(4, np.nan))),
    "an archive in it": lambda path: with_entries(
        path, array3=(FOLDER / "gaussian.npz").read_bytes()
    ),
    "no array": lambda path: with_entries(path, array3=b""),
    "long npy header": lambda path: with_entries(
        path, array3=b"\x93NUMPY\x02\x00" + struct.pack("<L", 5 * MEGABYTE) + b"(" * 5 * MEGABYTE
    ),
    "200,000 entries": lambda path: directory_of(path, 200_000),
    "6,000 entries": lambda path: directory_of(path, 6000),
    "two entries of a name": duplicate,
    "one array many times": one_array_many_times,
    "one array twice": lambda path: with_header(path, with_field("errors", {"array": "array3"})),
    "long header": lambda path: with_header(path, "[" + "1," * 5_000_000 + "1]"),
    "header of many lists": lambda path: with_header(path, "[" + "[]," * 160_000 + "[]]"),
    "header of some lists": lambda path: with_header(path, "[" + "[]," * 19_990 + "[]]"),
    "header of many texts": lambda path: with_header(
        path, with_field("operator", [f"{i:03}" for i in range(1000)] * 60)
    ),
    "deep header": lambda path: with_header(path, "[" * 19_000),
    "header of two texts": lambda path: with_entries(path, header=npy(np.array(["{}", "{}"]))),
    "an integer of many digits": lambda path: with_header(path, with_field("rank", 10**4000)),
    "NaN": lambda path: with_header(path, with_field("rank", float("nan"))),
    "infinity": lambda path: with_header(path, json.dumps(parts_of()[0]).replace("200", "1e999")),
    "n_rows that is text": lambda path: with_header(path, with_field("n_rows", "evil")),
    "arrays by path": lambda path: with_header(
        path, with_field("values", {"array": "../../etc/passwd"})
    ),
    "4,095 kernels": lambda path: with_header(path, with_kernel(kernels(11))),
    "deep kernels": lambda path: with_header(path, with_kernel(kernels(300, "KernelScaled"))),
    "very rough kernel": lambda path: with_header(
        path, with_kernel({"type": "Matern", "fields": {"nu": 1e12 + 0.5}})
    ),
}
# Odd, and as good as any: entries that the header does not name are not read.
READ = {
    "a large entry besides": lambda path: with_entries(
        path, ["other.npy"], other=npy(ZEROS), more=b"no array"
    ),
    "1,023 kernels": lambda path: with_header(path, with_kernel(kernels(9))),
    "reversed bytes": lambda path: with_entries(
        path, array3=npy(parts_of()[1]["array3"].astype(">f8"))
    ),
}


def seconds_and_bytes(path):
    """Load a file and return what came, the processor's time, and the largest memory it took."""
    start = time.process_time()
    outcome = attempt(path)
    seconds = time.process_time() - start
    tracemalloc.start()
    try:
        attempt(path)
        return outcome, seconds, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def attempt(path):
    try:
        return ritz.load(path)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", [*REFUSED, *READ])
def test_crafted_files_cost_little(name, tmp_path):
    path = tmp_path / "model.npz"
    (REFUSED | READ)[name](path)
    outcome, seconds, memory = seconds_and_bytes(path)
    size = path.stat().st_size
    if name in READ:
        assert outcome(POINTS).shape == (4, 4)
    else:
        assert f"{path} is not a file saved by ritz, or it is damaged: " in outcome
    assert seconds < 1
    assert memory < 2 * size + 3 * MEGABYTE


@pytest.mark.parametrize("order", ["C", "F"])
def test_reading_takes_little_more_memory_than_the_file_has_bytes(order, tmp_path):
    header, arrays = parts_of()
    centers, path = np.zeros((1000, 1000)), tmp_path / "large.npz"
    fields = header["value"]["fields"]
    centered = fields["basis"]["fields"]
    names = [centered["basis"]["fields"]["centers"], centered["offset"], fields["coefficients"]]
    for name, array in zip(names, (centers, np.zeros(1000), np.zeros((1000, 4))), strict=True):
        arrays[name["array"]] = np.asarray(array, order=order)
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    outcome, _, memory = seconds_and_bytes(path)
    assert isinstance(outcome, ritz.Spectrum)
    assert memory < (1.3 if order == "C" else 2.3) * path.stat().st_size


EVIL = [
    "evil",
    "1.0",
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    1e308,
    [],
    [1.0],
    {},
    {"tuple": []},
    {"tuple": ["evil"]},
    {"tuple": 3},
    {"array": "array0"},
    {"array": None},
    {"array": ["array0"]},
    {"type": "Gaussian", "fields": {}},
    {"type": "Gaussian", "fields": None},
    {"type": "Spectrum", "fields": {}},
    {"type": None, "fields": {}},
]
# Those that fields of a name may have, of whichever class or of one, which goes first.
FINE = {
    "length_scale": [1.5, 10**30],
    "operator": ["evil", "1.0"],
    "errors": [None],
    "group_confidence": [None],
    "heldout_values": [None],
    "flags": [None],
    "stability": [None],
    "folds": [None],
    "repeats": [None, True],
    "homes": [None],
    "amplitude": [1.5, 10**30, 1e308],
    "alpha": [1.5, 10**30, 1e308],
    "Polynomial.offset": [0, 1.5, 10**30, 1e308],
    "factor": [1.5, 1e308],
    # Forms may be subtracted, and be anything times 0.
    "FormScaled.factor": [0, -1, 1.5, 10**30, 1e308],
    "kernel": [{"type": "Gaussian", "fields": {}}],
    "first": [{"type": "Gaussian", "fields": {}}],
    "second": [{"type": "Gaussian", "fields": {}}],
}


def fields_of(tree):
    """Yield the class, the name and the parent of each field in a header."""
    if isinstance(tree, list):
        for part in tree:
            yield from fields_of(part)
    elif isinstance(tree, dict):
        for name, part in tree.get("fields", {}).items():
            yield tree["type"], name, tree["fields"]
            yield from fields_of(part)
        yield from fields_of(tree.get("tuple", []))


def cases():
    """Return a model for each field of each class that can be saved."""
    found = {}
    for model in MODELS:
        for kind, name, _ in fields_of(parts_of(model)[0]["value"]):
            # Fields of earlier versions are read and dropped.
            if name not in ritz.Spectrum.retired_fields:
                found.setdefault((kind, name), model)
    return found


@pytest.mark.parametrize(("kind", "name"), cases())
def test_types_and_ranges_of_every_field_are_checked(kind, name, tmp_path):
    model, path = cases()[kind, name], tmp_path / "model.npz"
    fine = FINE.get(f"{kind}.{name}", FINE.get(name, []))
    for evil in EVIL:
        header, arrays = parts_of(model)
        place = next(f for k, n, f in fields_of(header["value"]) if (k, n) == (kind, name))
        if place[name] == evil:
            continue
        place[name] = evil
        archive(path, entries_of(header, arrays).items())
        outcome = attempt(path)
        if any(evil == one and type(evil) is type(one) for one in fine):
            assert isinstance(outcome, ritz.Spectrum | ritz.SingularSpectrum | ritz.Sums)
            str(outcome)
        else:
            assert str(outcome).startswith(f"{path} "), evil


@pytest.mark.parametrize(
    "names", ["ab", ["a", "b"], {"tuple": ["a"]}, {"tuple": ["a", 3]}, {"tuple": ["a", "b", "c"]}]
)
def test_names_of_columns_are_checked(names, tmp_path):
    def change(header):
        header["value"]["fields"]["basis"]["fields"]["column_names"] = names

    with_header(tmp_path / "model.npz", change)
    with pytest.raises(ValueError, match=r"model\.npz .*column_names"):
        ritz.load(tmp_path / "model.npz")


def of_kernel(found, kernel):
    """Return a spectrum with another kernel."""
    sections = replace(found.basis.basis, kernel=kernel)
    return replace(found, basis=replace(found.basis, basis=sections))


def test_what_could_not_be_read_is_not_written(tmp_path):
    found, path = ritz.load(FOLDER / "gaussian.npz"), tmp_path / "model.npz"
    gaussian = ritz.Gaussian(1.0)
    for bad, message in [
        (replace(found, residuals=np.full(4, np.nan)), "must be finite"),
        (replace(found, operator="x" * 600_000), "at most 500,000 characters"),
        (replace(found, operator="[" * 30_000), "20,000 brackets"),
        (of_kernel(found, reduce(lambda k, _: k + k, range(12), gaussian)), "5,000 parts"),
        (of_kernel(found, reduce(lambda k, _: k + gaussian, range(250), gaussian)), "400 deep"),
    ]:
        with pytest.raises(ValueError, match=message):
            bad.save(path)
        assert not path.exists()


def test_numbers_of_any_size_are_written_as_eight_bytes(tmp_path):
    found, path = ritz.load(FOLDER / "gaussian.npz"), tmp_path / "model.npz"
    short = replace(found, values=np.float32(found.values), groups=np.int32(found.groups))
    short.save(path)
    np.testing.assert_array_equal(ritz.load(path).values, short.values)
    np.testing.assert_array_equal(ritz.load(path).groups, short.groups)
