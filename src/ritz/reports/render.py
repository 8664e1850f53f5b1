"""The report: one page in one file, which fetches nothing."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ritz.atomic import write_atomically
from ritz.displays.source import Source
from ritz.hermite import HermiteRegressor
from ritz.reports.page import Page, about_choices, regression_parts, spectral_parts
from ritz.reports.reproduce import code_for, fingerprint
from ritz.spectrum import SingularSpectrum, Spectrum
from ritz.validation import Names, as_count, as_rows, parameter_error

FOLDER = Path(__file__).parent
# What browsers take for a page.
SUFFIXES = (".html", ".htm")
# What the page may do: use what it holds, and nothing else.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def report(
    model: Any,
    X: Any = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    y: Any = None,
    title: str | None = None,
    n_points: int = 2000,
) -> Path:
    """Write a page about a fit: data, spectrum, functions, what moves them, evidence, code.

    It is one HTML file that holds all it shows, so that it can be sent and read offline.

    Parameters
    ----------
    model
        A fitted estimator, a `Spectrum` or `SingularSpectrum`, or a fitted `Pipeline` of
        scikit-learn that ends in such an estimator: the page is about the last step, and about rows
        as the steps before it transform them.
    X
        Samples (n, d), those of the fit or others; without them the page holds what the model
        knows.
    path
        The file to write, .html or .htm.
    y
        Labels or numbers (n,), or a column of X, that color the samples. For a `HermiteRegressor`,
        values that it was not fitted to, to check its intervals with.
    title
        The title of the page.
    n_points
        How many of the samples to draw.

    Returns
    -------
    The path of the file.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(500, random_state=0).X
    >>> model = ritz.SpectralEmbedding(2, operator="laplacian", random_state=0).fit(X)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ritz.report(model, X, f"{folder}/moons.html").name
    'moons.html'
    """
    return write_page(model, X, path, y, title, n_points)


def write_page(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    y: Any = None,
    title: str | None = None,
    n_points: int = 2000,
    drawn_from: int = 0,
) -> Path:
    """Write the page of `report`, which says so where X is a sample from more rows."""
    as_count(n_points, "n_points")
    if title is not None and not isinstance(title, str):
        raise parameter_error("title", "None or a text", repr(title))
    try:
        target = Path(os.fsdecode(path))
    except TypeError:
        what, got = "a text or a PathLike", type(path).__name__
        raise parameter_error("path", what, got, kind=TypeError) from None
    if target.suffix.lower() not in SUFFIXES:
        raise parameter_error("path", "a name that ends in .html or .htm", repr(str(target)))
    require_extras()
    in_pipeline = isinstance(model, Pipeline)
    names: Names = None
    if in_pipeline:
        model, X, names = last_step(model, X)
    source: Source | None = None
    if isinstance(model, HermiteRegressor):
        check_is_fitted(model, "solution_")
        parts = regression_parts(model, X, y)
    else:
        source = source_of(model)
        source = source if names is None else replace(source, names=names)
        parts = spectral_parts(model, source, X, y, n_points)
    rows = None if X is None else as_rows(X, "X")
    parts = about_choices(model, source) | parts
    if rows is not None and drawn_from > len(rows):
        parts["sampled"] = (
            f"These are {len(rows):,} rows drawn at random from {drawn_from:,}; "
            "numbers of rows below count these."
        )
    name = type(model).__name__
    page = Page(
        title=title or f"{name} report",
        code=code_for(model, source, target.name, in_pipeline),
        fingerprint=fingerprint(rows),
        **parts,
    )
    html = render(page)
    with write_atomically(target) as file:
        file.write(html.encode())
    return target


def last_step(pipeline: Pipeline, X: Any) -> tuple[Any, Any, Names]:
    """Return the last step of a pipeline, and the rows and names of columns that it was given."""
    before, model = pipeline[:-1], pipeline[-1]
    if X is None or not len(before):
        return model, X, None
    check_is_fitted(pipeline)
    try:
        names = tuple(map(str, before.get_feature_names_out()))
    except (AttributeError, ValueError):
        # Not every transformer can name its columns.
        names = None
    return model, before.transform(X), names


def source_of(model: Any) -> Source:
    """Return the functions of an estimator or a spectrum, the constant left out."""
    if isinstance(model, Spectrum | SingularSpectrum):
        source = Source.of_spectrum(model).with_functions("model")
        varies: Any = source.functions
        constant = not varies.coefficients[:, 0].any()
        if constant and len(source.numbers) > 1:
            return replace(source, numbers=source.numbers[1:])
        return source
    if not isinstance(model, BaseEstimator):
        what = "a fitted estimator, a Spectrum or a SingularSpectrum"
        raise parameter_error("model", what, type(model).__name__, kind=TypeError)
    return Source.of_estimator(model)


def require_extras() -> None:
    """Raise, with how to install them, where packages of the extra are missing."""
    try:
        for name in ("jinja2", "bokeh", "matplotlib"):
            import_module(name)
    except ImportError:
        needed = "A report needs jinja2, bokeh and matplotlib"
        raise ImportError(f"{needed}: pip install 'ritz[report]'.") from None


def render(page: Page) -> str:
    """Return the page as HTML."""
    jinja2 = import_module("jinja2")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((FOLDER / "report.html.jinja").read_text("utf-8"))
    settings = "" if page.brush is None else json.dumps(page.brush.settings)
    html: str = template.render(
        page=page,
        policy=POLICY,
        css=(FOLDER / "report.css").read_text("utf-8"),
        js=(FOLDER / "report.js").read_text("utf-8"),
        # Names of columns may hold anything.
        settings=settings.replace("<", "\\u003c"),
        version=import_module("ritz").__version__,
    )
    return html
