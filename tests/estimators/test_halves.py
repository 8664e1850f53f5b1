"""Halves of the samples: their functions, and what they say about the number of clusters."""

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import eigh

import ritz
from ritz.estimators.halves import Half, halves_of, votes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))


def test_halves_are_the_ritz_problem_in_the_span_of_the_functions():
    sums = ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(1.5), 20), X, random_state=0)
    spectrum = ritz.decompose_sums(sums, 6)[:4]
    pairs = halves_of(spectrum)
    chosen = [half for half in combinations(range(8), 4) if 0 in half]
    assert len(pairs) == len(chosen) == 35
    means = spectrum.basis.offset - sums.left.offset
    span = np.vstack([spectrum.constants - means @ spectrum.coefficients, spectrum.coefficients])
    for half, pair in zip(chosen, pairs, strict=True):
        rest = tuple(fold for fold in range(8) if fold not in half)
        for folds, found in zip((half, rest), pair, strict=True):
            part = sums.of(list(folds)).mean()
            L, Phi = span.T @ part.L @ span, span.T @ part.Phi @ span
            np.testing.assert_allclose(found.values, eigh(L, Phi)[0], rtol=1e-8, atol=1e-12)
            metric = found.rotation.T @ Phi @ found.rotation
            np.testing.assert_allclose(metric / metric[0, 0], np.eye(4), atol=1e-8)


def test_of_many_folds_some_halves_are_drawn():
    """All pairs of halves of 40 folds would be 10^11."""
    basis = ritz.Nystrom(ritz.Gaussian(1.5), 20)
    sums = ritz.assemble(ritz.laplacian(), basis, X, n_folds=40, random_state=0)
    spectrum = ritz.decompose_sums(sums, 3)
    pairs = halves_of(spectrum)
    assert len(pairs) == 35
    first = [pair[0].values for pair in pairs]
    assert len(np.unique(np.round(first, 9), axis=0)) == 35
    for half in (half for pair in pairs for half in pair):
        np.testing.assert_allclose(half.values[1:], spectrum.values[1:], rtol=0.3)


def test_few_folds_have_no_halves():
    basis = ritz.Nystrom(ritz.Gaussian(1.5), 20)
    sums = ritz.assemble(ritz.laplacian(), basis, X, n_folds=3, random_state=0)
    assert halves_of(ritz.decompose_sums(sums, 4)) == []
    model = ritz.SpectralClustering("auto", max_clusters=4, n_folds=3, random_state=0)
    model.fit(np.concatenate([X - 6, X + 6]))
    assert model.n_clusters_ == 2
    assert model.stability_ == {}
    assert model.confidence_ == 0.0


def test_a_half_votes_for_its_largest_gap():
    def half(*values):
        return Half(np.array(values), np.eye(len(values)))

    pairs = [(half(0, 1, 9, 10), half(0, 1, 2, 10)), (half(0, 1, 9, 11), half(0, 0, 0, 10))]
    assert votes(pairs) == {2: 0.5, 3: 0.5}
    assert votes([]) == {}


def test_a_number_without_a_gap_is_not_chosen():
    """Halves of 200 normal rows vote for 20 clusters, where errors exceed the gap."""
    rng = np.random.default_rng(0)
    rng.normal(size=(200, 2))
    model = ritz.SpectralClustering("auto", random_state=0)
    with pytest.warns(UserWarning, match="is not sure"):
        model.fit(rng.normal(size=(200, 3)))
    assert model.evidence_[20] < 0 < model.evidence_[model.n_clusters_]
    assert not model.sure_
    assert f"clusters agree by {model.stability_[model.n_clusters_]:.2f}" in str(model.summary())
