"""The code of docs/devices.md runs, and returns the tensors that the page says."""

import re
from pathlib import Path

import torch

PAGE = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")


def test_the_block_runs_and_stays_on_the_device():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    torch.manual_seed(0)
    names = {}
    exec(compile(block, "devices.md", "exec"), names)
    X, spectrum, embedding = (names[name] for name in ("X", "spectrum", "embedding"))
    for values, shape in ((spectrum(X[:10]), (10, 5)), (embedding.transform(X), (20_000, 2))):
        assert values.shape == shape
        assert values.device == X.device
    # Standard normal samples in three columns: 0, then 1 three times.
    assert abs(spectrum.values[:4] - [0, 1, 1, 1]).max() < 0.05
