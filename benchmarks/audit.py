"""The audit of gradients on SMT's airfoil data: alarms at right and at wrong gradients.

`python -m benchmarks.audit` draws rows of the 42,039 with 16 columns that come with smt 2.15.0.
"""

from __future__ import annotations

import numpy as np
from smt.examples.airfoil_parameters.learning_airfoil_parameters import load_cd_training_data

import ritz
from ritz.hermite.audit import audit_gradients
from ritz.hermite.observations import subsample

DRAWS = 20
GRADIENTS = {"right": 1.0, "minus": -1.0, "double": 2.0, "half": 0.5, "thousandfold": 1000.0}


def main() -> None:
    X, y, t = (np.asarray(array, dtype=np.float64) for array in load_cd_training_data())
    for n in (200, 1000):
        alarms = dict.fromkeys([*GRADIENTS, "columns reversed"], 0)
        for seed in range(DRAWS):
            rows = np.random.default_rng(seed).choice(len(X), n, replace=False)
            given = {name: factor * t[rows] for name, factor in GRADIENTS.items()}
            given["columns reversed"] = t[rows][:, ::-1]
            for name, gradient in given.items():
                arguments = (X[rows], y[rows], gradient, None, None, None)
                observed = ritz.HermiteRegressor()._observations(*arguments, reset=True)
                some = subsample(observed, 300 * (1 + X.shape[1]), 0, True)
                alarms[name] += bool(audit_gradients(ritz.Gaussian(), some).suspicious.any())
        print(f"n = {n}, alarms in {DRAWS} draws: {alarms}", flush=True)


if __name__ == "__main__":
    main()
