"""Texts in CSV files: their encoding, and what reads as a number."""

from __future__ import annotations

from codecs import getincrementaldecoder
from contextlib import suppress
from importlib import import_module
from shlex import quote

# Bytes of the beginning of a file whose encoding is checked.
CHECKED_BYTES = 16_000_000
# What to do about numbers such as '1,23'.
COMMAS = "Write decimal points, and nothing between thousands."


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def has_commas(text: str) -> bool:
    """Return whether a text reads as a number once commas are left out."""
    return "," in text and is_number(text.replace(",", ""))


def encoding_error(path: str) -> ValueError | None:
    """Return the error of a text whose beginning is not UTF-8, or None."""
    with suppress(OSError), import_module("pyarrow").input_stream(path) as source:
        start = source.read(CHECKED_BYTES)
        try:
            getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError as error:
            line = start.count(b"\n", 0, error.start) + 1
            encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin1"
            return ValueError(
                f"The file {path} is not UTF-8 (byte {start[error.start]:#x} in line {line}). Save "
                f'it as "CSV UTF-8", or run: iconv -f {encoding} -t utf-8 {quote(path)} > new.csv'
            )
    return None
