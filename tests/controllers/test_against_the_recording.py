"""What our controllers would have sent in the recorded journey, field by field against what the real ones did send."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.controllers.recorded import audited, items, watched, without_managed_fields

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.client.event_correlator import COMBINED, EventCorrelator
from lifecycle.client.indexer import Indexer
from lifecycle.client.rest import Client
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.deployment.deployment_util import find_new_replica_set, new_rs_new_replicas
from lifecycle.controllers.deployment.revisions import set_new_replica_set_annotations
from lifecycle.controllers.deployment.sync import calculate_status, new_replica_set
from lifecycle.controllers.endpoints.endpoints_controller import new_endpoints
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.endpointslice.reconciler import Reconciler
from lifecycle.controllers.namespace.conditions import update_conditions
from lifecycle.controllers.pod_control import pod_from_template
from lifecycle.controllers.pod_readiness import is_pod_active, is_pod_terminating
from lifecycle.controllers.replicaset.status import calculate_status as replica_set_status
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete
from lifecycle.controllers.service_pods import LAST_CHANGE_TRIGGER_TIME, pods_for_service

SERVER_DEFAULTS: dict[str, Any] = {"enableServiceLinks": True}
"""The audit log shows objects as the server decoded them, defaults included; a pod template is stored without this one."""


def as_of(plural: str, resource_version: int) -> dict[str, Object]:
    """The journey's objects of a resource just before a revision, from the recorded watch."""
    state: dict[str, Object] = {}
    for event in watched(plural):
        obj = event["object"]
        if event["type"] == "BOOKMARK" or int(obj["metadata"]["resourceVersion"]) >= resource_version:
            continue
        key = meta_namespace_key(obj)
        if event["type"] == "DELETED":
            state.pop(key, None)
        else:
            state[key] = without_managed_fields(obj)
    return state


def test_new_replica_sets_are_what_the_deployment_controller_created() -> None:
    creates = [
        e for e in audited("deployment-controller", "create", "/replicasets") if e["responseStatus"]["code"] == 201
    ]
    assert len(creates) == 2
    for revision, event in enumerate(creates, start=1):
        recorded = event["requestObject"]
        version = int(event["responseObject"]["metadata"]["resourceVersion"])
        [deployment] = as_of("deployments", version).values()
        old = list(as_of("replicasets", version).values())
        ours = new_replica_set(deployment)
        ours["spec"]["replicas"] = new_rs_new_replicas(deployment, [*old, ours], ours)
        set_new_replica_set_annotations(deployment, ours, revision, exists=False)
        assert ours == recorded


def test_new_pods_are_what_the_replica_set_controller_created() -> None:
    creates = list(audited("replicaset-controller", "create", "/pods"))
    assert len(creates) > 10
    for event in creates:
        version = int(event["responseObject"]["metadata"]["resourceVersion"])
        owner = event["requestObject"]["metadata"]["ownerReferences"][0]["name"]
        parent = as_of("replicasets", version)[f"journey/{owner}"]
        ours = pod_from_template(parent["spec"]["template"], parent)
        assert {**ours, "spec": {**ours["spec"], **SERVER_DEFAULTS}} == event["requestObject"]


def test_replica_set_statuses_follow_from_the_pods() -> None:
    """Each recorded status is what we count in some state of the pods between the sync's start and its write."""
    checked = 0
    for event in audited("replicaset-controller", "update", "/status"):
        if event["responseStatus"]["code"] != 200:
            continue
        rs = event["requestObject"]
        written = {k: v for k, v in rs["status"].items() if k != "observedGeneration"}
        versions = range(
            int(rs["metadata"]["resourceVersion"]) - 12, int(event["responseObject"]["metadata"]["resourceVersion"]) + 1
        )
        possible = []
        for version in versions:
            mine = [
                p
                for p in as_of("pods", version).values()
                if p["metadata"]["ownerReferences"][0]["uid"] == rs["metadata"]["uid"]
            ]
            terminating = sum(map(is_pod_terminating, mine))
            possible.append(
                replica_set_status({**rs, "status": {}}, list(filter(is_pod_active, mine)), terminating, None, 0.0)
            )
        assert written in possible, (event["requestReceivedTimestamp"], written, possible)
        checked += 1
    assert checked > 40


def test_deployment_status_counts_follow_from_the_replica_sets() -> None:
    """As above. Within one sync the controller also adds up a ReplicaSet as its own write returned it, with others as the cache has them:
    so any recent state of each counts.
    """
    checked = 0
    for event in audited("deployment-controller", "update", "/deployments/nginx/status"):
        d = event["requestObject"]
        written = {k: v for k, v in d["status"].items() if k != "conditions"}
        if not written or written.get("observedGeneration") != d["metadata"]["generation"]:
            continue  # an intermediate write of the sync: a condition or the revision, with the old numbers
        newest = int(d["metadata"]["resourceVersion"]) + 20  # refused: the copy was that much too old
        if event["responseStatus"]["code"] == 200:
            newest = int(event["responseObject"]["metadata"]["resourceVersion"])
        recent: dict[str, list[Object]] = {}
        for version in range(int(d["metadata"]["resourceVersion"]) - 12, newest + 6):
            for key, rs in as_of("replicasets", version).items():
                states = recent.setdefault(key, [])
                if rs not in states:
                    states.append(rs)
        possible = []
        for sets in product(*recent.values()):
            status = calculate_status(sets, find_new_replica_set(d, sets), {**d, "status": {}}, 0.0)
            possible.append({k: v for k, v in status.items() if k != "conditions"})
        assert written in possible, event["requestReceivedTimestamp"]
        checked += 1
    assert checked > 50


def test_the_same_pods_are_chosen_to_go() -> None:
    """The recorded controller looked at a cache a moment old, so any state shortly before the delete counts."""
    ours: list[bool] = []
    for event in audited("replicaset-controller", "delete", "/pods/"):
        name = event["objectRef"]["name"]
        deleted = event["responseObject"]["metadata"]
        rs_uid = deleted["ownerReferences"][0]["uid"]
        now = parse_time(event["requestReceivedTimestamp"])
        version = int(deleted["resourceVersion"])
        matching = False
        for at in range(version - 12, version + 1):
            pods = [p for p in as_of("pods", at).values() if "deletionTimestamp" not in p["metadata"]]
            mine = [p for p in pods if p["metadata"]["ownerReferences"][0]["uid"] == rs_uid]
            rs = next(rs for rs in as_of("replicasets", at).values() if rs["metadata"]["uid"] == rs_uid)
            diff = len(mine) - rs["spec"]["replicas"]
            if diff > 0:
                matching = matching or name in [
                    p["metadata"]["name"] for p in get_pods_to_delete(mine, pods, diff, now)
                ]
        ours.append(matching)
    assert ours
    assert all(ours), ours


def test_events_are_combined_where_the_recorded_ones_were() -> None:
    correlator = EventCorrelator()
    writes = [
        *audited("deployment-controller", "create", "/events"),
        *audited("deployment-controller", "patch", "/events"),
    ]
    requests = sorted(writes, key=lambda e: str(e["requestReceivedTimestamp"]))
    base = requests[0]["requestObject"]
    decisions = []
    for event in requests:
        recorded = event["requestObject"]
        raw = {**base, **recorded, "count": 1, "message": recorded["message"].removeprefix(COMBINED)}
        raw = {**raw, "reportingComponent": "deployment-controller"}
        raw["metadata"] = (
            {"name": event["requestURI"].rpartition("/")[2]} if event["verb"] == "patch" else recorded["metadata"]
        )
        result = correlator.correlate(raw, parse_time(event["requestReceivedTimestamp"]))
        assert result is not None
        decisions.append("patch" if result.patch else "create")
        if event["verb"] == "patch":
            assert result.patch == recorded
        else:
            assert result.event["message"] == recorded["message"]
            assert result.event["reportingComponent"] == recorded["reportingComponent"]
        correlator.update_state(result.event)
    assert decisions == [e["verb"] for e in requests]
    assert "patch" in decisions


def compute_slices(service: Object, pods: list[Object], nodes: list[Object]) -> tuple[list[Object], list[Object]]:
    index = Indexer()
    for node in nodes:
        index.set(node["metadata"]["name"], node)
    reconciler = Reconciler(Client.__new__(Client), index, EndpointSliceTracker())
    changes, missing = reconciler.reconcile_by_address_type(service, pods, [], "IPv4")
    assert not missing
    return changes.create, changes.update


def comparable_slice(obj: Object) -> Object:
    """The order of endpoints within a slice is the real controller's map order: a freedom."""
    meta = {k: obj["metadata"].get(k) for k in ("labels", "ownerReferences", "generateName", "namespace")}
    endpoints = sorted(obj.get("endpoints") or [], key=lambda e: e["addresses"])
    return {"metadata": meta, "endpoints": endpoints, "ports": obj.get("ports"), "addressType": obj["addressType"]}


def recorded_services() -> tuple[list[Object], list[Object], list[Object]]:
    services = items("services", "/api/v1/namespaces/svc/services", "Service")
    pods = items("services", "/api/v1/namespaces/svc/pods", "Pod")
    nodes = items("objects", "/api/v1/nodes", "Node")
    zones = {"lifecycle-worker": "a", "lifecycle-worker2": "b"}  # labelled by the recorder after *objects* was taken
    for node in nodes:
        zone = zones.get(node["metadata"]["name"])
        if zone:
            node["metadata"]["labels"]["topology.kubernetes.io/zone"] = zone
    return services, pods, nodes


def test_endpoint_slices_of_services_of_every_shape() -> None:
    services, pods, nodes = recorded_services()
    recorded = items(
        "services", "/apis/discovery.k8s.io/v1/namespaces/svc/endpointslices", "EndpointSlice", "discovery.k8s.io/v1"
    )
    managed = [s for s in recorded if s["metadata"].get("ownerReferences")]
    ours = []
    for service in services:
        if service["spec"].get("selector") and service["spec"]["type"] != "ExternalName":
            index = Indexer()
            for pod in pods:
                index.set(meta_namespace_key(pod), pod)
            created, _ = compute_slices(service, pods_for_service(index, service), nodes)
            ours += created
    assert len(ours) == len(managed) == 12
    assert [comparable_slice(s) for s in sorted(ours, key=lambda s: s["metadata"]["generateName"])] == [
        comparable_slice(s) for s in sorted(managed, key=lambda s: s["metadata"]["generateName"])
    ]


def test_endpoints_of_services_of_every_shape() -> None:
    services, pods, _ = recorded_services()
    recorded = {e["metadata"]["name"]: e for e in items("services", "/api/v1/namespaces/svc/endpoints", "Endpoints")}
    seen = 0
    for service in services:
        if not service["spec"].get("selector"):
            continue
        index = Indexer()
        for pod in pods:
            index.set(meta_namespace_key(pod), pod)
        theirs = recorded[service["metadata"]["name"]]
        trigger = theirs["metadata"]["annotations"][LAST_CHANGE_TRIGGER_TIME]
        ours, truncated = new_endpoints(service, pods_for_service(index, service), None, trigger)
        assert not truncated
        assert ours["metadata"]["labels"] == theirs["metadata"]["labels"]
        assert ours["metadata"]["annotations"] == theirs["metadata"]["annotations"]
        assert ours.get("subsets") == theirs.get("subsets")
        seen += 1
    assert seen == 12


def test_the_journeys_first_slice_and_endpoints_are_what_was_created() -> None:
    [created] = list(audited("endpointslice-controller", "create", "/endpointslices"))
    version = int(created["responseObject"]["metadata"]["resourceVersion"])
    [service] = as_of("services", version).values()
    pods = list(as_of("pods", version).values())
    _, _, nodes = recorded_services()
    [ours], _ = compute_slices(service, pods, nodes)
    recorded = created["requestObject"]
    assert comparable_slice(ours) == comparable_slice(recorded)
    [created] = list(audited("endpoint-controller", "create", "/endpoints"))
    recorded = created["requestObject"]
    mine, _ = new_endpoints(service, pods, None, recorded["metadata"]["annotations"][LAST_CHANGE_TRIGGER_TIME])
    assert mine == recorded


def test_a_namespace_that_is_empty_says_so_in_the_recorded_words() -> None:
    [event] = audited("namespace-controller", "update", "/namespaces/journey/status")
    recorded = event["requestObject"]["status"]["conditions"]
    status: Object = {"phase": "Terminating"}
    assert update_conditions(status, {}, parse_time(recorded[0]["lastTransitionTime"]))
    assert status["conditions"] == recorded
