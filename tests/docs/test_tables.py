"""The code of docs/tables.md and its example run and give what the page states."""

import re
import runpy
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")


def test_blocks_run_in_order_and_give_what_the_page_states():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "tables.md", "exec"), names)
    assert names["table"].isna().to_numpy().any()
    stated = float(re.search(r"adjusted Rand index (\d\.\d+)", PAGE).group(1))
    agreement = adjusted_rand_score(names["wine"].target, names["labels"])
    assert abs(agreement - stated) < 0.05
    np.testing.assert_array_equal(names["new_labels"], names["labels"][:5])
    # A sparse matrix gives what the pipeline gives.
    values = names["embedding"][-1].eigenvalues_
    np.testing.assert_allclose(names["model"].eigenvalues_, values, rtol=1e-12)
    for name in ("by_shares", "by_ratios"):
        assert np.isfinite(names[name]).all()
    parts = names["log_ratios"](np.array([[0.2, 0.3, 0.5]]))
    np.testing.assert_allclose(parts.sum(), 0.0, atol=1e-12)


def test_the_example_prints_the_agreement(capsys):
    runpy.run_path(str(ROOT / "examples" / "mixed_table.py"))
    text = capsys.readouterr().out
    assert "entries are missing" in text
    assert float(text.split()[-1]) > 0.8
