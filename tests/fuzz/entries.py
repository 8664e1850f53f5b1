"""The table of public entries, filled by the modules that it imports."""

from tests.fuzz import functions, models, networks, pictures
from tests.fuzz.entry import ENTRIES, Draw

__all__ = ["ENTRIES", "Draw", "functions", "models", "networks", "pictures"]
