"""Fits of values and gradients: ours, SMT's kriging and networks, and GPyTorch's processes.

The peers' settings are the best found on Branin and wing weight; ours are the defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import gpytorch
import numpy as np
import torch
from smt.surrogate_models import GEKPLS, GENN, KRG

import ritz
from benchmarks.surfaces import Array


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
