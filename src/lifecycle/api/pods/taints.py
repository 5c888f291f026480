"""Whether a toleration covers a taint.

Upstream: `component-helpers/scheduling/corev1/helpers.go` (`TolerationsTolerateTaint`,
`FindMatchingUntoleratedTaint`), v1.36. Left out: the alpha operators Lt and Gt.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object


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


def untolerated(
    taints: Sequence[Object], tolerations: Sequence[Object], effects: Sequence[str]
) -> Object | None:
    """The first taint with one of the effects that no toleration covers."""
    for taint in taints:
        if taint.get("effect") in effects and not any(
            tolerates(t, taint) for t in tolerations
        ):
            return taint
    return None
