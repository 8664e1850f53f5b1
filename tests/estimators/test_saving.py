"""Fitted estimators are small, and come back from files and pickles to the last bit."""

import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import ritz
from ritz.estimators.saving import SavedEstimator
from ritz.files import write

N = 300
MOONS = ritz.datasets.half_moons(N, random_state=0)
X, TARGET = MOONS.X, MOONS.parameters[:, 0]
NAMES = ["east", "north"]
FRAME = pd.DataFrame(X, columns=NAMES)
FIXED = {"kernel": ritz.Gaussian(0.5), "n_centers": 40, "regularization": 1e-3, "random_state": 0}
FEW = np.arange(N) < 40
MODELS = {
    "embedding": lambda: ritz.SpectralEmbedding(random_state=0).fit(X),
    "embedding with sums": lambda: ritz.SpectralEmbedding(keep_sums=True, **FIXED).fit(X),
    "embedding of a frame": lambda: ritz.SpectralEmbedding(**FIXED).fit(FRAME),
    "embedding in units": lambda: ritz.SpectralEmbedding(scale="standard", **FIXED).fit(X),
    "embedding over polynomials": lambda: ritz.SpectralEmbedding(
        operator=ritz.laplacian("pca", dimension=1), basis=ritz.Monomials(3)
    ).fit(X),
    "embedding over a stack": lambda: ritz.SpectralEmbedding(
        basis=ritz.Stack(ritz.Monomials(2), ritz.RandomFourier(ritz.Gaussian(0.5), 20)),
        random_state=0,
    ).fit(X),
    "embedding of sums": lambda: ritz.SpectralEmbedding(3).fit_sums(
        ritz.assemble(ritz.neighbors(5), ritz.Nystrom(ritz.Gaussian(0.5), 40), X, random_state=0)
    ),
    "embedding in parts": lambda: ritz.SpectralEmbedding(**FIXED).partial_fit(X),
    "embedding of sparse parts": lambda: ritz.SpectralEmbedding(**FIXED).partial_fit(csr_array(X)),
    "modes": lambda: ritz.DiffusionModes(D=[1.0, 2.0], **FIXED).fit(X),
    "clustering": lambda: ritz.SpectralClustering(2, **FIXED).fit(X),
    "auto clustering": lambda: ritz.SpectralClustering("auto", **FIXED).fit(X),
    "singular": lambda: ritz.SingularEmbedding(n_centers=30, random_state=0).fit(X, X[:, :1]),
    "classifier": lambda: ritz.LaplacianClassifier(**FIXED).fit(X, np.where(FEW, MOONS.labels, -1)),
    "classifier of texts": lambda: ritz.LaplacianClassifier(unlabeled="?", **FIXED).fit(
        X, np.where(FEW, np.where(MOONS.labels > 0, "up", "down"), "?")
    ),
    "classifier of bytes": lambda: ritz.LaplacianClassifier(unlabeled=255, **FIXED).fit(
        X, np.where(FEW, MOONS.labels, 255).astype(np.uint8)
    ),
    "classifier of large numbers": lambda: ritz.LaplacianClassifier(unlabeled=0, **FIXED).fit(
        X, np.where(FEW, np.array([5, 2**63 + 7], np.uint64)[MOONS.labels], np.uint64(0))
    ),
    "classifier without a mark": lambda: ritz.LaplacianClassifier(unlabeled=np.nan, **FIXED).fit(
        X, np.where(FEW, MOONS.labels, np.nan)
    ),
    "regressor": lambda: ritz.LaplacianRegressor(**FIXED).fit(X, np.where(FEW, TARGET, np.nan)),
    "hermite": lambda: ritz.HermiteRegressor(random_state=0).fit(X, TARGET),
    "hermite by sums": lambda: ritz.HermiteRegressor(
        solver="sums", n_centers=30, length_scale=0.5, random_state=0
    ).fit(X, TARGET),
    "hermite in parts": lambda: ritz.HermiteRegressor(
        n_centers=30, length_scale=0.5, random_state=0
    ).partial_fit(X, np.column_stack([TARGET, X[:, 0]])),
    "hermite of slopes": lambda: ritz.HermiteRegressor(
        "polynomial", n_centers=20, random_state=0
    ).fit(X[:50], None, gradient=X[:50]),
}
IGNORE = pytest.mark.filterwarnings("ignore:(The number of clusters|Column|partial_fit)")


@pytest.fixture(scope="module")
def fitted():
    known = {}

    def get(name):
        if name not in known:
            known[name] = MODELS[name]()
        return known[name]

    return get


def saved(model, path):
    model.save(path)
    return ritz.load(path)


def pickled(model, path):
    return pickle.loads(pickle.dumps(model))


def answers(model):
    """Return all that a fitted estimator says of points."""
    points = np.random.default_rng(5).uniform(-1, 1.5, size=(50, 2))
    if hasattr(model, "feature_names_in_"):
        points = pd.DataFrame(points, columns=NAMES)
    result = {}
    for method in ("transform", "predict", "predict_proba", "predict_gradient"):
        if hasattr(model, method):
            result[method] = getattr(model, method)(points)
    if isinstance(model, ritz.HermiteRegressor):
        result["deviation"] = model.predict(points, return_std=True)[1]
    return result


def assert_equal(a, b, name=""):
    """Compare two values, and the attributes of both, to the last bit."""
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, err_msg=name)
    elif isinstance(a, float | int | str | bool | None | np.generic):
        assert a == b or (a != a and b != b), name
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), name
        for ours, theirs in zip(a, b, strict=True):
            assert_equal(ours, theirs, name)
    elif isinstance(a, dict):
        assert list(a) == list(b), name
        for key in a:
            assert_equal(a[key], b[key], f"{name}.{key}")
    else:
        assert type(a) is type(b), name


@IGNORE
@pytest.mark.parametrize("way", [saved, pickled])
@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_comes_back(name, way, fitted, tmp_path):
    model = fitted(name)
    again = way(model, tmp_path / "model.ritz")
    assert type(again) is type(model)
    assert str(again) == str(model)
    assert_equal(answers(model), answers(again))
    assert set(vars(again)) == set(vars(model))
    assert_equal(vars(model), vars(again))
    if getattr(model, "selection_", None) is not None:
        assert str(model.selection_) == str(again.selection_)
    if hasattr(model, "spectrum_"):
        assert str(model.spectrum_) == str(again.spectrum_)


@pytest.mark.parametrize("name", ["embedding with sums", "embedding in parts", "hermite in parts"])
def test_partial_fit_goes_on_from_a_file(name, fitted, tmp_path):
    model, again = fitted(name), saved(fitted(name), tmp_path / "model.ritz")
    more = X[:100] + 0.01
    targets = (np.column_stack([TARGET, X[:, 0]])[:100],) if name.startswith("hermite") else ()
    first, second = (pickled(part, None).partial_fit(more, *targets) for part in (model, again))
    assert_equal(answers(first), answers(second))


# Sizes


@pytest.mark.parametrize("operator", ["laplacian", "neighbors"])
def test_a_fitted_embedding_weighs_what_its_functions_do(operator):
    d, p, k = 10, 866, 2
    rows = np.random.default_rng(0).normal(size=(2000, d))
    model = ritz.SpectralEmbedding(
        k, operator=operator, kernel=ritz.Gaussian(4.0), n_centers=p, random_state=0
    ).fit(rows)
    # Centers, coefficients and offsets; two k by k matrices a fold.
    functions = 8 * p * (d + (k + 1) + 1)
    folds = 8 * 2 * 8 * (k + 1) ** 2
    assert model.spectrum_.size == k + 1
    assert functions < len(pickle.dumps(model)) < functions + folds + 20_000
    kept = ritz.SpectralEmbedding(
        k,
        operator=operator,
        kernel=ritz.Gaussian(4.0),
        n_centers=p,
        random_state=0,
        keep_sums=True,
    ).fit(rows)
    # Triangles of two matrices for each of eight folds.
    triangles = 8 * 16 * (p + 1) * (p + 2) // 2
    reference = 8 * 2000 * (d + 1) if operator == "neighbors" else 0
    assert triangles < len(pickle.dumps(kept)) < triangles + 2 * functions + reference + 50_000
    np.testing.assert_array_equal(kept.transform(rows), model.transform(rows))


def test_spectra_keep_the_matrices_of_their_folds(tmp_path):
    spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, k=5, random_state=0)
    folds = spectrum.folds
    assert folds.L.shape == folds.Phi.shape == (8, 5, 5)
    total = folds.weight.sum()
    np.testing.assert_allclose(folds.Phi.sum(axis=0) / total, np.eye(5), atol=1e-8)
    energies = np.diag(folds.L.sum(axis=0)) / total
    np.testing.assert_allclose(energies, spectrum.ritz_values, atol=1e-8)
    some = spectrum[[0, 2]].folds
    np.testing.assert_array_equal(some.L, folds.L[:, [0, 2]][:, :, [0, 2]])
    spectrum.save(tmp_path / "spectrum.ritz")
    again = ritz.load(tmp_path / "spectrum.ritz")
    np.testing.assert_array_equal(again.folds.L, folds.L)
    found = ritz.compare(spectrum, again)
    assert found.same
    # Errors of fewer folds have fewer degrees of freedom, without being told how many.
    rows = X + np.random.default_rng(1).normal(scale=0.05, size=X.shape)
    other = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), rows, k=5, n_folds=4)
    told = ritz.compare(other, other[:], n_folds=4)
    np.testing.assert_array_equal(ritz.compare(other, other[:]).p_values, told.p_values)
    mixed = ritz.compare(spectrum, other).p_values
    few, many = (ritz.compare(spectrum, other, n_folds=n).p_values for n in (4, 8))
    assert (many <= mixed).all()
    assert (mixed <= few).all()


# Sums of a fit


def test_partial_fit_after_a_fit_needs_its_sums():
    model = ritz.SpectralEmbedding(**FIXED).fit(X)
    assert not hasattr(model, "sums_")
    with pytest.raises(ValueError, match=r"keep_sums=True .* or call partial_fit from the start"):
        model.partial_fit(X[:10])
    model.set_params(keep_sums=True).fit(X)
    model.partial_fit(X[:10])
    assert model.sums_.n_rows == N + 10
    assert not hasattr(model.set_params(keep_sums=False).fit(X), "sums_")
    assert ritz.SpectralEmbedding(**FIXED).partial_fit(X).sums_.n_rows == N
    with pytest.raises(ValueError, match="'keep_sums' parameter must be True or False"):
        ritz.SpectralEmbedding(keep_sums="yes", **FIXED).fit(X)


# What is refused


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ritz.SpectralEmbedding().save(tmp_path / "model.ritz")
    assert not list(tmp_path.iterdir())


def test_functions_of_yours_are_not_saved(tmp_path):
    path = tmp_path / "model.ritz"
    for options in (
        {"operator": ritz.form(lambda f, g, x: f.gradient @ g.gradient, symmetric=True)},
        {"basis": ritz.Functions([lambda x: x[:, 0]]), "operator": ritz.potential(1.0)},
    ):
        model = ritz.SpectralEmbedding(1, **options).fit(X)
        with pytest.raises(TypeError, match="never code"):
            model.save(path)
    model = ritz.DiffusionModes(D=lambda x: 1 + x[:, 0] ** 2, **FIXED).fit(X)
    with pytest.raises(TypeError, match=r"is a function.*never code"):
        model.save(path)
    assert not list(tmp_path.iterdir())


HOSTILE = {
    "another class": lambda found: {"name": "Popen"},
    "other parameters": lambda found: {"parameters": found.parameters | {"__class__": 1}},
    "another attribute": lambda found: {"state": found.state | {"transform": 1}},
    "a method": lambda found: {"state": found.state | {"save": "x"}},
    "an attribute of another type": lambda found: {"state": found.state | {"spectrum_": "x"}},
    "too few values": lambda found: {"state": found.state | {"eigenvalues_": np.ones(7)}},
    "no numbers": lambda found: {"state": found.state | {"scale_": np.array([np.nan, 1.0])}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_made_to_do_harm_are_refused(name, fitted, tmp_path):
    path = tmp_path / "model.ritz"
    found = SavedEstimator.of(fitted("embedding"))
    parts = {"name": found.name, "parameters": found.parameters, "state": found.state}
    write(SavedEstimator(**parts | HOSTILE[name](found)), path)
    with pytest.raises(ValueError, match="is not a file saved by ritz, or it is damaged: The"):
        ritz.load(path)


@pytest.mark.parametrize("seed", range(5))
def test_damaged_files_are_refused(seed, fitted, tmp_path):
    path = tmp_path / "model.ritz"
    fitted("embedding").save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(seed)
    flipped = bytearray(whole)
    # The check sum of the archive covers each array, and the largest fills much of the file.
    with zipfile.ZipFile(path) as archive:
        entry = max(archive.infolist(), key=lambda entry: entry.file_size)
    start = entry.header_offset + 200
    flipped[start + int(rng.integers(entry.file_size - 200))] ^= 1 << int(rng.integers(8))
    for content in (whole[: int(rng.integers(len(whole)))], bytes(flipped)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a file saved by ritz, or it is damaged"):
            ritz.load(path)
