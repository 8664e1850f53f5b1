"""Files of arrays and JSON, which hold no code: reading one never runs any."""

from __future__ import annotations

import json
import reprlib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from io import BufferedReader, FileIO
from math import inf, isfinite, nan, prod
from os import PathLike
from types import UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.atomic import write_atomically
from ritz.validation import parameter_error, require_finite

FORMAT = "ritz 1"
# Limits of what a file may hold, far above what spectra need. They bound the time and memory that
# reading takes besides the arrays.
MOST_CHARACTERS, MOST_BRACKETS, MOST_PARTS, MOST_DEPTH = 500_000, 20_000, 5000, 400
# The directory of as many arrays, each of which has a name of up to 13 characters there.
LARGEST_DIRECTORY = 64 * MOST_PARTS
NO_CODE = (
    "Files hold numbers only, never code. Keep the result in memory, or use kernels, bases and "
    "operators of the library's own."
)
# The types of numbers that arrays keep in files; others become float64 or int64. Numbers of uint64
# are written as the int64 of the same bits.
KEPT_TYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32")


def write(value: Any, path: str | PathLike[str]) -> None:
    """Write a dataclass of numbers, strings, arrays and such dataclasses to an .npz file.

    A class has the name `file_tag` in files. The fields it names in `unbounded_fields` may hold
    numbers that are not finite. Where it has a method `to_file`, the dataclass that this returns is
    written in its place, whose method `from_file` returns the original.
    """
    arrays: dict[str, Any] = {}
    tree = _encode(value, arrays)
    header = json.dumps({"format": FORMAT, "value": tree})
    _require_small(header)
    _require_few(tree)
    with write_atomically(path) as file:
        np.savez(file, header=np.array(header), **arrays)


def _encode(value: Any, arrays: dict[str, Any], finite: bool = True) -> Any:
    if hasattr(value, "to_file") and not isinstance(value, type):
        value = value.to_file()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, finite)
    if isinstance(value, tuple) and value and all(isinstance(item, str) for item in value):
        # Names of columns, of which there may be more than a header holds.
        return {"texts": _text_array(value, arrays)}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_encode(item, arrays, finite) for item in value]}
    if isinstance(value, dict):
        pairs = [[_encode(part, arrays, finite) for part in pair] for pair in value.items()]
        return {"pairs": pairs}
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_fields(value, arrays)
    if _is_function(value):
        raise TypeError(f"{getattr(value, '__name__', 'A value')} is a function. {NO_CODE}")
    raise TypeError(f"Only numbers and arrays are saved, never code. Got {type(value).__name__}.")


def _encode_array(value: NDArray[Any], arrays: dict[str, Any], finite: bool) -> dict[str, str]:
    if value.dtype.kind in "OU":
        # Labels and names, which NumPy holds as texts or as objects.
        if not all(isinstance(item, str) for item in value.tolist()) or value.ndim != 1:
            raise TypeError(f"Arrays of {value.dtype} are not saved, but for rows of texts.")
        return {"labels": _text_array(value.tolist(), arrays), "dtype": value.dtype.kind}
    name = f"array{len(arrays)}"
    if value.dtype.kind not in "fiub":
        raise TypeError(f"Only arrays of numbers are saved, never code. Got {value.dtype}.")
    if finite:
        require_finite(value, name)
    arrays[name] = value.astype(np.int64 if value.dtype.kind in "iub" else np.float64, copy=False)
    kept = {"dtype": value.dtype.name} if value.dtype.name in KEPT_TYPES else {}
    return {"array": name, **kept}


def _text_array(texts: Any, arrays: dict[str, Any]) -> str:
    name = f"array{len(arrays)}"
    arrays[name] = np.frombuffer(json.dumps(texts).encode(), np.uint8).astype(np.int64)
    return name


def _encode_fields(value: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    state = {}
    unbounded = getattr(type(value), "unbounded_fields", ())
    for field in fields(value):
        part = getattr(value, field.name)
        if part is field.default is not MISSING or not field.init:
            # Left out, so that versions without the field can read the file.
            continue
        if any(map(_is_function, part if isinstance(part, tuple) else (part,))):
            raise TypeError(
                f"{type(value).__name__}.{field.name} holds functions of yours. {NO_CODE}"
            )
        state[field.name] = _encode(part, arrays, field.name not in unbounded)
    # Only the class's own tag counts: an inherited one belongs to another class.
    tag = vars(type(value)).get("file_tag")
    if tag is None:
        raise TypeError(f"{type(value).__name__} is a class that files do not know. {NO_CODE}")
    return {"type": tag, "fields": state}


def _is_function(part: Any) -> bool:
    return callable(part) and not is_dataclass(part)


def read(path: str | PathLike[str], classes: Mapping[str, type]) -> Any:
    """Read what `write` wrote, creating only the classes given; raise for any other file.

    The classes are named by the tags under which they are saved, which never change. Arrays are
    read only if the header names them, once the sizes that they declare are checked against the
    file's own, so that reading takes little more memory than the file has bytes.
    """
    with _Bounded(FileIO(path)) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                file.most = 4 * MOST_CHARACTERS
                arrays = _Arrays(archive, file.size)
                text = str(arrays.take("header", "U"))
                _require_small(text)
                header = json.loads(text, parse_constant=_refuse_constant)
                if header["format"] != FORMAT:
                    raise ValueError(f"its format is {header['format']!r}, not {FORMAT!r}")
                _require_few(header["value"])
                return _decode(header["value"], arrays, classes)
        except (
            AttributeError,
            EOFError,
            KeyError,
            MemoryError,
            NotImplementedError,
            OSError,
            OverflowError,
            RuntimeError,
            TypeError,
            ValueError,
            zipfile.BadZipFile,
        ) as error:
            reason = f"no entry {error}" if isinstance(error, KeyError) else error
            raise ValueError(
                f"{path} is not a file saved by ritz, or it is damaged: {reason}."
            ) from error


class _Bounded(BufferedReader):
    """A file of which little is read at once, first its directory, whatever size it declares."""

    def __init__(self, raw: FileIO) -> None:
        super().__init__(raw)
        self.size, self.most = self.seek(0, 2), LARGEST_DIRECTORY

    def read(self, size: int | None = -1) -> bytes:
        available = max(0, self.size - self.tell())
        wanted = available if size is None or size < 0 else min(size, available)
        if wanted > self.most:
            raise ValueError(f"its directory or a header has more than {self.most:,} bytes")
        return super().read(wanted)


class _Arrays:
    """The arrays of an archive, each to be taken once."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self.archive, self.left = archive, size
        self.entries = {entry.filename: entry for entry in archive.infolist()}
        if len(self.entries) < len(archive.infolist()):
            raise ValueError("two of its entries have the same name")

    def take(self, name: str, kinds: str) -> NDArray[Any]:
        """Read an array whose dtype is of one of some kinds, after a check of all its sizes."""
        entry = self.entries.pop(f"{name}.npy", None)
        if entry is None:
            raise ValueError(f"there is no array {name}, or it is named twice")
        self.left -= entry.file_size
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise ValueError(f"{name} is compressed")
        if self.left < 0:
            raise ValueError(f"{name} is larger than the file")
        with self.archive.open(entry) as file:
            version = npy.read_magic(file)
            read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            shape, _, dtype = read_header[version](file)
            n_bytes = entry.file_size - file.tell()
        if dtype.kind not in kinds or (dtype.kind != "U" and dtype.itemsize != 8):
            raise ValueError(f"{name} holds {dtype} and not numbers of 8 bytes, or text")
        if dtype.kind == "U" and (shape != () or dtype.itemsize > 4 * MOST_CHARACTERS):
            raise ValueError(f"{name} is not a text of at most {MOST_CHARACTERS:,} characters")
        if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != n_bytes:
            raise ValueError(f"{name} has {n_bytes:,} bytes, which is not shape {shape}")
        # Opened again, since the check sums of an archive cover whole entries.
        with self.archive.open(entry) as file:
            array: NDArray[Any] = npy.read_array(file)
        return array


def _require_small(header: str) -> None:
    """Raise where Python would take much more memory for a header than it has characters."""
    brackets = header.count("[") + header.count("{")
    if len(header) > MOST_CHARACTERS or brackets > MOST_BRACKETS:
        most = f"{MOST_CHARACTERS:,} characters and {MOST_BRACKETS:,} brackets"
        got = f"{len(header):,} and {brackets:,}"
        raise ValueError(f"a file describes its arrays in at most {most}, not in {got}")


def _require_few(tree: Any) -> None:
    """Raise where a header describes more values, or more of them within others, than is usual."""
    n_parts: int = 0
    level: list[Any] = [[tree]]
    for _ in range(MOST_DEPTH):
        n_parts += sum(isinstance(part, dict) for part in level)
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [x for parts in inner for x in parts if isinstance(x, dict | list)]
    if n_parts > MOST_PARTS or level:
        most = f"{MOST_PARTS:,} parts, nested up to {MOST_DEPTH} deep"
        raise ValueError(f"a file has at most {most}. Combine fewer bases or kernels")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"its header holds {name}")


def _decode(tree: Any, arrays: _Arrays, classes: Mapping[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        array = arrays.take(tree["array"], "fi")
        return array if "dtype" not in tree else _as_kept(array, tree["dtype"])
    if "texts" in tree:
        return _texts(tree["texts"], arrays)
    if "labels" in tree:
        kind = {"U": np.str_, "O": np.object_}[tree["dtype"]]
        return np.array(_texts(tree["labels"], arrays), dtype=kind)
    if "float" in tree:
        return {"nan": nan, "inf": inf, "-inf": -inf}[tree["float"]]
    if "tuple" in tree:
        return tuple(_decode(item, arrays, classes) for item in tree["tuple"])
    if "list" in tree:
        return [_decode(item, arrays, classes) for item in tree["list"]]
    if "pairs" in tree:
        pairs = [[_decode(part, arrays, classes) for part in pair] for pair in tree["pairs"]]
        return dict(pairs)
    return _decode_fields(tree, arrays, classes)


def _as_kept(array: NDArray[Any], name: Any) -> NDArray[Any]:
    """Return an array in the type that it had before it was written."""
    if name not in KEPT_TYPES:
        raise ValueError(f"{name!r} is no type of numbers in files")
    if name == "uint64" and array.dtype.kind == "i":
        return array.view(np.uint64)
    kept = array.astype(name)
    if not np.array_equal(kept, array, equal_nan=kept.dtype.kind == "f"):
        raise ValueError(f"it holds numbers that are no {name}")
    return kept


def _texts(name: Any, arrays: _Arrays) -> tuple[str, ...]:
    texts = json.loads(bytes(arrays.take(name, "i").tolist()))
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} holds no texts")
    return tuple(texts)


def _decode_fields(tree: Any, arrays: _Arrays, classes: Mapping[str, type]) -> Any:
    cls = classes[tree["type"]]
    types = _field_types(cls)
    unbounded = getattr(cls, "unbounded_fields", ())
    state = {}
    for name, part in tree["fields"].items():
        value = _decode(part, arrays, classes)
        if name in getattr(cls, "retired_fields", ()):
            continue
        state[name] = value
        hint, description = types[name]
        if not has_type(value, hint, finite=name not in unbounded):
            requirement = f"a finite value of type {description}"
            raise parameter_error(f"{cls.__name__}.{name}", requirement, reprlib.repr(value))
    result = cls(**state)
    return result.from_file() if hasattr(result, "from_file") else result


@cache
def _field_types(cls: Any) -> dict[str, tuple[Any, Any]]:
    """Return the type of each field of a dataclass, and how its source calls it."""
    hints = get_type_hints(cls)
    return {field.name: (hints[field.name], field.type) for field in fields(cls)}


def has_type(value: Any, hint: Any, finite: bool = True) -> bool:
    """Return whether a value that was read has the type of a field, and is finite if it must be."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (UnionType, Union):
        return any(has_type(value, arg, finite) for arg in args)
    if origin is Literal:
        return isinstance(value, str | int | float | None) and value in args
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(args) == 2 and args[1] is Ellipsis:
            return all(has_type(item, args[0], finite) for item in value)
        pairs = zip(value, args, strict=False)
        return len(value) == len(args) and all(has_type(*pair, finite) for pair in pairs)
    if origin is list:
        return isinstance(value, list) and all(has_type(item, args[0], finite) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            has_type(key, args[0]) and has_type(part, args[1], finite)
            for key, part in value.items()
        )
    if origin is np.ndarray:
        kind = np.dtype(get_args(args[1])[0]).kind
        # Integers may be unsigned, as labels are.
        if not isinstance(value, np.ndarray) or value.dtype.kind.replace("u", "i") != kind:
            return False
        return not finite or kind in "OU" or _is_finite(value)
    if origin is Callable:
        # Functions are never read, and what can be called is not one of them.
        return False
    if hint is float:
        return type(value) in (int, float) and (isfinite(value) or not finite)
    if hint is int:
        return type(value) is int and abs(value) < 2**63
    return isinstance(value, hint)


def _is_finite(array: NDArray[Any]) -> bool:
    # The extremes are finite only if every entry is, and need no array of booleans.
    return not array.size or bool(isfinite(array.max()) and isfinite(array.min()))
