"""Emptying a namespace.

Pods first, and nothing else until they are gone: a NetworkPolicy that vanished before
the pods it guards would open them to everybody. Then every other resource: delete the
collection, list what is left. What is left is waiting for something – a grace period, a
finalizer – so there is an estimate of when to look again. What is left without a reason
is an error, and so is a part of the API that nobody answers for.

Upstream: `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`
(`namespacedResourcesDeleter.Delete`, `deleteAllContent`), v1.36 (with
`OrderedNamespaceDeletion`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import RetryError
from lifecycle.client.rest import Client
from lifecycle.controllers.namespace.conditions import (
    content_name,
    failures,
    update_conditions,
)
from lifecycle.controllers.namespace.discovery import preferred_namespaced_resources
from lifecycle.controllers.object_copy import mutable_copy

FINALIZER_ESTIMATE_SECONDS = 15
FINALIZER = "kubernetes"


class ResourcesRemainingError(RetryError):
    """Something is left; `estimate` is in how many seconds it may be gone."""

    def __init__(self, estimate: int) -> None:
        super().__init__(
            f"some content remains in the namespace, estimate {estimate} seconds before"
            " it is removed"
        )
        self.estimate = estimate


@dataclass(slots=True)
class _Totals:
    estimate: int = 0
    remaining: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    undiscovered: str = ""


class NamespacedResourcesDeleter:
    """Deletes all content of a namespace and takes the finalizer off."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._namespaces = resource("namespaces")

    async def delete(self, name: str) -> None:
        """One attempt. Raises ResourcesRemainingError while something is left,
        StatusError.
        """
        while True:
            try:
                namespace = await self._client.get(self._namespaces, name)
            except StatusError as error:
                if error.code == 404:
                    return
                raise
            if "deletionTimestamp" not in namespace["metadata"] or not namespace[
                "spec"
            ].get("finalizers"):
                return
            totals = await self._delete_all_content(namespace)
            if totals.errors or totals.undiscovered:
                raise RetryError(totals.undiscovered or totals.errors[0])
            if totals.estimate:
                raise ResourcesRemainingError(totals.estimate)
            try:
                await self._finalize(namespace)
            except StatusError as error:
                if (
                    error.code != 409
                    # the status update has just made our copy old: once more, from the
                    # top
                ):
                    if error.code == 404:
                        return
                    raise
            else:
                return

    async def _delete_all_content(self, namespace: Object) -> _Totals:
        totals = _Totals()
        rows, totals.undiscovered = await preferred_namespaced_resources(self._client)
        for row in rows:
            await self._delete_resource(row, namespace["metadata"], totals)
            if (row.group, row.plural) == ("", "pods") and (
                totals.remaining or totals.errors
            ):
                break
        copy = mutable_copy(namespace)
        status = copy.setdefault("status", {})
        failed = failures(
            totals.remaining, totals.finalizers, totals.errors, totals.undiscovered
        )
        if update_conditions(status, failed, self._clock.now()):
            await self._client.update(self._namespaces, copy, subresource="status")
        return totals

    async def _delete_resource(
        self, row: Resource, meta: Object, totals: _Totals
    ) -> None:
        """Delete one resource's objects and count what remains. Upstream:
        `deleteAllContentForGroupVersionResource`.
        """
        namespace, grace = meta["name"], 0
        try:
            if row.plural == "pods" and not row.group:
                grace = _grace_period(await self._client.list(row, namespace))
                if self._clock.now() - parse_time(meta["deletionTimestamp"]) >= grace:
                    grace = 0  # they have had their time
            if "deletecollection" in row.verbs:
                await self._client.delete_collection(row, namespace)
            else:
                for obj in (await self._client.list(row, namespace)).get("items") or ():
                    await self._client.delete(
                        row,
                        obj["metadata"]["name"],
                        namespace,
                        propagation="Background",
                    )
            left = (await self._client.list(row, namespace)).get("items") or []
        except StatusError as error:
            if error.code in (
                404,
                405,
            ):  # the server does not serve it: nothing is stored there either
                return
            totals.errors.append(error.message)
            return
        if not left:
            return
        totals.remaining[content_name(row.plural, row.group)] += len(left)
        held = [
            finalizer
            for obj in left
            for finalizer in obj["metadata"].get("finalizers") or ()
        ]
        totals.finalizers.update(held)
        if grace or held:
            totals.estimate = max(totals.estimate, grace or FINALIZER_ESTIMATE_SECONDS)
        else:
            gvr = f"{row.group}/{row.version}, Resource={row.plural}"
            totals.errors.append(
                f"unexpected items still remain in namespace: {namespace} for gvr:"
                f" {gvr}"
            )

    async def _finalize(self, namespace: Object) -> None:
        left = [f for f in namespace["spec"].get("finalizers") or () if f != FINALIZER]
        spec = {"finalizers": left} if left else {}
        meta = namespace["metadata"]
        body = {"kind": "Namespace", "apiVersion": "v1", "metadata": meta, "spec": spec}
        await self._client.update(self._namespaces, body, subresource="finalize")


def _grace_period(pods: Object) -> int:
    """The longest time a running pod may still take. Upstream:
    `estimateGracefulTerminationForPods`.
    """
    running = (
        p
        for p in pods.get("items") or ()
        if (p.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    )
    return max(
        (int(p["spec"].get("terminationGracePeriodSeconds", 0)) for p in running),
        default=0,
    )
