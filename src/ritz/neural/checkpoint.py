"""Files that hold the state of a training, and the settings it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import torch

from ritz.atomic import write_atomically
from ritz.validation import parameter_error


def write_checkpoint(path: Any, problem: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Write tensors and plain values to a file; an interruption leaves the old file intact."""
    # Where a disk is full, torch hides the error of a file that it writes itself.
    buffer = BytesIO()
    torch.save({"problem": dict(problem), **content}, buffer)
    with write_atomically(path) as file:
        file.write(buffer.getbuffer())


def read_checkpoint(path: Any, problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file with the same settings; reading it never runs code."""
    what = "a checkpoint of the same training, to resume it"
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
        stored = dict(content.pop("problem"))
    except OSError:
        raise
    except Exception:  # torch.load raises many kinds of errors for files that it did not write.
        got, remedy = f"{path}, which is not one,", "Pass another file, or resume=False."
        raise parameter_error("checkpoint", what, got, remedy) from None
    differences = [
        f"{name}={stored.get(name)!r} and not {problem.get(name)!r}"
        for name in sorted({*stored, *problem})
        if stored.get(name) != problem.get(name)
    ]
    if differences:
        remedy = "Pass the same settings, including an integer random_state, or another file."
        raise parameter_error("checkpoint", what, f"one with {', '.join(differences)}", remedy)
    return content
