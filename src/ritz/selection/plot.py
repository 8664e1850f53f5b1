"""A picture of what was compared: scores of candidates over their length scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.pictures import COLORS, MARKS, axes_for, ink, plain_log_axis


def draw_scores(selection: Any, ax: Any) -> Any:
    """Draw the scores of candidates: a color a kernel, larger marks for more centers."""
    ax = axes_for(ax)
    best, finite = selection.candidates[0], np.isfinite(selection.scores)
    pairs = list(zip(selection.candidates, selection.scores, strict=True))
    shown = [pair for pair, is_finite in zip(pairs, finite, strict=True) if is_finite]
    names = list(dict.fromkeys(type(candidate.setting.kernel).__name__ for candidate, _ in shown))
    for j, name in enumerate(names):
        color, mark = COLORS[j % len(COLORS)], MARKS[j % len(MARKS)]
        some = [pair for pair in shown if type(pair[0].setting.kernel).__name__ == name]
        lengths, scores = [c.setting.length for c, _ in some], [score for _, score in some]
        sizes = [4 * np.sqrt(c.setting.n_centers) for c, _ in some]
        errors = [c.difference_error(best) for c, _ in some]
        ax.errorbar(lengths, scores, errors, fmt="none", ecolor=color, alpha=0.4, lw=1)
        ax.scatter(lengths, scores, sizes, color=color, marker=mark, alpha=0.6, label=name, lw=0)
    chosen = next(score for candidate, score in pairs if candidate is selection.chosen)
    place = selection.setting.length, chosen
    ax.scatter(*place, s=160, facecolors="none", edgecolors=ink(), label="chosen", zorder=4)
    failed = len(pairs) - len(shown)
    if failed:
        ax.set_title(f"{failed} more candidates do not generalize", fontsize="small")
    lengths = [candidate.setting.length for candidate, _ in shown]
    plain_log_axis(ax.xaxis, min(lengths), max(lengths))
    ax.set_xlabel("length scale (geometric mean of columns)")
    ax.set_ylabel("score (lower is better)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, title="larger marks: more centers", title_fontsize=8)
    return ax
