"""Which Services a pod event concerns, and which pods a Service selects: shared by the
two endpoint controllers.

Most pod events change nothing that an endpoint shows. An event counts if the pod is on
its way out, or its addresses, readiness, labels or host name changed; and when labels
changed, both the Services that select it now and those that did before are concerned.

Upstream: `endpointslice/util/controller_utils.go` (`GetPodUpdateProjectionKey`,
`GetServicesToUpdate`, `ShouldPodBeInEndpoints`), `endpointslice/utils.go` (`FindPort`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_labels
from lifecycle.client.indexer import Indexer
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.pod_readiness import is_pod_ready, is_pod_terminal

IS_HEADLESS_SERVICE = "service.kubernetes.io/headless"
LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
CLUSTER_IP_NONE = "None"


class ServicePodEvents:
    """Turns pod events into the keys of the Services concerned."""

    def __init__(
        self,
        pods: SharedInformer,
        services: SharedInformer,
        enqueue: Callable[[str], None],
    ) -> None:
        self._services: Indexer = services.indexer
        self._enqueue = enqueue
        pods.add_event_handler(
            add=self._changed, update=self._updated, delete=self._changed
        )

    def _changed(self, pod: Object) -> None:
        for key in services_for_pod(self._services, pod):
            self._enqueue(key)

    def _updated(self, old: Object, new: Object) -> None:
        meta, old_meta = new["metadata"], old["metadata"]
        if meta["resourceVersion"] == old_meta[
            "resourceVersion"
        ] or not self._services.list_namespace(meta["namespace"]):
            return
        relabelled = meta.get("labels") != old_meta.get("labels") or _host(
            new
        ) != _host(old)
        changed = (
            "deletionTimestamp"
            # upstream compares two pointers to times, which are never the same one
            in meta
            or is_pod_ready(new) != is_pod_ready(old)
            or (new.get("status") or {}).get("podIPs")
            != (old.get("status") or {}).get("podIPs")
        )
        if not changed and not relabelled:
            return
        keys = services_for_pod(self._services, new)
        if relabelled:
            before = services_for_pod(self._services, old)
            keys = dict.fromkeys([*keys, *before])
            if not changed and _host(new) == _host(old):
                now = set(services_for_pod(self._services, new))
                keys = {key: None for key in keys if (key in now) != (key in before)}
        for key in keys:
            self._enqueue(key)


def _host(pod: Object) -> tuple[str, str]:
    return pod["spec"].get("hostname", ""), pod["spec"].get("subdomain", "")


def _selects(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether the labels are all that is selected, and maybe more. The first that is
    not among them decides: a selector may have thousands.
    """
    return all(labels.get(key) == value for key, value in selector.items())


def services_for_pod(services: Indexer, pod: Object) -> dict[str, None]:
    """The keys of the Services whose selectors match."""
    meta = pod["metadata"]
    service_keys: dict[str, None] = {}
    for service in services.list_namespace(meta["namespace"]):
        selector = service["spec"].get("selector")
        if selector and _selects(selector, meta.get("labels") or {}):
            service_keys[meta_namespace_key(service)] = None
    return service_keys


def pods_for_service(pods: Indexer, service: Object) -> list[Object]:
    """The pods a Service selects, in its namespace."""
    selector = selector_from_labels(service["spec"]["selector"])
    matches = selector.matches
    return [
        p
        for p in pods.list_namespace(service["metadata"]["namespace"])
        if matches(p["metadata"].get("labels"))
    ]


def should_pod_be_in_endpoints(pod: Object, *, include_terminating: bool) -> bool:
    """Not finished, has an address, and is not on its way out (unless that is
    wanted).
    """
    status = pod.get("status") or {}
    if is_pod_terminal(pod) or not (status.get("podIP") or status.get("podIPs")):
        return False
    return include_terminating or "deletionTimestamp" not in pod["metadata"]


def should_set_hostname(pod: Object, service: Object) -> bool:
    """Whether the pod has a DNS name of its own below this Service."""
    return (
        bool(pod["spec"].get("hostname"))
        and pod["spec"].get("subdomain") == service["metadata"]["name"]
        and pod["metadata"].get("namespace") == service["metadata"].get("namespace")
    )


def is_service_ip_set(service: Object) -> bool:
    """False for headless Services."""
    return service["spec"].get("clusterIP", "") not in ("", CLUSTER_IP_NONE)


def find_port(pod: Object, service_port: Object) -> int | None:
    """The number of the port on the pod; None if the name means nothing there."""
    target = service_port.get("targetPort", service_port.get("port"))
    if isinstance(target, int):
        return target
    sidecars = [
        c
        for c in pod["spec"].get("initContainers") or ()
        if c.get("restartPolicy") == "Always"
    ]
    for container in (*pod["spec"]["containers"], *sidecars):
        for port in container.get("ports") or ():
            if port.get("name") == target and port.get(
                "protocol", "TCP"
            ) == service_port.get("protocol", "TCP"):
                return int(port["containerPort"])
    return None


def target_reference(pod: Object) -> Object:
    """How an endpoint names its pod."""
    meta = pod["metadata"]
    return {
        "kind": "Pod",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
    }
