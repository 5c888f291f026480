"""A cluster that starts out like a recorded one (`--like recordings/kind-1.36.2`).

The recorded objects are put straight under their keys in the empty store, uids and all, before the API server starts:
as if the recorded cluster's etcd had been restored from a backup. Names, addresses, allocations and owner references
are the recorded ones, so decisions – scores, refusals, addresses – can be compared like with like.

Everything that the recording lists of the fresh cluster is planted: nodes, namespaces, RBAC, classes, add-on workloads, Services and their
endpoints, leases, flow control. What was never stored (component statuses) is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import orjson

from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.wire import Object
from lifecycle.cluster.nodes import NodeShape
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.store import Store


@dataclass(slots=True)
class Likeness:
    """What was read from a recording: the machines, and the objects to plant."""

    nodes: list[NodeShape] = field(default_factory=list)
    objects: list[tuple[Resource, Object]] = field(default_factory=list)


def read(recording: Path) -> Likeness:
    """Read the fresh cluster's objects. Raises ValueError if the folder holds no such recording."""
    source = recording / "http" / "objects.jsonl"
    if not source.is_file():
        raise ValueError(f"--like wants a recording with http/objects.jsonl; {recording} has none")
    likeness = Likeness()
    files = [source, recording / "http" / "authz.jsonl"]
    for file in files:
        if file.is_file():
            with file.open("rb") as lines:
                for line in lines:
                    if b'"items"' in line:
                        _take(orjson.loads(line), likeness)
    return likeness


def _take(exchange: Object, likeness: Likeness) -> None:
    answer = exchange["response"]
    if exchange["method"] != "GET" or not isinstance(answer, dict) or not str(answer.get("kind", "")).endswith("List"):
        return
    kind, api_version = answer["kind"].removesuffix("List"), answer["apiVersion"]
    row = resource_for_kind(api_version, kind)
    if row is None or "create" not in row.verbs:
        return
    for item in answer["items"]:
        if kind == "Node":
            likeness.nodes.append(_shape(item))
        likeness.objects.append((row, {"kind": kind, "apiVersion": api_version, **item}))


def _shape(node: Object) -> NodeShape:
    spec, status = node["spec"], node["status"]
    address = next(a["address"] for a in status["addresses"] if a["type"] == "InternalIP")
    return NodeShape(
        name=node["metadata"]["name"],
        address=address,
        labels=node["metadata"].get("labels", {}),
        taints=tuple(spec.get("taints", ())),
        capacity=status["capacity"],
        pod_cidr=spec.get("podCIDR", ""),
    )


async def plant(store: Store, likeness: Likeness) -> None:
    """Put the objects under their keys."""
    for row, obj in likeness.objects:
        metadata = obj["metadata"]
        key = registry_key(row, metadata.get("namespace", ""), metadata["name"])
        await store.put(key, encode_value(obj), expected=0)
