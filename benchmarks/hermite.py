"""Regression on values and gradients: ours, SMT's kriging and networks, GPyTorch's processes.

`make bench-hermite` prints time and errors of each, each in a process of its own, for n = 30, 100,
... until a fit takes longer than LIMIT seconds or fails, and writes benchmarks/hermite.json. Of few
points one design says little: at n = 30 and 100 the numbers are medians over five and three.
`python -m benchmarks.hermite 1000 3000` runs those sizes again, for whoever came that far, and
`python -m benchmarks.hermite 1000 ritz` for one peer alone.

Needs smt, gpytorch and torch. The peers' settings are the best found on Branin and wing weight;
ours are the defaults.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import gpytorch
import numpy as np
import torch
from smt.surrogate_models import GEKPLS, GENN, KRG

import ritz
from benchmarks.surfaces import SURFACES, Array, Surface

LIMIT = 60.0
SIZES = (30, 100, 300, 1000, 3000)
DESIGNS = {30: 5, 100: 3}
RESULTS = Path("benchmarks/hermite.json")


Case = dict[str, Any]


class Fitted(Protocol):
    """Values (n,) and gradients (n, d) at the rows of X."""

    def predict(self, X: Array) -> Array: ...

    def predict_gradient(self, X: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class SMTModel:
    """A trained model of SMT, which takes the derivatives along one coordinate at a time."""

    model: Any

    def predict(self, X: Array) -> Array:
        return np.asarray(self.model.predict_values(X)[:, 0])

    def predict_gradient(self, X: Array) -> Array:
        along = [self.model.predict_derivatives(X, j)[:, 0] for j in range(X.shape[1])]
        return np.column_stack(along)


@dataclass(frozen=True, eq=False)
class Kriging(SMTModel):
    """Kriging with a Gaussian kernel; gradients as SMT computes them, but many rows at once."""

    weights: Array

    def predict_gradient(self, X: Array) -> Array:
        model = self.model
        gradient = np.empty_like(X)
        # In blocks: the differences of all rows from all data would fill the memory.
        for rows in np.array_split(np.arange(len(X)), len(X) // 100 + 1):
            apart = (X[rows] - model.X_offset)[:, None] / model.X_scale - model.X_norma
            pulls = np.exp(-(apart**2 @ self.weights)) * model.optimal_par["gamma"][:, 0]
            gradient[rows] = np.einsum("nk,nkj->nj", pulls, apart)
        return np.asarray(-2 * self.weights * gradient * model.y_std / model.X_scale)


def fit_kriging(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Fit SMT's KRG to the values alone, its lengths by likelihood.

    One start: ten, the default, are four times as slow and no better.
    """
    model = KRG(theta0=[1e-2] * X.shape[1], n_start=1, print_global=False)
    model.set_training_values(X, y)
    model.train()
    return Kriging(model, model.optimal_theta)


def fit_taylor_kriging(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Fit SMT's KRG to the values and to d more of them near each point, by Taylor's formula.

    The step, inwards, is a small part of the box: smaller ones make the matrix singular, and
    larger ones the values wrong. By Cobyla: TNC, the default, is ten times as slow in
    ten dimensions and no better.
    """
    d = X.shape[1]
    inwards = np.where(bounds.mean(axis=1) < X, -1.0, 1.0)
    steps = _taylor_step(d) * (bounds[:, 1] - bounds[:, 0]) * inwards
    shifted = [X + steps * unit for unit in np.eye(d)]
    values = [y + steps[:, j] * gradient[:, j] for j in range(d)]
    model = KRG(theta0=[1e-2] * d, n_start=1, hyper_opt="Cobyla", print_global=False)
    model.set_training_values(np.vstack([X, *shifted]), np.concatenate([y, *values]))
    model.train()
    return Kriging(model, model.optimal_theta)


def fit_gekpls(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Fit SMT's GEKPLS with up to three components and a Taylor point along each coordinate.

    More components, or ten starts, are slower and no better.
    """
    d = X.shape[1]
    n_components = min(d, 3)
    model = GEKPLS(
        theta0=[1e-2] * n_components,
        n_comp=n_components,
        extra_points=d,
        delta_x=_taylor_step(d),
        xlimits=bounds,
        n_start=1,
        print_global=False,
    )
    _train(model, X, y, gradient)
    return Kriging(model, model.coeff_pls**2 @ model.optimal_theta)


def _taylor_step(d: int) -> float:
    """Return the step, as a part of the box, that was best on Branin or on wing weight."""
    return 3e-4 if d < 3 else 1e-3


def fit_network(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Fit SMT's GENN, a network of two layers of twelve whose loss counts gradients too."""
    model = GENN(seed=0)
    model.options["print_global"] = False
    _train(model, X, y, gradient)
    return SMTModel(model)


def _train(model: Any, X: Array, y: Array, gradient: Array) -> None:
    model.set_training_values(X, y)
    for j in range(X.shape[1]):
        model.set_training_derivatives(X, gradient[:, j : j + 1], j)
    model.train()


class DerivativeProcess(gpytorch.models.ExactGP):  # type: ignore[misc]
    """A Gaussian process of values and gradients: constant mean, Gaussian kernel, d lengths."""

    def __init__(self, x: torch.Tensor, targets: torch.Tensor, likelihood: Any) -> None:
        super().__init__(x, targets, likelihood)
        kernel = gpytorch.kernels.RBFKernelGrad(ard_num_dims=x.shape[1])
        self.mean_module = gpytorch.means.ConstantMeanGrad()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x: torch.Tensor) -> Any:
        return gpytorch.distributions.MultitaskMultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )


@dataclass(frozen=True, eq=False)
class ScaledProcess:
    """A process on the unit box with standardized values, in the units of the data."""

    model: DerivativeProcess
    low: Array
    widths: Array
    mean: float
    scale: float

    def predict(self, X: Array) -> Array:
        return self.mean + self.scale * self._outputs(X)[:, 0]

    def predict_gradient(self, X: Array) -> Array:
        return self.scale * self._outputs(X)[:, 1:] / self.widths

    def _outputs(self, X: Array) -> Array:
        x = torch.from_numpy((X - self.low) / self.widths)
        self.model.eval()
        # In blocks: the covariance of all rows with all data would fill the memory.
        with torch.no_grad(), _exact(), gpytorch.settings.skip_posterior_variances(True):
            outputs = [self.model(block).mean for block in x.split(200)]
        return np.asarray(torch.cat(outputs).numpy())


def fit_gpytorch(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Fit GPyTorch's exact process with RBFKernelGrad by likelihood, 100 steps of L-BFGS.

    One noise for all outputs, at least 1e-10 (a bound of 1e-8 triples the error on Branin). Adam
    at the rate 0.1 is far behind after 400 steps, and so is the kernel Matern52KernelGrad.
    """
    low, widths = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
    mean, scale = float(y.mean()), float(y.std())
    x = torch.from_numpy((X - low) / widths)
    targets = torch.from_numpy(np.column_stack([y - mean, gradient * widths]) / scale)
    likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(
        num_tasks=targets.shape[1],
        has_task_noise=False,
        noise_constraint=gpytorch.constraints.GreaterThan(1e-10),
    ).double()
    model = DerivativeProcess(x, targets, likelihood).double()
    model.covar_module.base_kernel.lengthscale = 1.0
    likelihood.noise = 1e-4
    likelihood_of = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimizer.zero_grad()
        value = -likelihood_of(model(x), targets)
        value.backward()
        return value

    model.train()
    with _exact():
        optimizer.step(loss)
    fitted = ScaledProcess(model, low, widths, mean, scale)
    # The first prediction solves for the weights: part of the fit.
    fitted.predict(X[:1])
    return fitted


def _exact() -> Any:
    """Solve by Cholesky, not by conjugate gradients: slower for large n, but exact."""
    return gpytorch.settings.fast_computations(False, False, False)


def fit_ritz(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Ours, with its defaults."""
    return ritz.HermiteRegressor(random_state=0).fit(X, y, gradient)  # type: ignore[no-any-return]


def fit_ritz_values(X: Array, y: Array, gradient: Array, bounds: Array) -> Fitted:
    """Ours, from values alone."""
    return ritz.HermiteRegressor(random_state=0).fit(X, y)  # type: ignore[no-any-return]


PEERS: dict[str, Callable[[Array, Array, Array, Array], Fitted]] = {
    "ritz": fit_ritz,
    "ritz, values only": fit_ritz_values,
    "SMT KRG, values only": fit_kriging,
    "SMT KRG, Taylor points": fit_taylor_kriging,
    "SMT GEKPLS": fit_gekpls,
    "SMT GENN": fit_network,
    "GPyTorch RBFKernelGrad": fit_gpytorch,
}


def errors(fitted: Fitted, surface: Surface) -> tuple[float, float]:
    """Return the relative RMSE of values and of gradients at 1000 new points.

    Values relative to their standard deviation; gradients, in units of the box, relative to
    their root mean square.
    """
    Z = surface.latin_hypercube(1000, seed=1)
    y, widths = surface.value(Z), surface.bounds[:, 1] - surface.bounds[:, 0]
    G = surface.gradient(Z) * widths
    missed = fitted.predict_gradient(Z) * widths - G
    value = np.sqrt(np.mean((fitted.predict(Z) - y) ** 2)) / y.std()
    return float(value), float(np.sqrt(np.mean(missed**2) / np.mean(G**2)))


def measure(peer: str, surface: Surface, n: int) -> Case:
    """Fit one peer to n points of Sobol sequences; return the medians over those it could fit."""
    found, failed = [], []
    for seed in range(DESIGNS.get(n, 1)):
        try:
            found.append(measure_design(peer, surface, n, seed))
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")
    if len(failed) > len(found):
        return {"failed": failed[0]}
    names = ("seconds", "value_error", "gradient_error")
    medians = dict(zip(names, map(float, np.median(found, axis=0)), strict=True))
    return {**medians, **({"designs_failed": len(failed)} if failed else {})}


def measure_design(peer: str, surface: Surface, n: int, seed: int) -> tuple[float, float, float]:
    """Fit once; the system ends the process if that takes longer than LIMIT.

    The first fit of a process bears what its first use costs; medians over designs do not.
    """
    X = surface.sobol(n, seed=seed)
    y, gradient = surface.value(X), surface.gradient(X)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        start = time.perf_counter()
        fitted = PEERS[peer](X, y, gradient, surface.bounds)
        seconds = time.perf_counter() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return seconds, *errors(fitted, surface)


def run(peer: str, surface: Surface, n: int) -> Case:
    """Measure in a process of its own, unless that takes too long or fails."""
    command = [sys.executable, "-m", "benchmarks.hermite", peer, surface.name, str(n)]
    case: Case = {"surface": surface.name, "peer": peer, "n": n}
    # Imports and predictions come on top of the limit of each fit.
    patience = DESIGNS.get(n, 1) * (LIMIT + 60)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return case
    if done.returncode == -signal.SIGALRM:
        return case
    if done.returncode:
        return {**case, "failed": (done.stderr.splitlines() or ["killed"])[-1]}
    return {**case, **json.loads(done.stdout.splitlines()[-1])}


def ends(case: Case) -> bool:
    """Return whether a peer stops here."""
    return float(case.get("seconds", np.inf)) > LIMIT


def cases(
    surfaces: tuple[Surface, ...], sizes: tuple[int, ...], peers: set[str], known: list[Case]
) -> list[Case]:
    """Run each peer on each surface, larger and larger, until it is too slow.

    Cases known before are kept, or measured again if size and peer are among those wanted.
    """
    results: list[Case] = []
    for surface in surfaces:
        for peer in PEERS:
            own = {c["n"]: c for c in known if (c["surface"], c["peer"]) == (surface.name, peer)}
            wanted = sizes if peer in peers else ()
            for n in sorted({*own, *wanted}):
                results.append(run(peer, surface, n) if n in wanted else own[n])
                print(line(results[-1]), flush=True)
                if ends(results[-1]):
                    break
    return results


def line(case: Case) -> str:
    start = f"{case['surface']:<20} n = {case['n']:>5}  {case['peer']:<24}"
    if "failed" in case:
        return f"{start} {case['failed']}"
    if "seconds" not in case:
        return f"{start} longer than {LIMIT:.0f} s"
    return (
        f"{start} {case['seconds']:8.2f} s   error of values {case['value_error']:.1e}, "
        f"of gradients {case['gradient_error']:.1e}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    named = {surface.name: surface for surface in SURFACES}
    if len(sys.argv) == 4 and sys.argv[1] in PEERS and sys.argv[2] in named:
        print(json.dumps(measure(sys.argv[1], named[sys.argv[2]], int(sys.argv[3]))))
    else:
        chosen = set(sys.argv[1:]) & set(PEERS)
        wanted = tuple(int(n) for n in sys.argv[1:] if n not in chosen)
        before = json.loads(RESULTS.read_text()) if sys.argv[1:] else []
        found = cases(tuple(SURFACES), wanted or SIZES, chosen or set(PEERS), before)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
