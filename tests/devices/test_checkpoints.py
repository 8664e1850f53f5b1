"""Checkpoints of passes over rows on a device: arrays of NumPy, from which passes go on there."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import ritz
from ritz.assembly import checkpoint, folds
from ritz.streams import stream
from tests.devices.namespaces import NAMESPACES, gap_of_sums

X = np.random.default_rng(0).normal(size=(950, 3))
BLOCK_ROWS, N_BLOCKS = 100, 10


class BreakingOff(Exception):
    """The device is gone."""


class Added(NamedTuple):
    """The blocks that were added, and the function that adds up to `limit` of them."""

    blocks: list
    counting: Any


@pytest.fixture
def added(monkeypatch):
    """The blocks that were added, ten of them in a pass; the file is written after each."""
    monkeypatch.setattr(stream, "CHUNK_ROWS", BLOCK_ROWS)
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)
    blocks, add_block = [], folds.add_block

    def counting(block, *rest):
        if len(blocks) == counting.limit:
            raise BreakingOff
        blocks.append(block)
        add_block(block, *rest)

    counting.limit = N_BLOCKS + 1
    monkeypatch.setattr(folds, "add_block", counting)
    return Added(blocks, counting)


def summed(form, kernel, rows, path=None):
    basis = ritz.Nystrom(kernel, 20)
    return ritz.assemble(form, basis, rows, n_folds=3, random_state=0, checkpoint=path)


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize(
    ("form", "kernel"),
    [
        (ritz.laplacian(), ritz.Gaussian(1.5)),
        (ritz.laplacian(), ritz.Gaussian((0.1, 0.2, 0.1))),
        (ritz.laplacian(), ritz.Polynomial(3)),
        (ritz.potential(lambda x: x[:, 0] ** 2), ritz.Gaussian(1.5)),
        (ritz.neighbors(5), ritz.Matern(2.5)),
    ],
    ids=str,
)
def test_a_pass_on_a_device_goes_on_to_the_last_bit(form, kernel, namespace, tmp_path, added):
    rows, path = NAMESPACES[namespace](X), tmp_path / "sums.ritz"
    whole = summed(form, kernel, rows)
    added.blocks.clear()
    added.counting.limit = 4
    with pytest.raises(BreakingOff):
        summed(form, kernel, rows, path)
    added.blocks.clear()
    added.counting.limit = N_BLOCKS
    # The second call adds the blocks that are missing, the third one none.
    for missing in (N_BLOCKS - 4, 0):
        found = summed(form, kernel, rows, path)
        assert len(added.blocks) == missing
        assert gap_of_sums(found, whole) == 0.0
        assert all(isinstance(matrix, np.ndarray) for matrix in (*found.L, *found.Phi))
        np.testing.assert_array_equal(found.homes, whole.homes)
        added.blocks.clear()


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_same_rows_in_numpy_go_on_from_a_device(namespace, tmp_path, added):
    path, kernel = tmp_path / "sums.ritz", ritz.Gaussian(1.5)
    added.counting.limit = 4
    with pytest.raises(BreakingOff):
        summed(ritz.laplacian(), kernel, NAMESPACES[namespace](X), path)
    added.blocks.clear()
    added.counting.limit = N_BLOCKS
    found = summed(ritz.laplacian(), kernel, X, path)
    assert len(added.blocks) == N_BLOCKS - 4
    added.blocks.clear()
    assert gap_of_sums(found, summed(ritz.laplacian(), kernel, X)) < 1e-12


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_other_rows_are_refused(namespace, tmp_path):
    path, there = tmp_path / "sums.ritz", NAMESPACES[namespace]
    summed(ritz.laplacian(), ritz.Gaussian(1.5), there(X), path)
    with pytest.raises(ValueError, match="other rows in block 0"):
        summed(ritz.laplacian(), ritz.Gaussian(1.5), there(X + 1.0), path)
