"""The code of docs/trust.md runs, and its printed spectrum is what it prints."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")


def test_blocks_run_in_order_and_print_what_the_page_shows(capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(blocks[0], "trust.md", "exec"), names)
    printed = re.search(r"```\n(Spectrum.*?)\n```", PAGE, re.DOTALL).group(1).splitlines()
    shown = capsys.readouterr().out.splitlines()
    assert printed[:2] == shown[:2]
    # Rounding on other processors moves the last digits.
    for line, expected in zip(shown[2:], printed[2:], strict=True):
        numbers, then = ([float(word) for word in text.split()[:3]] for text in (line, expected))
        np.testing.assert_allclose(numbers, then, rtol=0.02)
    for block in blocks[1:]:
        exec(compile(block, "trust.md", "exec"), names)
    text = capsys.readouterr().out
    assert "(chosen)" in text
    assert "The same within errors" in text
    assert len(names["found"]) == 9
    pyplot.close("all")
