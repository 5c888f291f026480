"""The picture of a rollout: the same each time, transparent, with both limits named."""

from __future__ import annotations

from lifecycle.figures.rollout import Look, draw_rollout

LOOKS = [Look(0, 5, 0, 5), Look(1, 4, 3, 4), Look(6, 1, 5, 6), Look(11, 0, 5, 5)]


def test_a_rollout_is_drawn_the_same_each_time_with_its_limits() -> None:
    first, second = (draw_rollout(LOOKS, 4, 7).svg for _ in range(2))
    assert first == second
    for text in ("never fewer available: 4", "never more in all: 7", "new template", "old template", "pods available"):
        assert text in first  # as a comment of matplotlib's beside each drawn text
