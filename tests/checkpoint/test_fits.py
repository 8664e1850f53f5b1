"""Estimators whose fit was interrupted end as if it had not been."""

import numpy as np
import pytest

import ritz
from ritz.assembly import checkpoint, folds

MOONS = ritz.datasets.half_moons(600, random_state=0)
X, Y = MOONS.X, np.column_stack([MOONS.X, MOONS.parameters])
LABELS = np.where(np.arange(600) < 40, MOONS.labels, -1)
KERNEL = {"kernel": ritz.Gaussian(0.5), "n_centers": 30, "regularization": 1e-3}
FITS = {
    "embedding": (ritz.SpectralEmbedding(2), (X,)),
    "embedding, fixed": (ritz.SpectralEmbedding(2, **KERNEL), (X,)),
    "modes": (ritz.DiffusionModes(2, **KERNEL), (X,)),
    "clustering": (ritz.SpectralClustering(2, random_state=0, **KERNEL), (X,)),
    "singular": (ritz.SingularEmbedding(2, n_centers=30), (X, Y)),
    "classifier": (ritz.LaplacianClassifier(n_components=10, **KERNEL), (X, LABELS)),
    "regressor": (ritz.LaplacianRegressor(n_components=10, **KERNEL), (X, MOONS.parameters[:, 0])),
}


class BreakingOff(Exception):
    """The fit ends here."""


def outcome(model):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_was_interrupted_goes_on(name, tmp_path, monkeypatch):
    model, data = FITS[name]
    path = tmp_path / "fit.ritz"
    monkeypatch.setattr("ritz.streams.stream.CHUNK_ROWS", 100)
    expected = outcome(model.fit(*data, checkpoint=tmp_path / "other.ritz"))
    real = folds.add_block
    blocks = []

    def breaking_off(block, *rest):
        if path.exists():
            blocks.append(len(block))
        if len(blocks) == 4:
            raise BreakingOff
        return real(block, *rest)

    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)
    monkeypatch.setattr(folds, "add_block", breaking_off)
    with pytest.raises(BreakingOff):
        model.fit(*data, checkpoint=path)
    monkeypatch.setattr(folds, "add_block", real)
    np.testing.assert_array_equal(outcome(model.fit(*data, checkpoint=path)), expected)
    # A fit that is complete reads no more than its first block again.
    np.testing.assert_array_equal(outcome(model.fit(*data, checkpoint=path)), expected)


def test_other_parameters_are_refused(tmp_path):
    path = tmp_path / "fit.ritz"
    ritz.SpectralEmbedding(2, **KERNEL).fit(X, checkpoint=path)
    with pytest.raises(ValueError, match=r"'checkpoint' parameter.*another basis"):
        ritz.SpectralEmbedding(2, **KERNEL | {"n_centers": 31}).fit(X, checkpoint=path)
    # The number of functions is no matter of the sums.
    assert ritz.SpectralEmbedding(3, **KERNEL).fit(X, checkpoint=path).transform(X).shape == (
        600,
        3,
    )


def test_decompose_goes_on(tmp_path):
    options = {"k": 3, "checkpoint": tmp_path / "fit.ritz"}
    basis = ritz.Nystrom(ritz.Gaussian("auto"))
    first, again = (ritz.decompose(ritz.laplacian(), basis, X, **options) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
