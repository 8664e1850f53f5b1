"""The command line: spectra, clusters and surrogates of files (docs/command_line.md)."""

import sys

from ritz.cli.interrupted import INTERRUPTED

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process."""
    try:
        from ritz.cli.app import app

        app()
    except KeyboardInterrupt:
        # Before a command has begun, or while it ends.
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(130)
