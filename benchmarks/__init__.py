"""Measurements: ours and a peer's alternating in one process, told as ratios."""
