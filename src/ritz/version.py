"""The version of the package, for itself and for its files."""

__version__ = "0.1.0"
