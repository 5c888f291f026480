"""Claims and their templates: who wants a device in use by others must live in a
namespace that an administrator has marked.

Upstream: `pkg/registry/resource/utils.go` (`AuthorizedForAdmin`), v1.36. Left out: the
same for what a status says was allocated.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, internal
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource_for_kind
from lifecycle.apiserver.registry.resource.claim_validation import wants_admin_access
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.etcd.keys import registry_key

ADMIN_NAMESPACE_LABEL = "resource.kubernetes.io/admin-access"


class ClaimStore(ResourceStore):
    """ResourceClaims."""

    def claim_spec(self, obj: Object) -> Object:
        """Where the requests are."""
        return obj.get("spec") or {}

    def validate_in_cluster(self, obj: Object) -> list[FieldError]:
        index = wants_admin_access(self.claim_spec(obj))
        if index is None:
            return []
        path = f"spec.devices.requests[{index}].adminAccess"
        row = resource_for_kind("v1", "Namespace")
        assert row is not None
        name = obj["metadata"].get("namespace", "")
        namespaces = self.environment.cacher(row)
        namespaces.catch_up()
        namespace = namespaces.get(registry_key(row, "", name))
        if namespace is None:
            why = (
                "could not retrieve namespace to verify admin access: namespaces"
                f' "{name}" not found'
            )
            return [internal(path, why)]
        labels = namespace.obj["metadata"].get("labels") or {}
        if labels.get(ADMIN_NAMESPACE_LABEL) == "true":
            return []
        why = (
            f"admin access to devices requires the `{ADMIN_NAMESPACE_LABEL}: true`"
            " label on the containing namespace"
        )
        return [forbidden(path, why)]


class ClaimTemplateStore(ClaimStore):
    """ResourceClaimTemplates."""

    def claim_spec(self, obj: Object) -> Object:
        return (obj.get("spec") or {}).get("spec") or {}
