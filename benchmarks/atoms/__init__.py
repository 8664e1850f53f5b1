"""A Lennard-Jones cluster: its energy and forces, a simulator, and a benchmark of surrogates.

`python -m benchmarks.atoms` prints the tables of docs/hermite.md and draws docs/atoms.png.
"""

from benchmarks.atoms.clusters import (
    Configurations,
    align,
    lennard_jones,
    lennard_jones_minimum,
)
from benchmarks.atoms.motion import simulate_cluster, verlet

__all__ = [
    "Configurations",
    "align",
    "lennard_jones",
    "lennard_jones_minimum",
    "simulate_cluster",
    "verlet",
]
