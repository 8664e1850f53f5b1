"""Files of arrays and JSON, which hold no code: reading one never runs any."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from os import PathLike
from typing import Any

import numpy as np

from ritz.atomic import write_atomically

FORMAT = "ritz 1"


def write(value: Any, path: str | PathLike[str]) -> None:
    """Write a dataclass of numbers, strings, arrays and such dataclasses to an .npz file."""
    arrays: dict[str, Any] = {}
    tree = _encode(value, arrays)
    header = json.dumps({"format": FORMAT, "value": tree})
    with write_atomically(path) as file:
        np.savez(file, header=np.array(header), **arrays)


def _encode(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, arrays) for item in value]}
    if is_dataclass(value) and not isinstance(value, type):
        state = {}
        for field in fields(value):
            part = getattr(value, field.name)
            if part is None and field.default is not MISSING:
                # Left out, so that versions without the field can read the file.
                continue
            if any(map(_is_function, part if isinstance(part, tuple) else (part,))):
                raise TypeError(
                    f"{type(value).__name__}.{field.name} holds functions of yours, and files hold "
                    "numbers only, never code. Keep the spectrum in memory, or use a kernel or "
                    "polynomial basis."
                )
            state[field.name] = _encode(part, arrays)
        # Only the class's own tag counts: an inherited one belongs to another class.
        tag = vars(type(value)).get("file_tag")
        if tag is None:
            raise TypeError(
                f"{type(value).__name__} is a class of yours, and files hold numbers only, never "
                "code. Keep the spectrum in memory, or use one of the library's own."
            )
        return {"type": tag, "fields": state}
    raise TypeError(f"Only numbers and arrays are saved, never code. Got {type(value).__name__}.")


def _is_function(part: Any) -> bool:
    return callable(part) and not is_dataclass(part)


def read(path: str | PathLike[str], classes: Mapping[str, type]) -> Any:
    """Read what `write` wrote, creating only the classes given; raise for any other file.

    The classes are named by the tags under which they are saved, which never change.
    """
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop("header")))
            if header["format"] != FORMAT:
                raise ValueError(f"its format is {header['format']!r}, not {FORMAT!r}")
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
            zlib.error,
        ) as error:
            reason = f"no entry {error}" if isinstance(error, KeyError) else error
            raise ValueError(
                f"{path} is not a spectrum saved by ritz, or it is damaged: {reason}."
            ) from error


def _decode(tree: Any, arrays: Mapping[str, Any], classes: Mapping[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        array = arrays[tree["array"]]
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ValueError(f"{tree['array']} holds entries that are not finite numbers")
        return array
    if "tuple" in tree:
        return tuple(_decode(item, arrays, classes) for item in tree["tuple"])
    state = {name: _decode(part, arrays, classes) for name, part in tree["fields"].items()}
    return classes[tree["type"]](**state)
