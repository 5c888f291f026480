"""Bringing scores to the common scale.

Upstream: `pkg/scheduler/framework/plugins/helper/normalize_score.go`
(`DefaultNormalizeScore`), v1.36.
"""

from __future__ import annotations

from lifecycle.scheduler.framework.interface import MAX_NODE_SCORE


def default_normalize_score(scores: list[int], *, reverse: bool = False) -> list[int]:
    """The highest score becomes 100, the others in proportion; `reverse` for "less is
    better".
    """
    highest = max(scores, default=0)
    if highest == 0:
        return [MAX_NODE_SCORE] * len(scores) if reverse else scores
    scaled = [MAX_NODE_SCORE * score // highest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled
