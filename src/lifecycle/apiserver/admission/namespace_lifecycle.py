"""NamespaceLifecycle: nothing new in a namespace that is not there, or on its way out.

`default`, `kube-system` and `kube-public` cannot be deleted. Objects can be deleted
from a namespace in any state, and changed while it terminates (finalizers have to go),
but not created.

Upstream: `apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go`
(`Lifecycle.Admit`), v1.36. Left out: forced live look-ups; our cache is in the same
process as the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import forbidden, not_found
from lifecycle.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
MISSING_NAMESPACE_WAIT = 0.05
"""Seconds to wait for a namespace that may have been created a moment ago."""

ACCESS_REVIEWS = frozenset({("authorization.k8s.io", "localsubjectaccessreviews")})


class NamespaceLifecycle(Plugin):
    """Looks at every namespaced create and update, and at deletes of namespaces."""

    name = "NamespaceLifecycle"
    operations = frozenset({CREATE, UPDATE, DELETE})
    subresources = None

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._namespaces = resource("namespaces")

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Namespaced resources, except their deletion; of namespaces only the
        deletion.
        """
        if resource.group == "" and resource.plural == "namespaces":
            return operation == DELETE
        if (
            resource.group,
            resource.plural,
        ) in ACCESS_REVIEWS:  # an answer about the namespace would give it away
            return False
        return resource.namespaced and operation in (CREATE, UPDATE)

    def admit(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse with 404 for a missing namespace, with 403 for an immortal or
        terminating one.
        """
        if attributes.operation == DELETE:
            if attributes.name in IMMORTAL:
                raise forbidden(
                    "namespaces", attributes.name, "this namespace may not be deleted"
                )
            return None
        namespace = self._reader.get(self._namespaces, "", attributes.namespace)
        if namespace is None:
            if attributes.operation == CREATE:
                return self._wait(attributes)
            raise not_found("namespaces", attributes.namespace)
        self._check(attributes, namespace)
        return None

    async def _wait(self, attributes: Attributes) -> None:
        await asyncio.sleep(MISSING_NAMESPACE_WAIT)
        namespace = self._reader.get(self._namespaces, "", attributes.namespace)
        if namespace is None:
            raise not_found("namespaces", attributes.namespace)
        self._check(attributes, namespace)

    def _check(self, attributes: Attributes, namespace: Object) -> None:
        if (
            attributes.operation != CREATE
            or (namespace.get("status") or {}).get("phase") != "Terminating"
        ):
            return
        name = attributes.namespace
        error = attributes.forbidden(
            f"unable to create new content in namespace {name} because it is being"
            " terminated"
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {name} is being terminated",
            "field": "metadata.namespace",
        }
        error.status["details"]["causes"] = [cause]
        raise error
