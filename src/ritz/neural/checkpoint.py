"""Checkpoints: the state of a training in a file, and of which training it is."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from ritz.arrays import must

# Torch has no error of its own for a file that is none of its.
NONE_OF_ITS = (
    KeyError,
    ValueError,
    RuntimeError,
    EOFError,
    UnpicklingError,
    AttributeError,
    TypeError,
)


def write_checkpoint(
    path: str | PathLike[str], problem: Mapping[str, Any], content: Mapping[str, Any]
) -> None:
    """Write a state to a file, at once: an interruption leaves the old one whole.

    Parameters
    ----------
    path
        The file.
    problem
        What is trained, in plain values.
    content
        Tensors and plain values by name.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    torch.save({"problem": dict(problem), **content}, part)
    replace(part, path)


def read_checkpoint(path: str | PathLike[str], problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file of the same problem; reading it never runs code."""
    what = "a file of the same training, to resume"
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
        theirs = dict(content.pop("problem"))
    except NONE_OF_ITS:
        remedy = "Pass another file, or resume=False, which overwrites it."
        raise ValueError(must("checkpoint", what, f"{path}, which is none,", remedy)) from None
    differ = [
        f"{name}={theirs.get(name)!r} and not {problem.get(name)!r}"
        for name in sorted({*theirs, *problem})
        if theirs.get(name) != problem.get(name)
    ]
    if differ:
        remedy = "Pass the same settings, an integer random_state among them, or another file."
        raise ValueError(must("checkpoint", what, f"one with {', '.join(differ)}", remedy))
    return content
