"""Whether a toleration covers a taint.

A node may have ten thousand taints and a pod as many tolerations, and a scheduler that
held each against each would think of nothing else for a minute. So many tolerations are
put in order once, and asked about one taint at a time.

Upstream: `component-helpers/scheduling/corev1/helpers.go` (`TolerationsTolerateTaint`,
`FindMatchingUntoleratedTaint`, `GetMatchingTolerations`), v1.36. Left out: the alpha
operators Lt and Gt.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object

FEW = 8
"""Tolerations that are looked through as fast as put in order."""


def tolerates(toleration: Object, taint: Object) -> bool:
    """An empty effect or key in the toleration matches all; `Exists` needs no value."""
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    return operator == "Equal" and (toleration.get("value") or "") == (
        taint.get("value") or ""
    )


class Tolerations:
    """What a pod tolerates, asked about any number of taints."""

    __slots__ = ("_order", "_tolerations")

    def __init__(self, tolerations: Sequence[Object]) -> None:
        self._tolerations = tolerations
        self._order: dict[tuple[str, str, str | None], int] | None = None

    def first_for(self, taint: Object) -> Object | None:
        """The first that covers a taint."""
        if len(self._tolerations) <= FEW:
            return next((t for t in self._tolerations if tolerates(t, taint)), None)
        if self._order is None:
            self._order = self._in_order()
        found = [
            place
            for key in ("", taint["key"])
            for effect in ("", taint.get("effect") or "")
            for value in (None, taint.get("value") or "")
            if (place := self._order.get((key, effect, value))) is not None
        ]
        return self._tolerations[min(found)] if found else None

    def _in_order(self) -> dict[tuple[str, str, str | None], int]:
        """Where the first is that asks for a key, an effect and a value. An empty key
        or effect stands for any, None for any value.
        """
        order: dict[tuple[str, str, str | None], int] = {}
        for place, toleration in enumerate(self._tolerations):
            operator = toleration.get("operator") or "Equal"
            if operator not in ("Equal", "Exists"):
                continue
            value = None if operator == "Exists" else toleration.get("value") or ""
            key, effect = toleration.get("key") or "", toleration.get("effect") or ""
            order.setdefault((key, effect, value), place)
        return order


def untolerated(
    taints: Sequence[Object], tolerations: Tolerations, effects: Sequence[str]
) -> Object | None:
    """The first taint with one of the effects that no toleration covers."""
    for taint in taints:
        if taint.get("effect") in effects and tolerations.first_for(taint) is None:
            return taint
    return None
