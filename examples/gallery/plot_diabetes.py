"""
A regression that knows how sure it is
======================================

:class:`ritz.HermiteRegressor` without gradients is kernel regression with one length scale for
each column. Its standard deviations are calibrated on rows left out. The data are
scikit-learn's 442 patients with diabetes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import ritz

data = load_diabetes(scaled=False)
X, X_new, y, y_new = train_test_split(data.data, data.target, test_size=142, random_state=0)
model = ritz.HermiteRegressor(random_state=0).fit(X, y)
value, deviation = model.predict(X_new, return_std=True)
# The deviation is that of the function; an observation has noise as well.
noise = np.sqrt(np.mean((y - model.predict(X)) ** 2))
inside = np.abs(y_new - value) < 1.96 * np.hypot(deviation, noise)
print(f"R² on new patients: {model.score(X_new, y_new):.2f}")
print(f"within the 95% interval: {inside.mean():.0%}")

# %%
# A short length scale, in units of the column's standard deviation, says that the target
# depends on the column.
figure, panels = plt.subplots(1, 2, figsize=(9, 4))
ritz.CalibrationDisplay.from_estimator(model, X_new, y_new, noise=noise, ax=panels[0])
panels[1].barh(data.feature_names, X.std(axis=0) / model.length_scale_)
panels[1].set(xlabel="deviation of the column over its length scale")
