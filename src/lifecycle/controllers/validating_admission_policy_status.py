"""Policies, looked at once more: what is odd about their expressions is written into
their status.

The check itself belongs to those who evaluate policies; it is handed over (`check`). A
policy that was checked in its current generation is left alone.

Upstream: `pkg/controller/validatingadmissionpolicystatus/controller.go`
(`Controller.reconcile`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import APPLY_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue

FIELD_MANAGER = "validatingadmissionpolicy-status"
Check = Callable[[Object], list[Object]]
"""The warnings about a policy, each with `fieldRef` and `warning`."""


class ValidatingAdmissionPolicyStatusController:
    """Writes `status.typeChecking`. Without a `check` it has nothing to say, and says
    nothing.
    """

    check: Check | None = None

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._policies = informers.informer(
            resource("validatingadmissionpolicies.admissionregistration.k8s.io")
        )
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._policies.add_event_handler(
            add=self._enqueue, update=lambda old, new: self._enqueue(new)
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._policies.wait_for_sync()
        await run_workers(self._queue, self._sync_policy, workers=5, name=FIELD_MANAGER)

    def _enqueue(self, policy: Object) -> None:
        self._queue.add(policy["metadata"]["name"])

    async def _sync_policy(self, name: str) -> None:
        policy = self._policies.indexer.get_by_key(name)
        if policy is None or self.check is None:
            return
        generation = policy["metadata"].get("generation", 0)
        if generation <= (policy.get("status") or {}).get("observedGeneration", 0):
            return
        # thousands of expressions, for each of ten kinds
        warnings = await beside(LARGE + 1, self.check, policy)
        status = {
            "observedGeneration": generation,
            "typeChecking": {"expressionWarnings": warnings} if warnings else {},
        }
        patch = {
            "apiVersion": policy["apiVersion"],
            "kind": policy["kind"],
            "metadata": {"name": name},
            "status": status,
        }
        try:
            await self._client.patch(
                self._policies.resource, name, "", patch,
                patch_type=APPLY_PATCH, subresource="status",
                field_manager=FIELD_MANAGER, force=True,
            )  # fmt: skip
        except StatusError as error:
            if error.code != 404:
                raise
