"""The freedom to take another number of steps, in answers at rest.

How often a ReplicaSet's spec was written, and which steps were told in events, follows
from how fast pods became ready. Neither is waved through: a generation is free only if
the cluster's own watch saw it, and an event only if the watch saw its step, as often as
it says; and both only if every rollout of both sides kept to its arithmetic
(`rollouts`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.compare.masked import Mark, Masked, as_optional
from lifecycle.compare.rollouts import STEPS, Rollouts, step_of


def soften_steps(raw: Any, normalised: Any, rollouts: Rollouts | None) -> Any:
    """The normalised object, or list of objects, with lawful steps made free."""
    if rollouts is None or not isinstance(raw, dict):
        return normalised
    if isinstance(raw.get("items"), list):
        kind = str(raw.get("kind", "")).removesuffix("List")
        items = [
            _softened({"kind": kind, **a}, b, rollouts)
            for a, b in zip(raw["items"], normalised["items"], strict=True)
        ]
        return normalised | {"items": items}
    return _softened(raw, normalised, rollouts)


def _softened(raw: dict[str, Any], normalised: Any, rollouts: Rollouts) -> Any:
    if raw.get("kind") == "ReplicaSet":
        seen = rollouts.generations.get(raw["metadata"].get("name", ""), set())
        for part, key in (("metadata", "generation"), ("status", "observedGeneration")):
            number = (raw.get(part) or {}).get(key)
            if number in seen:
                mark = Mark(STEPS, str(number))
                free = {key: Masked("<writes of the spec>", [mark], number)}
                normalised = normalised | {part: normalised[part] | free}
        return normalised
    if raw.get("kind") == "Event" and raw.get("reason") == "ScalingReplicaSet":
        step = step_of(raw.get("message", ""))
        if step is not None and 0 < raw.get("count", 1) <= rollouts.taken(step):
            return as_optional(normalised, STEPS)
    return normalised
