"""What a slice says of a pod: ready, serving, terminating, and what is not known is not said."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.pod_endpoints import pod_to_endpoint


def _pod(**spec: str) -> Object:
    return {
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1"},
        "spec": spec,
        "status": {
            "phase": "Running",
            "podIPs": [{"ip": "10.1.0.2"}],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


@pytest.mark.parametrize(
    ("ready", "going", "published", "conditions"),
    [
        ("True", False, False, (True, True, False)),
        ("False", False, False, (False, False, False)),
        ("True", True, False, (False, True, True)),  # it serves who is there, and nobody new
        ("False", True, False, (False, False, True)),
        ("False", False, True, (True, False, False)),
        ("True", True, True, (True, True, True)),
        ("False", True, True, (True, False, True)),
    ],
)
def test_who_goes_is_not_ready_and_may_serve(
    ready: str, going: bool, published: bool, conditions: tuple[bool, bool, bool]
) -> None:
    """Upstream: `podToEndpoint`; whoever has it published is ready all the time."""
    pod = _pod()
    pod["status"]["conditions"][0]["status"] = ready
    if going:
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    service: Object = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"publishNotReadyAddresses": published},
    }
    found = pod_to_endpoint(pod, None, service, "IPv4")["conditions"]
    assert (found["ready"], found["serving"], found["terminating"]) == conditions


@pytest.mark.parametrize(
    ("subdomain", "namespace", "named"),
    [("web", "shop", True), ("db", "shop", False), ("web", "other", False), ("", "shop", False)],
)
def test_a_pod_has_a_name_below_the_service_that_it_calls_its_domain(
    subdomain: str, namespace: str, named: bool
) -> None:
    service: Object = {"metadata": {"name": "web", "namespace": namespace}, "spec": {}}
    found = pod_to_endpoint(_pod(hostname="a", subdomain=subdomain), None, service, "IPv4")
    assert found.get("hostname") == ("a" if named else None)


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        ({"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}, "z"),
        ({"topology.kubernetes.io/region": "r"}, None),
        (None, None),
    ],
)
def test_the_zone_is_its_nodes(labels: dict[str, str] | None, zone: str | None) -> None:
    node: Object = {"metadata": {"name": "n", "labels": labels}}
    service: Object = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {}}
    found = pod_to_endpoint(_pod(nodeName="n"), node, service, "IPv4")
    assert (found["nodeName"], found.get("zone")) == ("n", zone)
