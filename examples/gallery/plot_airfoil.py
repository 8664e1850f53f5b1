"""
A surrogate of an airfoil's drag
================================

SMT ships flows around 42,039 airfoils: sixteen numbers describe the shape and the flow, and an
adjoint solver gave the drag coefficient with its gradient. With gradients, far fewer flows are
needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from smt.examples.airfoil_parameters.learning_airfoil_parameters import load_cd_training_data

import ritz

X, y, slopes = (array.astype(float) for array in load_cd_training_data())
# The flows come in order; take them in a random one.
order = np.random.default_rng(0).permutation(len(X))
X, y, slopes = X[order], y[order], slopes[order]
X_new, y_new = X[-2000:], y[-2000:]


def error(model):
    return np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2)) / y_new.std()


def fitted(n, gradient):
    return ritz.HermiteRegressor(random_state=0).fit(X[:n], y[:n], gradient=gradient)


sizes = [30, 60, 120, 240]
without = [error(fitted(n, None)) for n in sizes]
few = [30, 60]
models = [fitted(n, slopes[:n]) for n in few]
with_gradients = [error(model) for model in models]
for n, value in zip(sizes, without, strict=True):
    print(f"{n:4} flows, values alone: relative error {value:.3f}")
for n, value in zip(few, with_gradients, strict=True):
    print(f"{n:4} flows with gradients: relative error {value:.3f}")

# %%
# The larger a column's standard deviation is against its length scale, the more the drag
# depends on it. The last two are the Mach number and the angle of attack.
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8))
panels[0].loglog(sizes, without, "o-", label="values")
panels[0].loglog(few, with_gradients, "o-", label="values and gradients")
panels[0].set(xlabel="flows", ylabel="relative error on 2,000 new flows")
panels[0].set_xticks(sizes, sizes)
panels[0].minorticks_off()
panels[0].legend()
names = [f"shape {j}" for j in range(1, 15)] + ["Mach number", "angle"]
panels[1].barh(names, X.std(axis=0) / models[-1].length_scale_)
panels[1].set(xlabel="deviation of the column over its length scale")
