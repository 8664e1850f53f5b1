"""The code of docs/checkpoints.md runs, and its files are read and gone on from."""

import re
from pathlib import Path

import numpy as np

import ritz

PAGE = Path(__file__).parents[2] / "docs" / "checkpoints.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    names = {}
    for block in blocks:
        exec(block, names)
    assert {path.name for path in tmp_path.iterdir()} == {"fit.ritz", "first.npz", "model.npz"}
    X, model, same = (names[name] for name in ("X", "model", "same"))
    np.testing.assert_array_equal(same.transform(X), model.transform(X))
    again = ritz.SpectralEmbedding(2, random_state=0).fit(X, checkpoint="fit.ritz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert names["both"].n_rows == len(X)
