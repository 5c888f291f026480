"""The escalation check, where every write passes.

Upstream wraps it around the storage of the four RBAC resources, so that creates,
updates, patches and applies all meet it. Our writes meet in the admission chain; there
it runs as the last mutating step, which is the same moment: after all defaults, before
the object is validated.

Upstream: `pkg/registry/rbac/clusterrole/policybased/storage.go` and its three siblings,
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import ANONYMOUS, RequestInfo
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.authz.escalation import EscalationCheck
from lifecycle.apiserver.authz.rbac import GROUP


class RoleEscalation(Plugin):
    """Looks at roles and bindings."""

    name = (
        "RoleEscalation"  # not one of upstream's plugins, so it comes after all of them
    )
    operations = frozenset({CREATE, UPDATE})
    resources = frozenset(
        (GROUP, plural)
        for plural in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    )

    def __init__(self, check: EscalationCheck) -> None:
        self._check = check

    async def admit(self, attributes: Attributes) -> None:
        """Refuse to store rights that the user does not have."""
        obj = attributes.obj
        assert obj is not None
        question = RequestInfo(
            is_resource_request=True,
            path="",
            verb=attributes.operation.lower(),
            group=GROUP,
            version=attributes.resource.version,
            namespace=attributes.namespace,
            resource=attributes.resource.plural,
            name=attributes.name or obj["metadata"].get("name", ""),
        )
        await self._check.check(
            attributes.user or ANONYMOUS, question, obj, attributes.old_obj
        )
