"""The code of docs/molecules.md runs, and prints and finds what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "molecules.md").read_text(encoding="utf-8")


def numbers(text):
    return [float(word) for word in re.findall(r"[0-9.]+", text)]


def test_blocks_run_in_order_and_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks[:2]:
        exec(compile(block, "molecules.md", "exec"), names)
    printed = re.search(r"```\n( +lag.*?)\n```", PAGE, re.DOTALL).group(1).splitlines()
    shown = capsys.readouterr().out.splitlines()
    assert printed[0] == shown[0]
    # Rounding on other processors moves the last digits.
    for line, expected in zip(shown[1:], printed[1:], strict=True):
        np.testing.assert_allclose(numbers(line), numbers(expected), rtol=0.02)
    assert (tmp_path / "timescales.png").stat().st_size > 10_000
    low, high = np.moveaxis(names["found"].intervals, -1, 0)
    exact = np.array([12.7, 1.34])
    assert ((low < exact) & (exact < high)).all()
    for block in blocks[2:]:
        exec(compile(block, "molecules.md", "exec"), names)
    assert names["slow"].shape == (20 * 996, 2)
    np.testing.assert_allclose(names["modes"].timescales_, exact, rtol=0.15)
    assert "0.1      0.4031" in capsys.readouterr().out
    pyplot.close("all")
