"""What the training of a network led to, how sure it is, and what to try next."""

from __future__ import annotations

from typing import Any

from ritz.estimators.certainty import advice_on, sure_of
from ritz.estimators.choices import in_short
from ritz.estimators.summary import Summary, looks
from ritz.spectrum import SingularSpectrum

# The share of the steps after which a best step counts as a late one.
LATE = 0.9


def network_summary(estimator: Any) -> Summary:
    """Return the summary of a `SpectralNetwork` or a `SingularNetwork`."""
    levels, n = estimator.spectrum_, estimator._n_features_out
    first = len(levels.values) - n
    noun = "correlation" if isinstance(levels, SingularSpectrum) else "eigenvalue"
    best, steps = estimator.best_step_, estimator.n_steps_
    chosen = (
        ("operator", in_short(levels.operator), "as asked"),
        ("training", f"{best:,} of {steps:,} steps", "the step of lowest loss on held-out rows"),
        ("functions", str(n), "as asked, as far as the network has them"),
    )
    sure = sure_of(levels, estimator.n_folds, noun, first)
    advice = advice_on(levels, estimator.n_folds, estimator, "n_components", first)
    held = [loss for _, loss in estimator.held_out_losses_]
    if held:
        sure.append(f"The loss on held-out rows is {min(held):.4g} at its lowest.")
    if best > LATE * steps:
        advice.append("Train for more steps: the loss on held-out rows was still falling.")
    advice.append(looks("ritz.SpectrumDisplay.from_estimator(model)"))
    title = f"{type(estimator).__name__}: {n} functions, {levels.n_rows:,} rows"
    return Summary(title, chosen, tuple(sure), tuple(advice))
