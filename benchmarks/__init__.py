"""Measurements of speed, memory and accuracy, mostly as ratios to a peer's."""

import sys

# `--tiny` makes every benchmark so small that it only shows that it works.
TINY = "--tiny" in sys.argv[1:]
