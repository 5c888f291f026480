"""Services and endpoints held against a recorded cluster, where addresses are given
out, and where pods become endpoints.

*Asked again*: the fourteen Services of the recorded *services* scenario, one of each
shape, are created in a cluster of ours that started like the recorded one, in the
recorded order and at the recorded pace. Then both are asked for their Services,
Endpoints, EndpointSlices, IPAddresses and ServiceCIDRs.

*Worked out*: for each recorded EndpointSlice that a controller made, what our
controller makes of the recorded Service, pods and nodes; no cluster runs. The endpoints
of a slice come in the order of a Go map, and are compared sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.agreements.asked_again import Tamper, asked_again
from lifecycle.agreements.proxy.iptables_rules import recorded_nodes
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_labels
from lifecycle.client.indexer import Indexer
from lifecycle.compare import AgreementTable, Comparison
from lifecycle.compare.compare import compare
from lifecycle.controllers.endpointslice.endpointslice_tracker import (
    EndpointSliceTracker,
)
from lifecycle.controllers.endpointslice.owned_slices import LABEL_MANAGED_BY
from lifecycle.controllers.endpointslice.pod_endpoints import TOPOLOGY_ZONE
from lifecycle.controllers.endpointslice.reconciler import Reconciler
from lifecycle.controllers.endpointslice.service_slices import CONTROLLER_NAME
from lifecycle.inspector import Recording

JOURNEY = (
    "after expose",
    "after scale up",
    "after rollout",
    "after undo",
    "after scale down",
)
MOMENTS = (
    ("services", "", "svc"),
    *(("journey", moment, "journey") for moment in JOURNEY),
)
"""Scenario, moment and namespace at which Services, pods and slices were listed
together.
"""

ANY_ORDER = "order of endpoints within a slice: a Go map's"
KEPT = ("addressType", "endpoints", "ports")

Work = Callable[[Object, list[Object], Indexer], list[Object]]
"""A Service, its pods and the nodes → the slices it should have."""


def services_agreement(
    recording: Recording, tamper: Tamper | None = None, work: Work | None = None
) -> AgreementTable:
    """The whole table. `tamper` changes the server that is asked, `work` stands in for
    our controller. Raises InspectorError.
    """
    table = asked_again(
        recording, "services", "services and endpoints", tamper, _opening
    )
    for row in table.rows:
        row.input = _short(row.input)
    for question, slices in recorded_slices(recording).items():
        table.add("services", question, *_worked_out(slices, work or slices_for))
    return table


def _opening(table: AgreementTable) -> str:
    slices = sum(
        int(row.cluster.split()[0])
        for row in table.computed
        if row.input.startswith("slices") and row.cluster.endswith(" slices")
    )
    return (
        "Services of fourteen shapes, created in a real cluster and in ours, addresses,"
        " endpoints and refusals included; and"
        f" {slices} lists of endpoints, worked out by our controller from the real"
        f" pods: {table.outcome('answers')}."
    )


def _short(question: str) -> str:
    method, path = question.split(" ", 1)
    return f"{method} {path.replace('/namespaces/svc', '/…')}"


def slices_for(service: Object, pods: list[Object], nodes: Indexer) -> list[Object]:
    """Ours: what the controller would write for a Service that has no slices yet."""
    reconciler = Reconciler(None, nodes, EndpointSliceTracker())  # type: ignore[arg-type]  # nothing is written
    changes, _ = reconciler.reconcile_by_address_type(service, pods, [], "IPv4")
    return changes.create


Seen = tuple[Object, list[Object], list[Object], Indexer]
"""A Service, its pods, its slices, the nodes."""


def recorded_slices(recording: Recording) -> dict[str, list[Seen]]:
    """What was seen together, by question."""
    slices: dict[str, list[Seen]] = {}
    for scenario, moment, namespace in MOMENTS:
        lists = _lists(recording, scenario, moment, namespace)
        if {"services", "pods", "endpointslices"} <= lists.keys():
            created = [
                piece["metadata"]["creationTimestamp"]
                for piece in lists["endpointslices"]
            ]
            nodes = _nodes(recording, max(created, default=""))
            seen = [(*each, nodes) for each in _together(lists)]
            slices[f"slices worked out, {moment or 'all shapes'}"] = seen
    return slices


def _nodes(recording: Recording, moment: str) -> Indexer:
    """The Nodes as they were at a time: somebody gave them zones, and the zone's entry
    in managedFields says when.
    """
    nodes = Indexer()
    for name, node in recorded_nodes(recording).items():
        labels = node["metadata"].get("labels") or {}
        if _zone_since(node) > moment:
            labels = {
                key: value for key, value in labels.items() if key != TOPOLOGY_ZONE
            }
        nodes.set(name, {**node, "metadata": {**node["metadata"], "labels": labels}})
    return nodes


def _zone_since(node: Object) -> str:
    """When a Node got its zone, as RFC 3339; empty if it has none that anybody is known
    to have set.
    """
    for entry in node["metadata"].get("managedFields") or ():
        fields = entry["fieldsV1"].get("f:metadata", {}).get("f:labels", {})
        if f"f:{TOPOLOGY_ZONE}" in fields:
            return str(entry["time"])
    return ""


def _lists(
    recording: Recording, scenario: str, moment: str, namespace: str
) -> dict[str, list[Object]]:
    if scenario not in recording.scenarios():
        return {}
    lists: dict[str, list[Object]] = {}
    for exchange in recording.exchanges(scenario):
        answer: Any = exchange.response
        collection = exchange.path.partition("?")[0].rpartition("/")[2]
        inside = f"/namespaces/{namespace}/" in exchange.path
        listed = (
            exchange.status == 200
            and isinstance(answer, dict)
            and str(answer.get("kind", "")).endswith("List")
        )
        if exchange.method == "GET" and exchange.moment == moment and inside and listed:
            lists[collection] = answer["items"]
    return lists


def _together(
    lists: dict[str, list[Object]],
) -> Iterator[tuple[Object, list[Object], list[Object]]]:
    for service in lists["services"]:
        selector = service["spec"].get("selector")
        if not selector or service["spec"].get("type") == "ExternalName":
            continue
        chosen = selector_from_labels(selector)
        pods = [
            pod
            for pod in lists["pods"]
            if chosen.matches(pod["metadata"].get("labels") or {})
        ]
        slices = [piece for piece in lists["endpointslices"] if _is_of(piece, service)]
        yield service, pods, slices


def _is_of(endpoint_slice: Object, service: Object) -> bool:
    labels = endpoint_slice["metadata"].get("labels") or {}
    owned = labels.get(LABEL_MANAGED_BY) == CONTROLLER_NAME
    return (
        owned
        and labels.get("kubernetes.io/service-name") == service["metadata"]["name"]
    )


def _worked_out(seen: list[Seen], work: Work) -> tuple[str, str, Comparison]:
    total, count = Comparison(), 0
    for service, pods, slices, nodes in seen:
        ours = [_content(piece) for piece in work(service, pods, nodes)]
        theirs = [_content(piece) for piece in slices]
        if [piece["endpoints"] for piece in map(_plain, slices)] != [
            piece["endpoints"] for piece in theirs
        ]:
            total.freedoms[ANY_ORDER] += 1
        total += compare(ours, theirs, path=f"/{service['metadata']['name']}")
        count += len(slices)
    return f"{count} slices", f"{count} slices", total


def _plain(endpoint_slice: Object) -> Object:
    return {key: endpoint_slice.get(key) or [] for key in KEPT}


def _content(endpoint_slice: Object) -> Object:
    """What a slice says, and how it is labelled and owned; not its name, nor its
    times.
    """
    meta = endpoint_slice["metadata"]
    endpoints = sorted(
        endpoint_slice.get("endpoints") or [],
        key=lambda endpoint: endpoint["addresses"],
    )
    owners = [
        {key: ref[key] for key in ("kind", "name", "uid")}
        for ref in meta.get("ownerReferences") or ()
    ]
    content = {
        **_plain(endpoint_slice),
        "endpoints": endpoints,
        "labels": meta.get("labels"),
        "owners": owners,
    }
    return {**content, "generateName": meta.get("generateName")}
