"""TaintNodesByCondition: a new node takes no pods before it has said that it is ready.

Upstream: `plugin/pkg/admission/nodetaint/admission.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.default_toleration_seconds import NOT_READY


class TaintNodesByCondition(Plugin):
    """Looks at new nodes."""

    name = "TaintNodesByCondition"
    operations = frozenset({CREATE})
    resources = frozenset({("", "nodes")})

    def admit(self, attributes: Attributes) -> None:
        """Taint the node as not ready, unless it is already."""
        assert attributes.obj is not None
        spec = attributes.obj.setdefault("spec", {})
        taint = {"key": NOT_READY, "effect": "NoSchedule"}
        taints = spec.get("taints") or []
        if not any(
            (t.get("key"), t.get("effect")) == (NOT_READY, "NoSchedule") for t in taints
        ):
            spec["taints"] = [*taints, taint]
