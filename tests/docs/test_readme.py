"""The README's code runs and gives what the text around it states."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parents[2] / "README.md"


def test_python_blocks_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    spectrum, whole = names["spectrum"], names["whole"]
    assert "eigenvalue" in capsys.readouterr().out
    assert spectrum.values[0] == 0.0
    assert np.all(np.diff(spectrum.values) > 0)
    # The parts share the first half's centers, so they agree with the whole as a basis allows.
    np.testing.assert_allclose(whole.values[:6], spectrum.values[:6], rtol=0.15)
    assert len(names["same"]) == 3
    # A finer basis: the two moons are nearly apart, then cosines of arcs of length pi.
    np.testing.assert_allclose(names["check"].values[:5], [0, 0, 1.02, 1.02, 4.05], atol=0.03)
    assert len(np.unique(names["clusters"].predict(names["X_new"]))) == 2
