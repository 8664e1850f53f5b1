"""Forms: operators as bilinear forms H(f, g, x), small values that add and scale."""

from ritz.forms.custom import form
from ritz.forms.differential import differential, potential
from ritz.forms.diffusion import diffusion
from ritz.forms.directional import directional
from ritz.forms.form import Form
from ritz.forms.graph import graph
from ritz.forms.laplacian import laplacian
from ritz.forms.neighbors import neighbors
from ritz.forms.pairs import cross, pairs

__all__ = [
    "Form",
    "cross",
    "differential",
    "diffusion",
    "directional",
    "form",
    "graph",
    "laplacian",
    "neighbors",
    "pairs",
    "potential",
]
