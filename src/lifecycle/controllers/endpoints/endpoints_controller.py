"""Endpoints: the older form of the same facts, one object per Service.

Deprecated since 1.33, and still written: everything in one object, at most a thousand
addresses. Addresses that are ready and those that are not stand in separate lists;
equal port sets share a subset, and the whole is sorted, so that equal facts give equal
objects.

Upstream: `pkg/controller/endpoint/endpoints_controller.go` (`Controller`,
`syncService`, `truncateEndpoints`), v1.36. Left out: the clean-up of left-over
Endpoints at start.
"""

from __future__ import annotations

from math import ceil

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key, split_meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.consistency_store import ConsistencyStore
from lifecycle.controllers.counting_pauses import CountingPauses
from lifecycle.controllers.endpoints.subsets import repack_subsets
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.pod_readiness import is_pod_ready
from lifecycle.controllers.service_pods import (
    CLUSTER_IP_NONE,
    IS_HEADLESS_SERVICE,
    LAST_CHANGE_TRIGGER_TIME,
    ServicePodEvents,
    find_port,
    is_service_ip_set,
    pods_for_service,
    should_pod_be_in_endpoints,
    should_set_hostname,
    target_reference,
)
from lifecycle.controllers.trigger_time_tracker import TriggerTimeTracker

WORKERS = 5
MAX_RETRIES = 15
MAX_CAPACITY = 1000
LABEL_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
CONTROLLER_NAME = "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
PAUSE_PER_POD = 200e-6


class EndpointsController:
    """Keeps the Endpoints of every Service with a selector."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._services = informers.informer(resource("services"))
        self._pods = informers.informer(resource("pods"))
        self._endpoints = informers.informer(resource("endpoints"))
        self._recorder = EventRecorder(client, "endpoint-controller", clock=clock)
        self._trigger_times = TriggerTimeTracker()
        self._sizes: dict[str, int] = {}
        self._pauses = CountingPauses(PAUSE_PER_POD)
        self._consistency = ConsistencyStore()
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._services.add_event_handler(
            add=self._enqueue,
            update=lambda old, new: self._enqueue(new),
            delete=self._enqueue,
        )
        self._endpoints.add_event_handler(delete=self._enqueue)
        ServicePodEvents(self._pods, self._services, self._enqueue_for_pod)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._services, self._pods, self._endpoints):
                await informer.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync_service,
                workers=WORKERS,
                name="endpoint-controller",
                max_retries=MAX_RETRIES,
            )
        finally:
            await self._recorder.stop()

    def _enqueue(self, obj: Object) -> None:
        self._queue.add(meta_namespace_key(obj))

    def _enqueue_for_pod(self, key: str) -> None:
        """A large Service is not counted again for every pod."""
        self._queue.add_after(key, self._pauses.before(key, self._sizes.get(key, 0)))

    async def _sync_service(self, key: str) -> None:
        self._pauses.over(key)
        endpoints = resource("endpoints")
        service = self._services.indexer.get_by_key(key)
        if service is None:
            self._trigger_times.delete_service(key)
            self._sizes.pop(key, None)
            self._consistency.clear(key)
            await self._delete(key)
            return
        if service["spec"].get("type") == "ExternalName" or not service["spec"].get(
            "selector"
        ):
            return  # somebody else's business
        current = self._endpoints.indexer.get_by_key(key)
        if current is not None:
            self._consistency.ensure_ready(key, current)
        pods = pods_for_service(self._pods.indexer, service)
        self._sizes[key] = len(pods)
        trigger_time = self._trigger_times.compute_endpoint_last_change_trigger_time(
            key, service, pods
        )
        new, truncated = new_endpoints(service, pods, current, trigger_time)
        if current is not None and is_unchanged(current, new, service, truncated):
            return
        try:
            if current is None:
                written = await self._client.create(
                    endpoints, new, service["metadata"]["namespace"]
                )
            else:
                written = await self._client.update(endpoints, new)
            self._consistency.wrote_at(key, written)
        except StatusError as error:
            if current is None and is_namespace_terminating(error):
                return
            verb, reason = (
                ("create", "FailedToCreateEndpoint")
                if current is None
                else ("update", "FailedToUpdateEndpoint")
            )
            on = "endpoint for service" if current is None else "endpoint"
            about = {
                **new,
                "metadata": {
                    **new["metadata"],
                    "namespace": service["metadata"]["namespace"],
                },
            }
            self._recorder.event(
                about,
                "Warning",
                reason,
                f"Failed to {verb} {on} {key}: {error.message}",
            )
            raise

    async def _delete(self, key: str) -> None:
        namespace, name = split_meta_namespace_key(key)
        try:
            await self._client.delete(resource("endpoints"), name, namespace)
        except StatusError as error:
            if (
                error.code != 404
                # the server removes them with the Service; usually there is nothing
                # left to do
            ):
                raise


def new_endpoints(
    service: Object, pods: list[Object], current: Object | None, trigger_time: str
) -> tuple[Object, bool]:
    """The Endpoints object as it should be, and whether addresses had to be left
    out.
    """
    meta = service["metadata"]
    new: Object = (
        mutable_copy(current)
        if current is not None
        else {
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {"name": meta["name"]},
        }
    )
    new.pop("subsets", None)
    subsets, truncated = truncate_endpoints(endpoint_subsets(service, pods))
    if subsets:
        new["subsets"] = subsets
    labels = {
        k: v for k, v in (meta.get("labels") or {}).items() if k != IS_HEADLESS_SERVICE
    }
    labels[LABEL_MANAGED_BY] = CONTROLLER_NAME
    if not is_service_ip_set(service):
        labels[IS_HEADLESS_SERVICE] = ""
    new["metadata"]["labels"] = labels
    annotations = new["metadata"].setdefault("annotations", {})
    for key, value in (
        (LAST_CHANGE_TRIGGER_TIME, trigger_time),
        (OVER_CAPACITY, "truncated" if truncated else ""),
    ):
        if value:
            annotations[key] = value
        else:
            annotations.pop(key, None)
    if not annotations:
        del new["metadata"]["annotations"]
    return new, truncated


def endpoint_subsets(service: Object, pods: list[Object]) -> list[Object]:
    """Addresses and ports, merged and sorted."""
    spec = service["spec"]
    tolerate_unready = bool(spec.get("publishNotReadyAddresses"))
    subsets: list[Object] = []
    for pod in pods:
        if not should_pod_be_in_endpoints(pod, include_terminating=tolerate_unready):
            continue
        address = endpoint_address(service, pod)
        if address is None:
            continue
        kind = (
            "addresses"
            if tolerate_unready or is_pod_ready(pod)
            else "notReadyAddresses"
        )
        if not spec.get("ports") and spec.get("clusterIP") == CLUSTER_IP_NONE:
            subsets.append({kind: [address]})
        for service_port in spec.get("ports") or ():
            number = find_port(pod, service_port)
            if number is None:
                continue
            port = {
                "name": service_port.get("name", ""),
                "port": number,
                "protocol": service_port.get("protocol", "TCP"),
            }
            port["appProtocol"] = service_port.get("appProtocol", "")
            subsets.append(
                {kind: [address], "ports": [{k: v for k, v in port.items() if v}]}
            )
    holder: Object = {"subsets": subsets}
    repack_subsets(holder)
    packed: list[Object] = holder["subsets"]
    return packed


def endpoint_address(service: Object, pod: Object) -> Object | None:
    """The pod's address of the Service's (first) family; None if it has none."""
    families = service["spec"].get("ipFamilies")
    is_ipv6 = bool(families) and families[0] == "IPv6"
    status = pod.get("status") or {}
    for ip in [entry["ip"] for entry in status.get("podIPs") or ()] or [
        status.get("podIP", "")
    ]:
        if ip and (":" in ip) == is_ipv6:
            break
    else:
        return None
    address: Object = {"ip": ip}
    if should_set_hostname(pod, service):
        address["hostname"] = pod["spec"]["hostname"]
    if pod["spec"].get("nodeName"):
        address["nodeName"] = pod["spec"]["nodeName"]
    address["targetRef"] = target_reference(pod)
    return address


def truncate_endpoints(subsets: list[Object]) -> tuple[list[Object], bool]:
    """At most a thousand addresses, ready ones first. Whether any were left out.

    Each subset keeps its share, rounded up, so that a few ports of a few pods are not
    lost behind a large subset.
    """
    ready, not_ready = (
        sum(len(s.get(kind, ())) for s in subsets)
        for kind in ("addresses", "notReadyAddresses")
    )
    if ready + not_ready <= MAX_CAPACITY:
        return subsets, False
    too_many_ready = ready > MAX_CAPACITY
    kind, total = (
        ("addresses", ready) if too_many_ready else ("notReadyAddresses", not_ready)
    )
    room = left = MAX_CAPACITY if too_many_ready else MAX_CAPACITY - ready
    result = []
    for subset in map(dict, subsets):
        if too_many_ready:
            subset.pop("notReadyAddresses", None)
        share = min(left, ceil(len(subset.get(kind, ())) / total * room))
        subset[kind] = list(subset.get(kind, ()))[:share]
        left -= len(subset[kind])
        result.append({key: value for key, value in subset.items() if value})
    return [s for s in result if s.keys() & {"addresses", "notReadyAddresses"}], True


def is_unchanged(
    current: Object, new: Object, service: Object, truncated: bool
) -> bool:
    """Whether a write would change anything but the trigger time. Endpoints that do not
    hold everybody are written at each sync: what they lack is never seen in them.
    """
    labels = dict(current["metadata"].get("labels") or {})
    if labels.pop(LABEL_MANAGED_BY, None) != CONTROLLER_NAME:
        return False
    labels.pop(IS_HEADLESS_SERVICE, None)
    service_labels = {
        k: v
        for k, v in (service["metadata"].get("labels") or {}).items()
        if k != IS_HEADLESS_SERVICE
    }
    if truncated or OVER_CAPACITY in (current["metadata"].get("annotations") or {}):
        return False
    return (current.get("subsets") or []) == (
        new.get("subsets") or []
    ) and labels == service_labels
