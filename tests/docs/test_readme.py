"""The README's code and the pages on estimators and operators run and give what the text states."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]


def run(name, folder, monkeypatch):
    """Run the blocks of a page in order, and return the names they define."""
    monkeypatch.chdir(folder)
    page = (ROOT / name).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, name, "exec"), names)
    return names


def test_the_readme_fits_one_screen():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60


def test_the_readme_embeds_and_prints_a_table(tmp_path, monkeypatch, capsys):
    names = run("README.md", tmp_path, monkeypatch)
    assert names["embedding"].transform(names["moons"].X[:10]).shape == (10, 2)
    assert "eigenvalue" in capsys.readouterr().out


def test_estimators_do_what_their_page_says(tmp_path, monkeypatch):
    names = run("docs/estimators.md", tmp_path, monkeypatch)
    assert (tmp_path / "embedding.npz").exists()
    assert len(np.unique(names["clusters"].predict(names["X_new"]))) == 2
    assert names["few"].score(names["moons"].X, names["moons"].labels) > 0.99
    gradient = names["model"].predict_gradient([[1.0, 1.0]])
    np.testing.assert_allclose(gradient, [[0.540, 0.841]], atol=2e-3)
    np.testing.assert_allclose(names["network"].eigenvalues_, [1, 1, 4, 4], rtol=0.05)


def test_operators_have_the_spectra_that_their_page_states(tmp_path, monkeypatch, capsys):
    names = run("docs/operators.md", tmp_path, monkeypatch)
    spectrum, whole = names["spectrum"], names["whole"]
    assert "eigenvalue" in capsys.readouterr().out
    assert spectrum.values[0] == 0.0
    assert np.all(np.diff(spectrum.values) >= 0)
    # The parts share the first half's centers, so they agree with the whole as a basis allows.
    np.testing.assert_allclose(whole.values[:6], spectrum.values[:6], rtol=0.15)
    assert len(names["same"]) == 3
    # A finer basis: the two moons are nearly apart, then cosines of arcs of length pi.
    np.testing.assert_allclose(names["check"].values[:5], [0, 0, 1.02, 1.02, 4.05], atol=0.03)
