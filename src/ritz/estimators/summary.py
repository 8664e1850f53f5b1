"""What a fit chose, why, how sure it is, and what to try next, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz import tables
from ritz.estimators.certainty import advice_on, sure_of
from ritz.estimators.choices import Chosen, basis_choices, in_short, is_auto, unit_choices
from ritz.tables import numbered

# Held-out correlations below this share of those in the samples are mostly fitted noise.
LEAST_HELD_OUT = 0.8


@dataclass(frozen=True)
class Summary:
    """What `summary()` of an estimator returns; it prints as text and has an HTML face.

    Attributes
    ----------
    title
        The estimator, and what it was fitted to.
    chosen
        What was chosen: triples of a name, the value and the reason.
    sure
        Sentences that say how sure the result is.
    next
        Sentences that say what to try next.
    """

    title: str
    chosen: tuple[Chosen, ...]
    sure: tuple[str, ...]
    next: tuple[str, ...]

    def __str__(self) -> str:
        widths = [max(len(row[j]) for row in self.chosen) for j in range(2)]
        lines = [self.title, "", "Chosen"]
        for name, value, reason in self.chosen:
            lines.append(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {reason}".rstrip())
        for heading, items in (("How sure", self.sure), ("What to try next", self.next)):
            lines += ["", heading, *(f"  - {item}" for item in items)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        found = tables.table(self.title, ("chosen", "value", "why"), self.chosen, text=(0, 1, 2))
        sure = tables.listing("How sure", self.sure)
        return tables.face(found, sure, tables.listing("What to try next", self.next))


def looks(*calls: str) -> str:
    """Return the sentence that names pictures to look at."""
    return f"Look at {' and '.join(calls)}."


def title_of(estimator: Any, what: str) -> str:
    """Return the title of a summary."""
    rows = estimator.spectrum_.n_rows
    columns = getattr(estimator, "n_features_in_", None)
    wide = "" if columns is None else f", {columns} column{'' if columns == 1 else 's'}"
    return f"{type(estimator).__name__}: {what}, {rows:,} rows{wide}"


def functions_in_words(n: int, noun: str = "function") -> str:
    """Return a number of functions in words."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def embedding_summary(estimator: Any) -> Summary:
    """Return the summary of a `SpectralEmbedding`."""
    levels, n = estimator.spectrum_, len(estimator.eigenvalues_)
    why = "as many as two halves of the samples agree on"
    if levels.stability is None:
        why = "the default: two halves of the samples cannot be compared"
    count = ("functions", str(n), why if is_auto(estimator.n_components) else "as asked")
    chosen = [*unit_choices(estimator), *basis_choices(estimator), count]
    sure = sure_of(levels, estimator.n_folds, "eigenvalue")
    advice = advice_on(levels, estimator.n_folds, estimator, "n_components")
    advice.append(looks("ritz.EigenfunctionDisplay.from_estimator(model, X)"))
    title = title_of(estimator, functions_in_words(n))
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))


def clustering_summary(estimator: Any, largest: float) -> Summary:
    """Return the summary of a `SpectralClustering`; a single cluster has ratios up to `largest`."""
    levels, n = estimator.spectrum_, estimator.n_clusters_
    auto = is_auto(estimator.n_clusters)
    why = "as asked"
    if auto:
        why = "the largest ratio of neighboring eigenvalues"
        agreed = estimator.stability_.get(n)
        if agreed is not None:
            why = f"by gaps in halves of the samples, whose clusters agree by {agreed:.2f}"
    chosen = [*unit_choices(estimator), *basis_choices(estimator), ("clusters", str(n), why)]
    sure = []
    # A fit to a stream keeps no labels.
    if hasattr(estimator, "labels_"):
        sizes = np.bincount(estimator.labels_, minlength=n)
        largest_first = np.sort(sizes)[::-1] / sizes.sum()
        smallest = f", the smallest {largest_first[-1]:.0%}" if n > 1 else ""
        sure.append(f"The largest cluster holds {largest_first[0]:.0%} of the rows{smallest}.")
    advice = []
    if auto:
        ratio = float(np.exp(estimator.evidence_.get(n, 0.0)))
        word = "is sure" if estimator.sure_ else "is not sure"
        reason = (
            f"the next eigenvalue is {ratio:.2g} times the last one used, and a single cluster can "
            f"have {largest:g}"
        )
        if not estimator.sure_ and ratio > largest:
            reason = f"halves of the samples agree on {n + 1} clusters as well"
        sure.append(f"The number of clusters {word}: {reason}.")
        others = sorted(estimator.evidence_, key=estimator.evidence_.__getitem__, reverse=True)
        others = [other for other in others[:3] if other != n]
        if not estimator.sure_ and others:
            texts = " or ".join(map(str, others))
            advice.append(f"Compare with n_clusters={texts}, the next in `evidence_`.")
    else:
        advice.append("Let n_clusters='auto' say whether the eigenvalues show as many clusters.")
    if len(levels.values) > 1:
        sure += sure_of(levels, estimator.n_folds, "eigenvalue")
        # So many clusters take one function less.
        advice += advice_on(levels, estimator.n_folds, estimator, "n_clusters", more=1)
    else:
        sure.append("All rows are one cluster, which takes no function.")
    advice.append(looks("ritz.ClusterDisplay.from_estimator(model, X)"))
    title = title_of(estimator, functions_in_words(n, "cluster"))
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))


def modes_summary(estimator: Any) -> Summary:
    """Return the summary of `DiffusionModes`."""
    levels, n = estimator.spectrum_, len(estimator.rates_)
    why = (
        "as asked"
        if estimator.D is not None or estimator.mobility is not None
        else "the default, 1"
    )
    chosen = [("operator", in_short(levels.operator), f"diffusion: {why}")]
    if hasattr(estimator, "D_") and isinstance(estimator.D, str):
        chosen.append(("diffusion", in_short(estimator.D_), "displacements of frames over a lag"))
    chosen += [*basis_choices(estimator), ("modes", str(n), "as asked")]
    sure = sure_of(levels, estimator.n_folds, "rate")
    times = in_short(estimator.timescales_)
    sure.insert(0, f"The timescales, one over the rates, are {times} in units of time of D.")
    advice = advice_on(levels, estimator.n_folds, estimator, "n_modes")
    if not getattr(estimator, "_grouped", False):
        advice.append(
            "Frames of a time series need `groups` in `fit`, or errors are too small: labels of "
            "runs, or 'auto' for one series."
        )
    advice.append(looks("ritz.EigenfunctionDisplay.from_estimator(model, X)"))
    title = title_of(estimator, functions_in_words(n, "slow mode"))
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))


def singular_summary(estimator: Any) -> Summary:
    """Return the summary of a `SingularEmbedding`."""
    levels, n = estimator.spectrum_, len(estimator.singular_values_)
    chosen = [*basis_choices(estimator), ("pairs of functions", str(n), "as asked")]
    if is_auto(estimator.regularization) and estimator.path_ is not None:
        why = f"best of {len(estimator.path_)} on unseen rows"
        chosen = [(a, b, why if a == "regularization" else c) for a, b, c in chosen]
    sure = sure_of(levels, estimator.n_folds, "correlation")
    advice = []
    held = estimator.held_out_values_
    if held is None:
        sure.append("There are no correlations on unseen rows: they take three folds.")
    else:
        sure.insert(0, f"Correlations on unseen rows are {in_short(np.asarray(held))}.")
        weak = np.flatnonzero(held < LEAST_HELD_OUT * estimator.singular_values_) + 1
        if len(weak):
            advice.append(
                f"{numbered(weak.tolist(), 'Pair')} correlate much less on unseen rows: use more "
                "rows, or lower n_components."
            )
    advice += advice_on(levels, estimator.n_folds, estimator, "n_components")
    advice.append(looks("ritz.EmbeddingDisplay.from_estimator(model, X)"))
    title = title_of(estimator, f"{functions_in_words(n, 'pair')} of functions")
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))


def few_labels_summary(estimator: Any) -> Summary:
    """Return the summary of a `LaplacianRegressor` or a `LaplacianClassifier`."""
    n = len(estimator.eigenvalues_)
    auto = is_auto(estimator.smoothness)
    path = estimator.path_
    why = "smallest error of labeled rows left out in turn" if auto else "as asked"
    smoothness = ("smoothness", in_short(float(estimator.smoothness_)), why)
    count = ("functions", str(n), "as many as the basis has, up to n_components")
    chosen = [*unit_choices(estimator), *basis_choices(estimator), count, smoothness]
    sure, advice = [], []
    errors = path.errors[np.isfinite(path.errors)]
    if len(errors):
        root = float(np.sqrt(errors.min()))
        what = (
            "shares of classes, between 0 and 1"
            if hasattr(estimator, "classes_")
            else ("targets, in their own units")
        )
        sure.append(f"Labeled rows left out in turn are missed by {root:.3g} ({what}).")
    else:
        sure.append("The error of labeled rows left out is not known: there are too few of them.")
    if auto and len(errors) and path.best == path.penalties[0]:
        advice.append("The smallest smoothness is best: raise n_components or n_centers.")
    if auto and len(errors) and path.best == path.penalties[-1]:
        advice.append(
            "The largest smoothness is best: the labels do not follow the rows. Give "
            "more labels, or other columns."
        )
    advice.append("Label more rows, those between classes or far from labeled rows first.")
    advice.append("Compare with a plain linear model on held labels.")
    advice.append(looks("ritz.EmbeddingDisplay.from_estimator(model, X, color=y)"))
    title = title_of(estimator, functions_in_words(n))
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))
