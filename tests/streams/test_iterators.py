"""Rows that come once are those of the array, and leave no file behind."""

import os
import tempfile

import dask.array as da
import numpy as np
import pytest

import ritz
from ritz.streams.spool import spooled
from tests.streams.conftest import N, X

FORM = ritz.laplacian()
PARTS = np.array_split(X, 4)
BASES = {"sections": ritz.Nystrom(ritz.Gaussian(1.0), 20), "polynomials": ritz.Monomials(2)}


@pytest.mark.parametrize("data", [lambda: iter(PARTS), lambda: ritz.Batches(iter(PARTS))])
@pytest.mark.parametrize("basis", BASES)
def test_sums_over_an_iterator_are_those_of_the_array(basis, data):
    expected = ritz.assemble(FORM, BASES[basis], X, random_state=0)
    found = ritz.assemble(FORM, BASES[basis], data(), random_state=0)
    for name in ("L", "Phi", "count"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    spectra = (
        ritz.decompose(FORM, BASES[basis], rows, k=3, random_state=0) for rows in (data(), X)
    )
    values, known = (spectrum.values for spectrum in spectra)
    np.testing.assert_array_equal(values, known)


def test_the_rows_of_an_iterator_are_counted_for_a_field_of_the_rows():
    form = FORM + ritz.potential(np.ones(N + 1))
    with pytest.raises(ValueError, match=rf"'V' parameter .*{N + 1}"):
        ritz.assemble(form, BASES["polynomials"], iter(PARTS))


def test_a_spectrum_takes_iterators_and_dask():
    spectrum = ritz.decompose(FORM, BASES["polynomials"], X, k=3)
    for make in (lambda: iter(PARTS), lambda: da.from_array(X, chunks=(400, 1))):
        np.testing.assert_array_equal(spectrum(make()), spectrum(X))
        np.testing.assert_array_equal(spectrum.gradient(make()), spectrum.gradient(X))
    one = da.from_array(X[:1], chunks=1)
    np.testing.assert_array_equal(spectrum(one), spectrum(X[:1]))


def test_a_spectrum_reads_one_chunk_of_dask_after_the_other():
    events = []

    def noted(block, block_id=None):
        events.append(f"chunk {block_id[0]}")
        return block

    rows = da.from_array(X, chunks=(500, 2)).map_blocks(noted, dtype=float, meta=X[:0])
    functions = ritz.Functions([lambda x: events.append(len(x)) or x[:, 0]])
    functions(rows)
    assert events == ["chunk 0", 500, "chunk 1", 500, "chunk 2", 500]


def test_rows_that_there_are_none_of_are_named():
    spectrum = ritz.decompose(FORM, BASES["polynomials"], X, k=3)
    with pytest.raises(ValueError, match=r"'X' parameter must be an array with at least 1 row"):
        spectrum(da.from_array(X[:0], chunks=(1, 2)))


def test_temporary_files_have_no_name(tmp_path, monkeypatch):
    """Whatever kills the process, they are gone with it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def parts():
        for part in PARTS:
            seen.append(os.listdir(tmp_path))
            yield part

    rows = spooled(ritz.Batches(parts()))
    assert seen == [[]] * len(PARTS)
    assert isinstance(rows.views[0], np.memmap)
    np.testing.assert_array_equal(rows.views[0], X)
