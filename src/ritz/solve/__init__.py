"""Solve: small dense eigenvalue and singular value problems, and nothing else."""

from ritz.solve.gevd import Eigenpairs, gevd
from ritz.solve.gsvd import SingularTriples, gsvd

__all__ = ["Eigenpairs", "SingularTriples", "gevd", "gsvd"]
