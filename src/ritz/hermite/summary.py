"""What a Hermite regression chose, how sure it is, and what to try next."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.estimators.checks import names_of
from ritz.estimators.choices import in_short, is_auto
from ritz.estimators.summary import Summary, looks

# The relative gradient of the loss above which a solution is not exact.
LARGEST_RESIDUAL = 1e-6
# The error on rows left out, in standard deviations of the values, above which little is learned.
LARGE_ERROR = 0.5


def hermite_summary(estimator: Any) -> Summary:
    """Return the summary of a `HermiteRegressor`."""
    lengths, d = np.atleast_1d(estimator.length_scale_), estimator.n_features_in_
    names = names_of(estimator) or tuple(f"column {c}" for c in range(d))
    likely = "the marginal likelihood of values and derivatives"
    free = is_auto(estimator.length_scale)
    path = estimator.path_
    left_out = "the error on values left out"
    chosen = [
        (
            "kernel",
            in_short(str(estimator.kernel)),
            "the default" if estimator.kernel == "gaussian" else "as asked",
        ),
        ("length scales", in_short(lengths), likely if free else "as asked"),
        (
            "functions",
            f"{estimator.n_centers_:,}",
            "up to one for each number observed" if is_auto(estimator.n_centers) else "as asked",
        ),
        (
            "gradient weight",
            in_short(float(estimator.gradient_weight_)),
            "no gradients were given"
            if path is not None and not path.gradient_errors[np.isfinite(path.errors)].any()
            else left_out
            if is_auto(estimator.gradient_weight)
            else "as asked",
        ),
        (
            "regularization",
            in_short(float(estimator.regularization_)),
            f"{left_out}, or the likelihood's noise"
            if is_auto(estimator.regularization)
            else "as asked",
        ),
    ]
    sure, advice = [], []
    if path is not None and np.isfinite(path.errors).any():
        error = float(np.sqrt(path.errors[np.isfinite(path.errors)].min()))
        sure.append(f"Folds left out are missed by {error:.2g} standard deviations of the values.")
        if error > LARGE_ERROR:
            advice.append("Use more rows or gradients, or fewer columns: little is predicted yet.")
    else:
        sure.append("No folds were left out: gradient_weight and regularization were given.")
    if estimator.residual_ > LARGEST_RESIDUAL:
        sure.append(f"The solution is not exact: its residual is {estimator.residual_:.1e}.")
    audit = estimator.gradient_audit_
    if audit is not None:
        bad = np.flatnonzero(audit.suspicious)
        if len(bad):
            texts = "; ".join(audit.describe(c, names) for c in bad[:5])
            sure.append(f"Gradients look wrong: {texts}.")
            advice.append("Check signs, units and the order of the columns of the gradients.")
        unchecked = np.flatnonzero(np.isnan(audit.factors) & ~audit.suspicious)
        if len(unchecked):
            some = ", ".join(names[c] for c in unchecked[:6]) + ", ..." * (len(unchecked) > 6)
            sure.append(f"The values do not tell whether the gradients are right in {some}.")
        elif not len(bad):
            sure.append("Gradients agree with the values.")
    advice.append(looks("ritz.CalibrationDisplay.from_estimator(model, X_held, y_held)"))
    n = f"{d} column{'' if d == 1 else 's'}"
    title = f"{type(estimator).__name__}: {estimator.n_centers_:,} functions of {n}"
    return Summary(title, tuple(chosen), tuple(sure), tuple(advice))
