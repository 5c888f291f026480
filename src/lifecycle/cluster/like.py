"""A cluster that starts out like a recorded one (`--like recordings/kind-1.36.2`).

The recorded objects are put straight under their keys in the empty store, uids and all,
before the API server starts: as if the recorded cluster's etcd had been restored from a
backup. Names, addresses, allocations and owner references are the recorded ones, so
decisions – scores, refusals, addresses – can be compared like with like.

Everything that the recording lists of the fresh cluster is planted: nodes, namespaces,
RBAC, classes, add-on workloads, Services and their endpoints, leases, flow control.
What was never stored (component statuses) is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import orjson

from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.wire import Object
from lifecycle.cluster.nodes import CAPACITY, FIRST_ADDRESS, NodeShape
from lifecycle.cri.runtime import Image
from lifecycle.etcd.codec import encode_value, storage_media_type
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.store import Store

MACHINE_FACTS = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
"""What a kubelet reports of its machine and cannot choose."""


@dataclass(slots=True)
class Likeness:
    """What was read from a recording: the machines, and the objects to plant."""

    nodes: list[NodeShape] = field(default_factory=list)
    objects: list[tuple[Resource, Object]] = field(default_factory=list)


def read(recording: Path) -> Likeness:
    """Read the fresh cluster's objects. Raises ValueError if the folder holds no such
    recording.
    """
    source = recording / "http" / "objects.jsonl"
    if not source.is_file():
        raise ValueError(
            f"--like wants a recording with http/objects.jsonl; {recording} has none"
        )
    likeness = Likeness()
    files = [source, recording / "http" / "authz.jsonl"]
    for file in files:
        if file.is_file():
            made: set[str] = set()
            with file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    creates = b'"method":"POST"' in line and b'"status":201' in line
                    if creates or b'"items"' in line:
                        try:
                            exchange = orjson.loads(line)
                            if creates:
                                made |= _uid_of_created(exchange)
                            else:
                                _take(exchange, likeness, made)
                        except (
                            ValueError,
                            KeyError,
                            TypeError,
                            AttributeError,
                        ) as error:
                            raise ValueError(
                                f"--like: line {number} of {file} is no recorded"
                                f" answer: {error!r}"
                            ) from None
    if not likeness.nodes:
        raise ValueError(
            f"--like wants a recording that lists nodes; {source} lists none"
        )
    _give_addresses(likeness.nodes)
    for shape in likeness.nodes:
        shape.images = _images(recording / "node" / shape.name / "crictl-images.txt")
    return likeness


def _uid_of_created(exchange: Object) -> set[str]:
    """The object that the recorder made for itself, if it is one that was stored: it
    was not there before.
    """
    uid = (exchange["response"].get("metadata") or {}).get("uid")
    return {uid} if uid else set()


def _take(exchange: Object, likeness: Likeness, made: set[str]) -> None:
    answer = exchange["response"]
    if (
        exchange["method"] != "GET"
        or not isinstance(answer, dict)
        or not str(answer.get("kind", "")).endswith("List")
    ):
        return
    kind, api_version = answer["kind"].removesuffix("List"), answer["apiVersion"]
    row = resource_for_kind(api_version, kind)
    if row is None or "create" not in row.verbs:
        return
    for item in answer["items"]:
        if kind == "Node":
            likeness.nodes.append(_shape(item))
        if item["metadata"].get("uid") in made:
            continue
        likeness.objects.append(
            (row, {"kind": kind, "apiVersion": api_version, **item})
        )


def _give_addresses(nodes: list[NodeShape]) -> None:
    """Machines that were recorded without kubelets have no addresses yet: they get
    kind's, as far as nobody has them.
    """
    taken = {shape.address for shape in nodes}
    free = (
        address
        for i in range(2 * len(nodes))
        if (address := str(FIRST_ADDRESS + i)) not in taken
    )
    for shape in nodes:
        shape.address = shape.address or next(free)


def _shape(node: Object) -> NodeShape:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    address = next(
        (
            a["address"]
            for a in status.get("addresses") or ()
            if a["type"] == "InternalIP"
        ),
        "",
    )
    return NodeShape(
        name=node["metadata"]["name"],
        address=address,
        labels=node["metadata"].get("labels", {}),
        taints=tuple(spec.get("taints", ())),
        capacity=status.get("capacity") or CAPACITY,
        pod_cidr=spec.get("podCIDR", ""),
        machine_info={key: status["nodeInfo"][key] for key in MACHINE_FACTS},
    )


def _images(listing: Path) -> tuple[Image, ...]:
    """The images that were on a node from the start, if a look into it was recorded.
    What a later pull adds is a digest; it is left out.
    """
    if not listing.is_file():
        return ()
    _, _, document = listing.read_text().partition(
        "\n"
    )  # the first line is the command
    images = orjson.loads(document)["images"]
    return tuple(
        Image(image["id"], tuple(image["repoTags"]), (), int(image["size"]))
        for image in images
    )


async def plant(store: Store, likeness: Likeness, root_ca: str = "") -> None:
    """Put the objects under their keys. Whom they say to trust is this cluster's own
    authority, `root_ca` (PEM; empty: as recorded).
    """
    media_type = storage_media_type(store)
    trusted = {
        obj["data"]["ca.crt"]
        for _, obj in likeness.objects
        if root_ca and obj["metadata"]["name"] == "kube-root-ca.crt"
    }
    for row, obj in likeness.objects:
        metadata = obj["metadata"]
        if row.plural == "configmaps" and obj.get("data"):
            obj = {
                **obj,
                "data": {
                    key: root_ca if value in trusted else value
                    for key, value in obj["data"].items()
                },
            }
        key = registry_key(row, metadata.get("namespace", ""), metadata["name"])
        await store.put(key, encode_value(obj, media_type), expected=0)
