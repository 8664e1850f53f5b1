"""Rows of dask that are wrong are named by their number in all data, with their chunk."""

import dask
import dask.array as da
import numpy as np
import pytest

import ritz

N, BAD = 1000, 313
X = np.random.default_rng(0).normal(size=(N, 2))
ROWS = da.from_array(X, chunks=(100, 2))
WHERE = rf"row {BAD}\b.*\(in chunk 3 of X, rows 300 to 399\)"


def with_entry(array, entry):
    array = array.copy()
    array[BAD] = entry
    return da.from_array(array, chunks=(100, *array.shape[1:]))


@pytest.mark.parametrize(
    ("name", "array", "entry"),
    [
        ("sample_weight", np.ones(N), -1.0),
        ("sample_weight", np.ones(N), np.nan),
        ("groups", np.arange(N) / 2, np.nan),
        ("groups", np.arange(N).astype(object), None),
    ],
)
def test_weights_and_groups(name, array, entry):
    options = {name: with_entry(array, entry)}
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=rf"'{name}' parameter.*{WHERE}"),
    ):
        ritz.assemble(ritz.laplacian(), ritz.Monomials(2), ROWS, **options)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_rows_to_transform(scheduler):
    model = ritz.SpectralEmbedding(2, n_centers=30, random_state=0).fit(X)
    rows = with_entry(X, [0.0, np.nan])
    with dask.config.set(scheduler=scheduler):
        with pytest.raises(ValueError, match=WHERE):
            model.transform(rows).compute()
        # The sizes of these chunks are not known.
        with pytest.raises(ValueError, match=r"row 13, .*chunk 3 of X, whose rows are counted"):
            model.transform(rows[rows[:, 0] > -np.inf]).compute()
