"""DefaultTolerationSeconds: how long a pod stays on a node that does not answer.

A node that is not ready or unreachable gets a taint that evicts at once. Five minutes
of patience are added to every pod that does not say itself what it wants.

Upstream: `plugin/pkg/admission/defaulttolerationseconds/admission.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
NO_EXECUTE = "NoExecute"
SECONDS = 300


class DefaultTolerationSeconds(Plugin):
    """Looks at pods."""

    name = "DefaultTolerationSeconds"
    operations = frozenset({CREATE, UPDATE})
    resources = PODS

    def admit(self, attributes: Attributes) -> None:
        """Add what is missing of the two tolerations."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        tolerations: list[dict[str, Any]] = spec.get("tolerations") or []
        missing = [
            key for key in (NOT_READY, UNREACHABLE) if not _tolerates(tolerations, key)
        ]
        if missing:
            spec["tolerations"] = tolerations + [
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": NO_EXECUTE,
                    "tolerationSeconds": SECONDS,
                }
                for key in missing
            ]


def _tolerates(tolerations: list[dict[str, Any]], key: str) -> bool:
    return any(
        t.get("key") in (None, "", key) and t.get("effect") in (None, "", NO_EXECUTE)
        for t in tolerations
    )
