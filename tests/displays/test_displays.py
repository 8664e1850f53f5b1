"""Pictures show the numbers that they are made from, and errors name the argument."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import ritz
from tests.displays import models

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X = np.random.default_rng(0).normal(size=(100, 2))
SPECTRUM = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 3, random_state=0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


# Displays are found when they are used


def test_displays_and_matplotlib_load_when_they_are_used():
    code = (
        "import sys, ritz; assert 'matplotlib' not in sys.modules; "
        "assert 'ritz.displays' not in sys.modules; ritz.SpectrumDisplay; "
        "assert 'matplotlib' not in sys.modules; assert 'SpectrumDisplay' in dir(ritz)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_no_attributes():
    with pytest.raises(AttributeError, match="SpectrumDisplays"):
        _ = ritz.SpectrumDisplays


def test_without_matplotlib_an_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'ritz\[plot\]'"):
        ritz.SpectrumDisplay.from_spectrum(SPECTRUM)


# Eigenfunctions


def test_each_function_has_a_panel_with_its_value():
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X, columns=2, resolution=8)
    titles = [ax.get_title() for ax in shown.ax_]
    assert len(titles) == len(SPECTRUM)
    assert titles[0] == "λ₀ = 0"
    assert titles[1].startswith(f"λ₁ = {SPECTRUM.values[1]:.3g} ± ")
    np.testing.assert_array_equal(shown.values, SPECTRUM(shown.points))


def test_level_lines_have_the_levels_of_the_functions():
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X, resolution=8)
    near = np.isfinite(shown.grid.heights[..., 0])
    places = np.stack(np.meshgrid(*shown.grid.axes), axis=-1)
    np.testing.assert_allclose(shown.grid.heights[near], SPECTRUM(places[near]))


def test_nothing_is_drawn_far_from_samples():
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X[:1], resolution=9)
    assert np.isfinite(shown.grid.heights[4, 4]).all()
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X[:2], resolution=50)
    assert np.isnan(shown.grid.heights).any()


def test_functions_of_an_estimator_are_those_of_its_transform():
    model, frame = models.table()
    shown = ritz.EigenfunctionDisplay.from_estimator(model, frame)
    np.testing.assert_allclose(shown.values, model.transform(frame), atol=1e-12)
    assert len(shown.ax_) == 2
    assert shown.axis_names[0].startswith("principal component 1 (")
    by_columns = ritz.EigenfunctionDisplay.from_estimator(
        model, frame, coordinates=("income", "age")
    )
    np.testing.assert_array_equal(by_columns.points, frame[["income", "age"]].to_numpy())
    assert by_columns.axis_names == ("income", "age")


def test_dimensions_one_and_three_have_pictures_of_their_own():
    model, rows = models.modes()
    shown = ritz.EigenfunctionDisplay.from_estimator(model, rows, resolution=50)
    curve = shown.ax_[0].lines[1].get_xydata()
    inside = np.isfinite(curve[:, 1])
    expected = model.transform(curve[inside, :1])[:, 0]
    np.testing.assert_allclose(curve[inside, 1], expected, atol=1e-12)
    points = np.random.default_rng(1).normal(size=(50, 3))
    spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(1), points, 2, random_state=0)
    assert ritz.EigenfunctionDisplay.from_spectrum(spectrum, points).ax_[1].name == "3d"


def test_axes_of_the_caller_are_used():
    figure, axes = plt.subplots(1, 3)
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X, resolution=8, ax=axes)
    assert shown.figure_ is figure
    assert list(shown.ax_) == list(axes)
    figure, (left, right) = plt.subplots(1, 2)
    shown = ritz.EigenfunctionDisplay.from_spectrum(SPECTRUM, X, resolution=8, ax=left)
    assert shown.figure_ is figure
    assert len(figure.axes) == 4
    assert ritz.SpectrumDisplay.from_spectrum(SPECTRUM, ax=right).ax_ is right


def labels_of(axes):
    return [(bool(ax.get_ylabel()), bool(ax.get_xlabel())) for ax in axes]


def test_outer_panels_have_labels_in_grids_of_any_shape():
    draw = ritz.EigenfunctionDisplay.from_spectrum
    four = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 4, random_state=0)
    corners = [(True, False), (False, False), (True, True), (False, True)]
    _, axes = plt.subplots(2, 2)
    assert labels_of(draw(four, X, resolution=8, ax=axes).ax_) == corners
    assert labels_of(draw(four, X, resolution=8, columns=2).ax_) == corners
    # The columns on the right of a larger grid, and three functions for four places.
    _, axes = plt.subplots(2, 3)
    assert labels_of(draw(four, X, resolution=8, ax=axes[:, 1:]).ax_) == corners
    _, axes = plt.subplots(2, 2)
    expected = [(True, False), (False, True), (True, True)]
    assert labels_of(draw(SPECTRUM, X, resolution=8, ax=axes).ax_) == expected
    figure = plt.figure()
    axes = [figure.add_axes((0.1, 0.3 * j, 0.8, 0.2)) for j in range(3)]
    assert labels_of(draw(SPECTRUM, X, resolution=8, ax=axes).ax_) == [(True, True)] * 3


@pytest.mark.parametrize("d", [4, 30])
def test_a_single_row_of_many_columns_is_drawn(d):
    rows = np.random.default_rng(0).normal(size=(100, d))
    spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(1), rows, 2, random_state=0)
    shown = ritz.EigenfunctionDisplay.from_spectrum(spectrum, rows[:1])
    np.testing.assert_array_equal(shown.points, np.zeros((1, 2)))
    np.testing.assert_array_equal(shown.values, spectrum(rows[:1]))


@pytest.mark.parametrize("kind", ["SpectrumDisplay", "EigenfunctionDisplay", "EmbeddingDisplay"])
def test_a_single_cluster_has_no_function_to_draw(kind):
    model = ritz.SpectralClustering(1, operator="laplacian", **models.FEW).fit(X)
    rows = () if kind == "SpectrumDisplay" else (X,)
    with pytest.raises(ValueError, match=r"'estimator' parameter must be .* function to draw"):
        getattr(ritz, kind).from_estimator(model, *rows)
    with pytest.raises(ValueError, match=r"'spectrum' parameter must be .* function to draw"):
        getattr(ritz, kind).from_spectrum(model.spectrum_[:0], *rows)
    assert ritz.ClusterDisplay.from_estimator(model, X, resolution=8).shares.tolist() == [1.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spectrum", None),
        ("X", X[:0]),
        ("X", np.ones((5, 3))),
        ("columns", 0),
        ("columns", "two"),
        ("resolution", 1),
        ("n_points", None),
        ("n_functions", 0),
        ("coordinates", (0, 2)),
        ("coordinates", "age"),
        ("coordinates", ("age", "income")),
    ],
)
def test_errors_name_the_argument(name, value):
    arguments = {"spectrum": SPECTRUM, "X": X, "resolution": 8} | {name: value}
    with pytest.raises((ValueError, TypeError), match=f"The '{name}' parameter"):
        ritz.EigenfunctionDisplay.from_spectrum(**arguments)


def test_an_estimator_must_be_fitted_and_have_a_spectrum():
    with pytest.raises(ValueError, match="not fitted"):
        ritz.SpectrumDisplay.from_estimator(ritz.SpectralEmbedding())
    with pytest.raises(TypeError, match=r"'estimator' parameter must be .* with a spectrum_"):
        ritz.SpectrumDisplay.from_estimator(models.regression())
    with pytest.raises(TypeError, match="Estimators have `from_estimator`"):
        ritz.SpectrumDisplay.from_spectrum(models.embedding())


# Spectra


def test_intervals_are_those_of_student():
    model = models.embedding()
    shown = ritz.SpectrumDisplay.from_estimator(model)
    np.testing.assert_array_equal(shown.values, model.eigenvalues_)
    expected = student.ppf(0.975, 7) * model.eigenvalue_errors_
    np.testing.assert_allclose(shown.half_widths, expected)
    assert shown.ax_.get_ylabel() == "eigenvalue"
    assert shown.ax_.get_title(loc="left") == "laplacian()"
    assert "95% interval, for sampling" in shown.ax_.get_legend_handles_labels()[1]


def test_repeated_values_are_joined():
    X = ritz.datasets.circle().sample(2000, random_state=0)
    form = ritz.laplacian(tangent=ritz.datasets.circle().tangent)
    spectrum = ritz.decompose(form, ritz.Monomials(3), X, 5, random_state=0)
    assert spectrum.groups.tolist() == [0, 1, 1, 2, 2]
    texts = [text.get_text() for text in ritz.SpectrumDisplay.from_spectrum(spectrum).ax_.texts]
    assert sum(text.endswith("× 2") for text in texts) == 2


def test_singular_values_are_called_so():
    model, X = models.pair()
    assert ritz.SpectrumDisplay.from_estimator(model).ax_.get_ylabel() == "singular value"
    shown = ritz.EigenfunctionDisplay.from_estimator(model, X)
    assert shown.titles[0].startswith("σ₁ = ")


# Embeddings


def test_samples_are_colored_by_labels_numbers_and_columns():
    model = models.embedding()
    draw = ritz.EmbeddingDisplay.from_estimator
    shown = draw(model, MOONS.X, color=MOONS.labels)
    assert shown.coloring.labels == ("0", "1")
    np.testing.assert_array_equal(shown.coloring.codes, MOONS.labels)
    np.testing.assert_allclose(shown.embedding, model.transform(MOONS.X)[:, :2], atol=1e-12)
    assert draw(model, MOONS.X, color=MOONS.parameters[:, 0]).coloring.labels is None
    np.testing.assert_array_equal(draw(model, MOONS.X, color=1).coloring.codes, MOONS.X[:, 1])
    words = np.where(MOONS.labels > 0, "right", "left").astype(object)
    words[:3] = None
    shown = draw(model, MOONS.X, color=words, components=(3, 1))
    assert shown.coloring.labels == ("left", "right")
    assert (shown.coloring.codes[:3] == -1).all()
    np.testing.assert_allclose(shown.embedding, model.transform(MOONS.X)[:, [2, 0]], atol=1e-12)
    table, frame = models.table()
    assert draw(table, frame, color="age").coloring.name == "age"
    assert draw(table, frame, color=frame["income"] > 1e4).coloring.name == "income"


MOONS = models.MOONS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color", "age"),
        ("color", 2),
        ("color", np.ones(3)),
        ("color", np.full(400, None)),
        ("components", (0, 1)),
        ("components", (1, 4)),
        ("components", 1),
    ],
)
def test_errors_of_embeddings_name_the_argument(name, value):
    with pytest.raises((ValueError, TypeError), match=f"The '{name}' parameter"):
        ritz.EmbeddingDisplay.from_estimator(models.embedding(), MOONS.X, **{name: value})


def test_a_function_alone_is_drawn_in_its_order():
    shown = ritz.EmbeddingDisplay.from_spectrum(SPECTRUM[:2], X)
    order = np.argsort(shown.embedding[:, 0])
    np.testing.assert_allclose(shown.embedding[order, 1], np.linspace(0, 1, len(X)))


# Selections, clusters, calibration


def test_selections_are_drawn():
    shown = ritz.SelectionDisplay.from_estimator(models.embedding())
    assert shown.ax_.get_xscale() == "log"
    assert "chosen" in shown.ax_.get_legend_handles_labels()[1]
    with pytest.raises(ValueError, match="compared candidates"):
        ritz.SelectionDisplay.from_estimator(
            ritz.SpectralEmbedding(1, operator="laplacian", basis=ritz.Monomials(2)).fit(X)
        )


def test_regions_are_those_of_predict():
    model = models.clusters()
    shown = ritz.ClusterDisplay.from_estimator(model, MOONS.X, resolution=20)
    np.testing.assert_array_equal(shown.labels, model.labels_)
    assert shown.shares.sum() == pytest.approx(1.0)
    near = np.isfinite(shown.grid.heights[..., 0])
    places = np.stack(np.meshgrid(*shown.grid.axes), axis=-1)
    expected = model.predict(places[near])
    np.testing.assert_array_equal(shown.grid.heights[near][:, 0], expected)
    assert max(shown.evidence, key=shown.evidence.get) == model.n_clusters_


def test_the_number_of_clusters_chosen_is_marked_where_another_has_a_larger_ratio():
    shares, evidence = np.array([0.6, 0.4]), {2: 1.66, 3: 1.94, 4: 1.1}
    labels = np.zeros(2, dtype=np.int32)
    shown = ritz.ClusterDisplay(np.zeros((2, 2)), labels, shares, ("", ""), None, evidence)
    ax = shown.plot_evidence().ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 clusters, chosen"]
    colors = [mpl.colors.to_hex(color) for color in ax.collections[1].get_facecolors()]
    assert colors[0] != colors[1] == colors[2]
    assert ax.get_legend().legend_handles[0].get_color() == colors[0]


def test_a_given_number_of_clusters_has_no_evidence():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(40, 4)), 9 + rng.normal(size=(40, 4))])
    model = ritz.SpectralClustering(3, length_scale=3.0, random_state=0).fit(rows)
    shown = ritz.ClusterDisplay.from_estimator(model, rows)
    assert shown.grid is None
    assert shown.axis_names[0].startswith("function 1: ")
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        shown.plot_evidence()
    with pytest.raises(TypeError, match="a SpectralClustering"):
        ritz.ClusterDisplay.from_estimator(models.embedding(), MOONS.X)


def test_calibration_counts_the_values_inside():
    model = models.regression()
    rows = np.random.default_rng(1).uniform(-2, 2, size=(80, 2))
    y = models.wave(rows)
    y[0] += 9.0
    y[1] = np.nan
    shown = ritz.CalibrationDisplay.from_estimator(model, rows, y)
    mean, deviation = model.predict(rows, return_std=True)
    known = np.arange(80) != 1
    np.testing.assert_allclose(np.sort(shown.predictions), np.sort(mean[known]))
    inside = np.abs(y - mean)[known] <= 1.959963984540054 * deviation[known]
    assert shown.coverage == inside.mean()
    assert shown.coverage < 1
    noisy = ritz.CalibrationDisplay.from_estimator(model, rows, y, noise=100.0)
    assert noisy.coverage == 1.0
    assert noisy.plot_coverage().ax_.get_xlabel() == "probability of the interval"


@pytest.mark.parametrize(
    ("name", "value"),
    [("y", np.ones(3)), ("y", np.full(80, np.nan)), ("noise", -1.0), ("output", 1)],
)
def test_errors_of_calibration_name_the_argument(name, value):
    rows = np.random.default_rng(1).uniform(-2, 2, size=(80, 2))
    arguments = {"X": rows, "y": models.wave(rows)} | {name: value}
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        ritz.CalibrationDisplay.from_estimator(models.regression(), **arguments)


def test_names_and_labels_with_dollars_and_underscores_are_plain_text():
    names = [r"$\frac$", "cost ($k, $m)"]
    frame = pd.DataFrame(MOONS.X, columns=names)
    model = ritz.SpectralClustering(2, operator="laplacian", random_state=0).fit(frame)
    labels = pd.Series(np.where(MOONS.labels == 0, "_up", r"$\x$"), name=r"$\y$")
    for draw in (
        lambda: ritz.EigenfunctionDisplay.from_estimator(model, frame),
        lambda: ritz.ClusterDisplay.from_estimator(model, frame),
        lambda: ritz.EmbeddingDisplay.from_estimator(model, frame, color=names[0]),
    ):
        draw().figure_.canvas.draw()
    display = ritz.EmbeddingDisplay.from_estimator(model, frame, color=labels)
    display.figure_.canvas.draw()
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert sorted(shown) == [" _up", r"\$\x\$"]
    display = ritz.CalibrationDisplay(np.arange(3.0), np.arange(3.0), np.ones(3), r"$\y$").plot()
    display.figure_.canvas.draw()
