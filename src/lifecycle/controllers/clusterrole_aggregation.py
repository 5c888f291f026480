"""Cluster roles made of others: `admin`, `edit` and `view` are the union of all roles
labelled for them.

Upstream: `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`
(`ClusterRoleAggregationController`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import beside
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import APPLY_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue

FIELD_MANAGER = "clusterrole-aggregation-controller"
RULE = 32
"""A rule's worth in bytes of JSON that are read and checked: it is only looked at."""


class ClusterRoleAggregationController:
    """Writes the rules of roles that have an `aggregationRule`."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._roles = informers.informer(
            resource("clusterroles.rbac.authorization.k8s.io")
        )
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._roles.add_event_handler(
            add=lambda role: self._enqueue_all(),
            update=lambda old, new: self._enqueue_all(),
            delete=lambda role: self._enqueue_all(),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._roles.wait_for_sync()
        await run_workers(
            self._queue,
            self._sync_cluster_role,
            workers=5,
            name="clusterrole-aggregation-controller",
        )

    def _enqueue_all(self) -> None:
        """Any role may be part of any aggregate; there are few aggregates and the queue
        drops duplicates.
        """
        for role in self._roles.indexer:
            if role.get("aggregationRule"):
                self._queue.add(role["metadata"]["name"])

    async def _sync_cluster_role(self, name: str) -> None:
        role = self._roles.indexer.get_by_key(name)
        if role is None or not role.get("aggregationRule"):
            return
        parts = list(self._parts(role))
        rules = await beside(RULE * sum(map(len, parts)), _union, parts)
        if rules == (role.get("rules") or []):
            return
        patch = {
            "kind": "ClusterRole",
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": {"name": name},
            "rules": rules,
        }
        await self._client.patch(
            self._roles.resource,
            name,
            "",
            patch,
            patch_type=APPLY_PATCH,
            field_manager=FIELD_MANAGER,
            force=True,
        )

    def _parts(self, role: Object) -> Iterator[Sequence[Object]]:
        """The rules of each role that this one is made of, by the names of the roles;
        selector by selector.
        """
        name = role["metadata"]["name"]
        everyone = sorted(
            self._roles.indexer.list(), key=lambda r: str(r["metadata"]["name"])
        )
        for label_selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
            selector = selector_from_label_selector(label_selector)
            for part in everyone:
                if part["metadata"]["name"] != name and selector.matches(
                    part["metadata"].get("labels")
                ):
                    yield part.get("rules") or ()


def _union(parts: Sequence[Sequence[Object]]) -> list[Object]:
    """Each rule once, where it comes first."""
    distinct: dict[bytes, Object] = {}
    for rules in parts:
        for rule in rules:
            distinct.setdefault(fast_json.dumps(rule), rule)
    return list(distinct.values())
