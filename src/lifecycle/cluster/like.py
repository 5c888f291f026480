"""A cluster that starts out like a recorded one (`--like kind`, `--like PATH`).

The recorded objects are put straight under their keys in the empty store, uids and all,
before the API server starts: as if the recorded cluster's etcd had been restored from a
backup. Names, addresses, allocations and owner references are the recorded ones, so
decisions – scores, refusals, addresses – can be compared like with like.

Everything that the recording lists of the fresh cluster is planted: nodes, namespaces,
RBAC, classes, add-on workloads, Services and their endpoints, leases, flow control.
What was never stored (component statuses) is not. The containers that the planted pods'
statuses say run are there when the hollow kubelets start (`already_running`).

`kind` is the recording of a fresh kind cluster that travels with the package, reduced
to just this: `kind-1.36.2.json.gz`, which `generators/likeness.py` makes from
`recordings/kind-1.36.2`.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from lifecycle.api import fast_json
from lifecycle.api.http.wire import MASTERS, Object
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.cluster.nodes import FIRST_ADDRESS, NodeShape
from lifecycle.cri.apis.image import Image
from lifecycle.etcd.codec import encode_value, storage_media_type
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.store import Store
from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY

KIND = "kind"
"""Names the recording that travels with the package. A folder of that name is `./kind`.
"""

CLUSTER_ADMINS = "kubeadm:cluster-admins"

REDUCED = "kind-1.36.2.json.gz"
"""`{"source", "objects": […], "images": {node: [{"id", "repoTags", "size"}]}}`."""

MACHINE_FACTS = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
"""What a kubelet reports of its machine and cannot choose."""


@dataclass(slots=True)
class Likeness:
    """What was read from a recording: the machines, and the objects to plant."""

    nodes: list[NodeShape] = field(default_factory=list)
    objects: list[tuple[Resource, Object]] = field(default_factory=list)

    @property
    def pods(self) -> list[Object]:
        """The planted pods."""
        return [obj for row, obj in self.objects if row.plural == "pods"]

    @property
    def admin_groups(self) -> tuple[str, ...]:
        """The groups that the administrator's certificate speaks for: kubeadm's own
        where the cluster binds it, which RBAC holds to its rules; else the group that
        no authorizer asks about.

        Upstream: kubeadm `ClusterAdminsGroupAndClusterRoleBinding`.
        """
        bound = any(
            row.plural == "clusterrolebindings"
            and obj["roleRef"]["name"] == "cluster-admin"
            and any(
                subject["kind"] == "Group" and subject["name"] == CLUSTER_ADMINS
                for subject in obj.get("subjects") or ()
            )
            for row, obj in self.objects
        )
        return (CLUSTER_ADMINS,) if bound else (MASTERS,)


CREATES = (b'"method":"POST"', b'"status":201', b'"uid"')
"""What stands in the line of an exchange that made an object which stays."""


def read(recording: str | Path) -> Likeness:
    """Read the fresh cluster's objects: from a folder, or the package's own (`kind`).
    Raises ValueError if the folder holds no such recording.
    """
    return _read_reduced() if recording == KIND else _read_folder(Path(recording))


def _read_reduced() -> Likeness:
    packed = files(__package__).joinpath(REDUCED).read_bytes()
    document = fast_json.loads(gzip.decompress(packed))
    likeness = Likeness()
    for obj in document["objects"]:
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        assert row is not None  # the generator leaves out what the package cannot store
        likeness.objects.append((row, obj))
        if obj["kind"] == "Node":
            shape = _shape(obj)
            shape.images = _images(document["images"].get(shape.name, ()))
            likeness.nodes.append(shape)
    return likeness


def _read_folder(recording: Path) -> Likeness:
    source = recording / "http" / "objects.jsonl"
    if not source.is_file():
        raise ValueError(
            f"--like wants a recording with http/objects.jsonl; {recording} has none"
            f" ({KIND} names the one that comes with the package)"
        )
    likeness = Likeness()
    for file in (source, recording / "http" / "authz.jsonl"):
        if file.is_file():
            created_uids: set[str] = set()
            with file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    # most of what is posted is a review, which is not kept
                    creates = all(word in line for word in CREATES)
                    if creates or b'"items"' in line:
                        try:
                            exchange = fast_json.loads(line)
                            if creates:
                                created_uids |= _uid_of_created(exchange)
                            else:
                                _take(exchange, likeness, created_uids)
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
    if not likeness.nodes and not _was_asked_for_nodes(source):
        raise ValueError(
            f"--like wants a recording that lists nodes; {source} lists none"
        )
    _give_addresses(likeness.nodes)
    for shape in likeness.nodes:
        shape.images = _images(recorded_images(recording, shape.name))
    return likeness


def _was_asked_for_nodes(source: Path) -> bool:
    """Whether its answer says that there are none: a bare control plane."""
    with source.open("rb") as lines:
        return any(
            b'"NodeList"' in line and fast_json.loads(line)["method"] == "GET"
            for line in lines
        )


def _uid_of_created(exchange: Object) -> set[str]:
    """The object that the recorder made for itself, if it is one that was stored: it
    was not there before.
    """
    uid = (exchange["response"].get("metadata") or {}).get("uid")
    return {uid} if uid else set()


def _take(exchange: Object, likeness: Likeness, created_uids: set[str]) -> None:
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
        if item["metadata"].get("uid") in created_uids:
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
        capacity=status.get("capacity") or PAPER_CAPACITY,
        pod_cidr=spec.get("podCIDR", ""),
        machine_info={key: status["nodeInfo"][key] for key in MACHINE_FACTS},
    )


def recorded_images(recording: Path, node: str) -> list[Object]:
    """The images that were on a node from the start, as `crictl` lists them, if a look
    into it was recorded.
    """
    listing = recording / "node" / node / "crictl-images.txt"
    if not listing.is_file():
        return []
    # the first line is the command
    _, _, document = listing.read_text().partition("\n")
    images: list[Object] = fast_json.loads(document)["images"]
    return images


def _images(listed: Iterable[Object]) -> tuple[Image, ...]:
    """What a later pull adds is a digest; it is left out."""
    return tuple(
        Image(image["id"], tuple(image["repoTags"]), (), int(image["size"]))
        for image in listed
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
