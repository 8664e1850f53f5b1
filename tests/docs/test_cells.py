"""The code of docs/cells.md runs, here on generated cells in place of those that scanpy ships."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

from tests.cells import cells

PAGE = (Path(__file__).parents[2] / "docs" / "cells.md").read_text(encoding="utf-8")


def test_blocks_run_in_order(monkeypatch):
    scanpy = ModuleType("scanpy")
    scanpy.datasets = SimpleNamespace(pbmc68k_reduced=cells)
    monkeypatch.setitem(sys.modules, "scanpy", scanpy)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "cells.md", "exec"), names)
    adata, new = names["adata"], names["new"]
    assert adata.obsm["X_ritz"].shape == (300, 15)
    assert len(adata.obs["ritz"].cat.categories) == 10
    assert len(names["genes"]) == 150
    assert new.obsm["X_ritz"].shape == (50, 15)
