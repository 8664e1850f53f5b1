"""The command line: spectra, clusters and surrogates of files (docs/command_line.md)."""

from ritz.cli.app import main

__all__ = ["main"]
