"""Entries of the networks: losses, modules, and their estimators at a tiny size."""

import numpy as np
import torch

import ritz
from ritz import neural
from tests.fuzz.entry import entry
from tests.fuzz.functions import basis_entry
from tests.fuzz.inputs import (
    ANY,
    AUTO,
    COUNT,
    LENGTHS,
    NUMBER,
    OBJECT,
    POINTS,
    ROWS_OF_ONE,
    Kind,
    constants,
    optional,
)
from tests.fuzz.models import estimator_entries, nothing, other_rows, rows


def module(inputs, outputs):
    torch.manual_seed(0)
    return neural.mlp(inputs, (4,), outputs, torch.nn.Tanh)


def loss_entry(name, good, oracle):
    tensors = dict.fromkeys(["energies", "second", "parts", "covariance"], OBJECT)
    tensors |= dict.fromkeys(["correlations", "left", "right"], OBJECT)
    call = getattr(neural, name)
    entry(f"neural.{name}", call, good, lambda a, result: {"0": oracle(**a)}, **tensors)


def tensor(c, *shape):
    return torch.from_numpy(c.normal(*shape))


def pairs_mean(A, B):
    pairs = [(k, j) for k in range(len(A)) for j in range(len(A)) if j != k]
    return sum((A[k] * B[j]).sum() for k, j in pairs) / len(pairs)


def vicreg(covariance):
    diagonal = covariance.diagonal()
    hinge = torch.relu(1 - (diagonal + 1e-4).sqrt()).sum()
    return hinge + ((covariance - torch.diag(diagonal)) ** 2).sum()


ONE = torch.eye(3)
loss_entry(
    "energy",
    lambda c: dict(energies=tensor(c, 3), mu=2.0),
    lambda energies, mu: 2 * energies.sum() / mu,
)
loss_entry(
    "whitening",
    lambda c: dict(second=tensor(c, 3, 3)),
    lambda second: ((second - ONE) ** 2).sum(),
)
loss_entry(
    "contrastive",
    lambda c: dict(parts=tensor(c, 4, 3, 3)),
    lambda parts: pairs_mean(parts - ONE, parts - ONE),
)
loss_entry("variance_covariance", lambda c: dict(covariance=torch.from_numpy(c.matrix(3))), vicreg)
loss_entry(
    "two_towers",
    lambda c: dict(correlations=tensor(c, 3), left=tensor(c, 4, 3, 3), right=tensor(c, 4, 3, 3)),
    lambda correlations, left, right: -2 * correlations.sum() + pairs_mean(left, right),
)
basis_entry(
    "neural.Network", neural.Network, lambda c: dict(module=module(c.d, 2)), random_state=ANY
)
entry(
    "neural.mlp",
    lambda **a: [parameter.shape for parameter in neural.mlp(**a).parameters()],
    lambda c: dict(inputs=3, hidden=(4, 5), outputs=2, first_scale=3.0),
    lambda a, result: {"0": (4, 3), "2": (5, 4), "4": (2, 5)},
    hidden=Kind({"list": list}, {}, constants((0,), ("a",), 3, None)),
    first_scale=Kind(bad=NUMBER.bad),
)
entry(
    "neural.Standardized",
    lambda rows, at: neural.Standardized(rows)(torch.from_numpy(at)),
    lambda c: dict(rows=c.X, at=c.points),
    lambda a, result: {"0": (a["at"] - a["rows"].mean(0)) / a["rows"].std(0)},
    rows=ROWS_OF_ONE,
)
entry(
    "neural.Augmented",
    lambda **a: {"0": np.vstack([b.views[0] for b in neural.Augmented(**a).blocks()])},
    lambda c: dict(X=c.X, augment=lambda x, rng: x / 2, copies=2, seed=0),
    lambda a, result: {"0": np.vstack([a["X"] / 2] * 2)},
    X=POINTS,
    seed=Kind(bad=constants(-1, "a", 1.5)),
)
entry(
    "neural.auto_mu",
    neural.auto_mu,
    lambda c: dict(form=ritz.laplacian(), stream=ritz.Batches([c.X]), m=3, seed=0, margin=3.0),
    m=COUNT,
)


def spectral_loss(module, X, **a):
    generator = torch.Generator().manual_seed(0)
    return neural.SpectralLoss(**a)(module, X, generator=generator)


entry(
    "neural.SpectralLoss",
    spectral_loss,
    lambda c: (
        dict(form=ritz.laplacian(), mu=5.0, n_parts=4, n_directions=None, kills_one=None)
        | dict(regularizer=c.one_of("contrastive", "whitening", "variance_covariance"))
        | dict(module=module(c.d, 2), X=c.X)
    ),
    mu=LENGTHS,
    n_parts=COUNT.without("1"),
)
entry(
    "neural.SingularLoss",
    lambda n_parts, **a: neural.SingularLoss(n_parts)(**a),
    lambda c: dict(n_parts=4, left=module(c.d, 2), right=module(c.d, 2), X=c.X, Y=c.Y),
    n_parts=COUNT.without("1"),
    left=OBJECT,
    right=OBJECT,
)
TRAINING = dict(n_steps=4, batch_size=16, learning_rate=1e-2, optimizer=None, schedule=None)
TRAINING |= dict(validation_fraction=0.0, evaluate_every=2, patience=10, checkpoint=None)
TRAINING |= dict(resume=False, random_state=0, progress=False, n_folds=3, n_components=1)
MODULE = optional(OBJECT).without("<class 'int'>")
estimator_entries(
    neural.SpectralNetwork,
    lambda c: (
        TRAINING
        | dict(module=module(c.d, 1), operator="laplacian", mu=5.0, regularizer="whitening")
        | dict(n_directions=None)
    ),
    rows,
    dict(transform=nothing, score=other_rows),
    (),
    "neural.SpectralNetwork",
    y=ANY,
    module=MODULE,
    mu=LENGTHS | AUTO,
)
estimator_entries(
    neural.SingularNetwork,
    lambda c: TRAINING | dict(left=module(c.d, 1), right=module(c.d, 1)),
    lambda c: rows(c) | dict(y=c.Y),
    dict(transform=lambda c: dict(y=c.points)),
    (),
    "neural.SingularNetwork",
    y=POINTS.without("one row", "None"),
    left=MODULE,
    right=MODULE,
)
