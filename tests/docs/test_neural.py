"""Each block of code in docs/neural.md runs by itself and gives the results stated there."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "neural.md").read_text(encoding="utf-8")
# The blocks by the heading above them.
BLOCKS = {
    section.partition("\n")[0].lstrip("# "): block
    for section in re.split(r"\n(?=## )", PAGE)
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
}


def run(heading, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {}
    exec(compile(BLOCKS[heading], heading, "exec"), names)
    return names


def test_every_block_has_a_heading_of_its_own():
    assert len(BLOCKS) == PAGE.count("```python") == 7


@pytest.mark.parametrize(
    ("heading", "result", "expected", "tolerance"),
    [
        ("Networks and self-supervised learning", "eigenvalues_", [2] * 3 + [6] * 5, 0.05),
        ("Pairs of augmented samples", "eigenvalues_", [0.72, 1.18], 0.1),
        ("A data loader", "eigenvalues_", [1, 1], 0.1),
        ("Two views", "singular_values_", [0.8, 0.64], 0.06),
        ("Checkpoints", "eigenvalues_", [1, 1], 0.1),
    ],
)
def test_a_block_gives_the_result_that_the_page_states(
    heading, result, expected, tolerance, tmp_path, monkeypatch
):
    model = run(heading, tmp_path, monkeypatch)["model"]
    np.testing.assert_allclose(getattr(model, result), expected, rtol=tolerance)


def test_the_training_loop_finds_the_spectrum_of_two_normals(tmp_path, monkeypatch):
    values = run("Your own training loop", tmp_path, monkeypatch)["spectrum"].values
    np.testing.assert_allclose(values, [0, 1, 1], atol=0.1)


def test_ten_functions_of_images_classify_digits(tmp_path, monkeypatch):
    names = run("Images", tmp_path, monkeypatch)
    assert names["unseen"].shape == (797, 10)
    score = names["probe"].score(names["unseen"], names["digits"].target[1000:])
    assert score > 0.85
