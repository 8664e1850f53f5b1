"""
Rates of a particle in three wells
==================================

A simulation of deeptime: a particle diffuses between three wells. From its positions in
equilibrium alone, in any order, come the slow processes: between which wells they lead, and how
slow they are.
"""

import numpy as np
from deeptime.data import triple_well_2d

import ritz

# Positions every 0.05 of the time unit, twenty runs with random starts.
system = triple_well_2d(h=1e-3, n_steps=50)
starts = np.random.default_rng(0).uniform([-1.5, -0.5], [1.5, 2.0], size=(20, 2))
runs = [system.trajectory(start[None], 1500, seed=i)[100:] for i, start in enumerate(starts)]
X = np.concatenate(runs)
labels = np.repeat(np.arange(20), [len(run) for run in runs])
# The system's noise of sqrt(2 D) is 1.09.
modes = ritz.DiffusionModes(2, D=1.09**2 / 2, random_state=0).fit(X, groups=labels)
for j in range(2):
    rate, error = modes.rates_[j], modes.rate_errors_[j]
    print(f"process {j + 1}: rate {rate:.3f} ± {error:.3f}, timescale {1 / rate:.2f}")

# %%
# A slow function is nearly constant within a well; it changes sign between the wells that the
# process joins.
display = ritz.EigenfunctionDisplay.from_estimator(modes, X)
