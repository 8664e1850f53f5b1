"""Assembly: one pass that turns rows into p by p sums."""

from ritz.assembly.assemble import assemble
from ritz.assembly.sums import Matrices, Sums

__all__ = ["Matrices", "Sums", "assemble"]
