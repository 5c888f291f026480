"""`kubectl expose`: a Service for something that is running, its selector, ports and
protocols read off the object.

Upstream: `kubectl/pkg/cmd/expose/expose.go` (`createService`),
`kubectl/pkg/polymorphichelpers` (`CanBeExposedFn`, `MapBasedSelectorForObjectFn`,
`PortsForObjectFn`, `MultiProtocolsForObjectFn`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.strconv import atoi
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError

EXPOSABLE = {
    ("", "ReplicationController"),
    ("", "Service"),
    ("", "Pod"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
}


def service(
    name: str,
    selector: Mapping[str, str],
    ports: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    protocol: str = "",
    protocols: Mapping[str, Sequence[str]] | None = None,
    target_port: str = "",
    type_: str = "",
    external_ip: str = "",
    load_balancer_ip: str = "",
    session_affinity: str = "",
    cluster_ip: str = "",
) -> Object:
    """The Service. `protocols` maps a port to its protocols where the object says so.
    Raises CommandError for what is no port.
    """
    metadata: Object = {"name": name}
    if labels:
        metadata["labels"] = dict(labels)
    rows = [
        row
        for i, port in enumerate(ports)
        for row in _rows(i, port, len(ports) > 1, protocol, protocols or {})
    ]
    for row in rows:
        row["targetPort"] = _int_or_string(target_port) if target_port else row["port"]
    spec: Object = {"selector": dict(selector)}
    if rows:
        spec["ports"] = rows
    if external_ip:
        spec["externalIPs"] = [external_ip]
    if type_:
        spec["type"] = type_
    if type_ == "LoadBalancer" and load_balancer_ip:
        spec["loadBalancerIP"] = load_balancer_ip
    if session_affinity:
        if session_affinity not in ("None", "ClientIP"):
            raise CommandError(f"unknown session affinity: {session_affinity}")
        spec["sessionAffinity"] = session_affinity
    if cluster_ip:
        spec["clusterIP"] = cluster_ip
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _rows(
    i: int,
    text: str,
    several: bool,
    protocol: str,
    protocols: Mapping[str, Sequence[str]],
) -> list[dict[str, Any]]:
    try:
        port = atoi(text)
    except ValueError as error:
        raise CommandError(str(error)) from None
    name = f"port-{i + 1}" if several else ""
    own = protocols.get(text, ()) if not protocol else ()
    if len(own) > 1:
        return [
            {"name": f"port-{i + 1}-{each.lower()}", "protocol": each, "port": port}
            for each in own
        ]
    row: dict[str, Any] = {"name": name} if name else {}
    return [{**row, "protocol": protocol or (own[0] if own else "TCP"), "port": port}]


def _int_or_string(text: str) -> int | str:
    try:
        return atoi(text)
    except ValueError:
        return text


def map_based_selector_for_object(obj: Object) -> dict[str, str]:
    """The labels by which a Service finds the pods of an object. Raises CommandError
    where the object does not say.
    """
    kind, spec = obj["kind"], obj.get("spec") or {}
    why = ""
    labels: dict[str, str] = {}
    if kind in ("Deployment", "ReplicaSet"):
        selector = spec.get("selector") or {}
        labels = selector.get("matchLabels") or {}
        if selector.get("matchExpressions"):
            why = (
                "couldn't convert expressions -"
                f" {go_quote(_go_expressions(selector['matchExpressions']))} to"
                " map-based selector format"
            )
        if not labels:
            why = f"invalid {kind.lower()}: no selectors, therefore cannot be exposed"
    elif kind == "Pod":
        labels = obj["metadata"].get("labels") or {}
        why = "" if labels else "the pod has no labels and cannot be exposed"
    else:
        labels = spec.get("selector") or {}
        why = (
            "" if labels or kind != "Service" else "the service has no pod selector set"
        )
    if why:
        raise CommandError(
            f"couldn't retrieve selectors via --selector flag or introspection: {why}"
        )
    return dict(labels)


def _go_expressions(expressions: Sequence[Mapping[str, Any]]) -> str:
    """As Go's `%+v` shows them."""
    each = (
        f"{{Key:{e['key']} Operator:{e['operator']}"
        f" Values:[{' '.join(e.get('values') or ())}]}}"
        for e in expressions
    )
    return f"[{' '.join(each)}]"


def multi_protocols_for_object(obj: Object) -> dict[str, list[str]]:
    """The ports of an object as text, each with its protocols, in order."""
    spec = obj.get("spec") or {}
    protocols: dict[str, list[str]] = {}
    if obj["kind"] == "Service":
        rows = [
            (row.get("port", 0), row.get("protocol")) for row in spec.get("ports") or ()
        ]
    else:
        pod = (
            spec
            if obj["kind"] == "Pod"
            else (spec.get("template") or {}).get("spec") or {}
        )
        containers = pod.get("containers") or ()
        rows = [
            (row.get("containerPort", 0), row.get("protocol"))
            for c in containers
            for row in c.get("ports") or ()
        ]
    for port, protocol in rows:
        protocols.setdefault(str(port), []).append(protocol or "TCP")
    return protocols
