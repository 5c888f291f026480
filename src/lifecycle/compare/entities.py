"""Who is who in one cluster's answers.

Before anything is replaced, all documents of a scope (a scenario, or one moment of it)
are read once to learn which uid belongs to which object, which names were generated,
which address is whose, and on which node a pod landed. After that a placeholder can say
`<ip of Pod journey/nginx-747d4c55d8-<random>>` instead of a nameless `<ip>`, and
references keep their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.names import ALPHANUMS
from lifecycle.compare.placements import Placements

RANDOM = "<random>"
_SUFFIX = f"[{ALPHANUMS}]{{5}}"
_POD_OF_REPLICA_SET = re.compile(rf"^(.+-[{ALPHANUMS}]{{6,10}}-){_SUFFIX}$")
_RANDOM_END = re.compile(rf"^(.+-){_SUFFIX}$")
_EVENT_NAME = re.compile(r"^(.+)\.[0-9a-f]{16}$")
_WORKLOADS = frozenset({"ReplicaSet", "DaemonSet", "Job", "ReplicationController"})
_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


@dataclass(slots=True)
class Entity:
    """One API object of one cluster.

    `label` is what both clusters call it. For pods: the `node`, and the `text` of the
    spec.
    """

    kind: str
    namespace: str
    name: str
    uids: list[str] = field(default_factory=list)
    label: str = ""
    generated: bool = False
    node: str = ""
    text: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """Class and member, see `masked.Identity`."""
        return self.label, f"{self.kind}/{self.namespace}/{self.name}"


@dataclass(slots=True)
class Entities:
    """What was learned. All maps go from a raw value of this cluster."""

    by_name: dict[tuple[str, str, str], Entity] = field(default_factory=dict)
    by_uid: dict[str, Entity] = field(default_factory=dict)
    generated: dict[str, Entity] = field(default_factory=dict)
    addresses: dict[str, tuple[str, Entity]] = field(default_factory=dict)
    topology: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    bindings: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    pods: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    placements: Placements | None = None
    _as_learned: Placements = field(default_factory=Placements)
    _workload_names: set[str] = field(default_factory=set)

    def learn(self, documents: Iterable[Any]) -> None:
        """Read the answers of a scope. Events come last: their names are made of the
        names of others.
        """
        documents = list(documents)
        objects = [pair for document in documents for pair in objects_in(document)]
        if self.placements is None:
            self._as_learned.seen(0, (standalone(*pair) for pair in objects))
        for kind, obj in sorted(objects, key=lambda pair: pair[0] == "Event"):
            self._learn_object(kind, obj)
        for document in documents:
            for holder in references_in(document):
                self._learn_reference(holder)
        rows = [row for document in documents for row in rows_in(document)]
        for row_kind in ("Node", "Pod"):
            for kind, namespace, name, cells in rows:
                if kind == row_kind:
                    self._learn_row(kind, namespace, name, cells)
        for kind, obj in objects:
            self._learn_addresses(kind, obj)

    def pod(self, namespace: str, name: str) -> Entity | None:
        """A pod by name."""
        return self.by_name.get(("Pod", namespace, name))

    def chosen_freely(self, pod: Entity) -> bool:
        """Whether the scheduler may as well have put the pod elsewhere."""
        placements = self.placements or self._as_learned
        return placements.may_be_elsewhere(pod.namespace, pod.name)

    def node_address(self, address: str) -> str:
        """The node that has an address, or an empty string."""
        known = self.addresses.get(address)
        return known[1].name if known and known[1].kind == "Node" else ""

    # -- objects -----------------------------------------------------------------------

    def _entity(
        self, kind: str, namespace: str, name: str, uid: str, generate_name: str = ""
    ) -> Entity:
        entity = self.by_name.get((kind, namespace, name))
        if entity is None:
            entity = Entity(kind, namespace, name)
            self.by_name[kind, namespace, name] = entity
        if uid:
            if uid not in self.by_uid:  # more than one: it was deleted and made again
                entity.uids.append(uid)
            self.by_uid.setdefault(uid, entity)
        if not entity.label or (generate_name and not entity.generated):
            shared = self._shared_name(kind, name, generate_name)
            entity.generated = shared != name
            entity.label = (
                f"{kind} {namespace}/{shared}" if namespace else f"{kind} {shared}"
            )
            if entity.generated and kind != "Event":
                self.generated[name] = entity
        return entity

    def _shared_name(self, kind: str, name: str, generate_name: str) -> str:
        """The name as every cluster would have it: random parts replaced."""
        if (
            generate_name
            and name.startswith(generate_name)
            and re.fullmatch(_SUFFIX, name.removeprefix(generate_name))
        ):
            return generate_name + RANDOM
        if kind == "Event" and (match := _EVENT_NAME.match(name)):
            base = match[1]
            known = self.generated.get(base)
            shared = (
                known.label.rpartition("/")[2]
                if known
                else self._shared_name("Pod", base, "")
            )
            return f"{shared}.<hash>"
        if kind == "Pod":
            match = _POD_OF_REPLICA_SET.match(name)
            if (
                match is None
                and (match := _RANDOM_END.match(name))
                and match[1][:-1] not in self._workload_names
            ):
                match = None
            if match:
                return match[1] + RANDOM
        return name

    def _learn_object(self, kind: str, obj: dict[str, Any]) -> None:
        meta = obj["metadata"]
        namespace = meta.get("namespace", "")
        if kind in _WORKLOADS:
            self._workload_names.add(meta["name"])
        entity = self._entity(
            kind,
            namespace,
            meta["name"],
            meta.get("uid", ""),
            meta.get("generateName", ""),
        )
        if kind == "IPAddress" and _allocated_at_random(meta["name"]):
            parent = obj.get("spec", {}).get("parentRef", {})
            entity.label = (
                f"IPAddress of {parent.get('resource')}"
                f" {parent.get('namespace')}/{parent.get('name')}"
            )
        if kind == "ClusterRoleBinding" and "roleRef" in obj:
            self.bindings[meta["name"]] = _bound(obj)
        if kind == "Pod" and "status" in obj:
            self.pods.setdefault((namespace, meta["name"]), []).append(obj["status"])
        if kind == "Pod":
            entity.text += str(meta.get("annotations"))
        if kind == "Pod" and obj.get("spec"):
            entity.node = obj["spec"].get("nodeName", "") or entity.node
            entity.text += str(obj["spec"])
            for key in _TOPOLOGY:
                value = meta.get("labels", {}).get(key)
                if value and entity.node:
                    self.topology.setdefault(
                        (key.rpartition("/")[2], entity.node), set()
                    ).add(value)
            for volume in obj["spec"].get("volumes", ()):
                if re.fullmatch(rf"kube-api-access-{_SUFFIX}", volume["name"]):
                    label = f"token volume of {entity.label}"
                    known = Entity(
                        "Volume", namespace, volume["name"], label=label, generated=True
                    )
                    self.generated.setdefault(volume["name"], known)

    def _learn_addresses(self, kind: str, obj: dict[str, Any]) -> None:
        meta, spec, status = (
            obj["metadata"],
            obj.get("spec") or {},
            obj.get("status") or {},
        )
        entity = self.by_name[kind, meta.get("namespace", ""), meta["name"]]
        if kind == "Node":
            for entry in status.get("addresses", ()):
                if entry["type"] == "InternalIP" and is_ipv4(entry["address"]):
                    self.addresses[entry["address"]] = ("address", entity)
        elif kind == "Pod":
            if entity.node and status.get("hostIP"):
                node = self._entity("Node", "", entity.node, "")
                if not any(
                    owner is node for _, owner in self.addresses.values()
                ):  # a node has one address
                    self.addresses.setdefault(status["hostIP"], ("address", node))
            if not spec.get("hostNetwork"):
                for entry in filter(
                    lambda e: is_ipv4(e["ip"]), status.get("podIPs", ())
                ):
                    self.addresses.setdefault(entry["ip"], ("ip", entity))
        elif kind == "Service" and _allocated_at_random(spec.get("clusterIP", "")):
            self.addresses.setdefault(spec["clusterIP"], ("cluster IP", entity))
        elif kind == "IPAddress" and _allocated_at_random(meta["name"]):
            parent = spec.get("parentRef", {})
            if parent.get("resource") == "services":
                service = self._entity(
                    "Service", parent["namespace"], parent["name"], ""
                )
                self.addresses.setdefault(meta["name"], ("cluster IP", service))

    def _learn_row(
        self, kind: str, namespace: str, name: str, cells: dict[str, Any]
    ) -> None:
        """What a printed row says of a node's or a pod's address."""
        entity = self._entity(kind, namespace, name, "")
        if kind == "Node":
            self.addresses.setdefault(cells.get("Internal-IP", ""), ("address", entity))
        else:
            entity.node = entity.node or cells.get("Node", "")
            self.addresses.setdefault(cells.get("IP", ""), ("ip", entity))

    # -- references --------------------------------------------------------------------

    def _learn_reference(self, holder: tuple[dict[str, Any], dict[str, Any]]) -> None:
        outer, reference = holder
        namespace = reference.get("namespace", "")
        if not reference.get("name") or not reference.get("uid"):
            return
        if reference["uid"] in self.by_uid:
            entity = self.by_uid[reference["uid"]]
        elif "controller" in reference or "blockOwnerDeletion" in reference:
            owner_namespace = (
                outer.get("namespace", "") if reference["kind"] != "Node" else ""
            )
            entity = self._entity(
                reference["kind"], owner_namespace, reference["name"], reference["uid"]
            )
        else:
            entity = self._entity(
                reference["kind"], namespace, reference["name"], reference["uid"]
            )
        if entity.kind != "Pod":
            return
        node = outer.get("nodeName") or outer.get("source", {}).get("host", "")
        if node and not entity.node:
            entity.node = node
        message = outer.get("message", "")
        if not entity.node and outer.get("reason") == "Scheduled" and " to " in message:
            entity.node = message.rpartition(" to ")[2]
        for address in [outer.get("ip"), *(outer.get("addresses") or ())]:
            if (
                isinstance(address, str)
                and address not in self.addresses
                and not self._is_node_address(entity, address)
            ):
                self.addresses[address] = ("ip", entity)

    def _is_node_address(self, entity: Entity, address: str) -> bool:
        return self.node_address(address) == entity.node != ""


def objects_in(document: Any, kind: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every API object in an answer with its kind; items of a list take their kind from
    the list.
    """
    if isinstance(document, dict):
        kind = (
            document.get("kind", kind)
            if isinstance(document.get("kind", kind), str)
            else kind
        )
        meta = document.get("metadata")
        if isinstance(meta, dict) and isinstance(meta.get("name"), str) and kind:
            yield kind, document
        items = document.get("items")
        if isinstance(items, list) and kind.endswith("List"):
            for item in items:
                yield from objects_in(item, kind.removesuffix("List"))
        if kind == "Table":
            row_kind = kind_of_rows(document)
            for row in document.get("rows") or ():
                about = row.get("object") or {}
                if isinstance(about.get("metadata"), dict) and about["metadata"].get(
                    "name"
                ):
                    yield row_kind, {"metadata": about["metadata"]}


def standalone(kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    """An object as it would stand outside its list."""
    return obj if "kind" in obj else {**obj, "kind": kind}


def rows_in(document: Any) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every row of a Table: kind, namespace and name of its object, and its cells by
    column.
    """
    if isinstance(document, dict) and document.get("kind") == "Table":
        columns = [column["name"] for column in document.get("columnDefinitions", ())]
        kind = kind_of_rows(document)
        for row in document.get("rows") or ():
            meta = (row.get("object") or {}).get("metadata") or {}
            cells = dict(zip(columns, row["cells"], strict=False))
            yield (
                kind,
                meta.get("namespace", ""),
                meta.get("name", str(row["cells"][0])),
                cells,
            )


def kind_of_rows(table: dict[str, Any]) -> str:
    """What a Table's rows are. A Table does not say; its columns do."""
    columns = {column["name"] for column in table.get("columnDefinitions", ())}
    if {"Last Seen", "Reason", "Object"} <= columns:
        return "Event"
    if "Nominated Node" in columns:
        return "Pod"
    if "Internal-IP" in columns:
        return "Node"
    return "Row"


def references_in(
    document: Any, namespace: str = ""
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every reference by uid with the map that holds it: owner references, involved
    objects, endpoint targets.
    """
    if isinstance(document, dict):
        for key, value in document.items():
            if key in ("involvedObject", "regarding", "targetRef") and isinstance(
                value, dict
            ):
                yield document, value
            elif key == "ownerReferences" and isinstance(value, list):
                for reference in value:
                    yield document, reference
            elif key != "fieldsV1":
                yield from references_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from references_in(value)


def _bound(binding: dict[str, Any]) -> tuple[str, frozenset[str]]:
    """The role and the subjects of a binding, in the words of an authorizer.

    Upstream: `plugin/pkg/auth/authorizer/rbac/rbac.go` (`describeSubject`).
    """
    role = binding["roleRef"]
    subjects = frozenset(
        f'{each["kind"]} "{each["name"]}'
        + (f'/{each["namespace"]}"' if each["kind"] == "ServiceAccount" else '"')
        for each in binding.get("subjects") or ()
    )
    return f'{role["kind"]} "{role["name"]}"', subjects


def is_ipv4(text: str) -> bool:
    """Whether a text is an address, rather than four numbers with dots."""
    parts = text.split(".")
    return len(parts) == 4 and all(
        part.isdecimal() and str(int(part)) == part and int(part) < 256
        for part in parts
    )


def _allocated_at_random(address: str) -> bool:
    """Whether a cluster IP comes from the allocator's dice.

    The range's low band (upstream: `calculateRangeOffset`, at most 256 addresses) is
    kept for addresses asked for by name, such as the `kubernetes` Service's and the DNS
    server's: those must match.
    """
    parts = address.split(".")
    return is_ipv4(address) and not (parts[2] == "0" and int(parts[3]) <= 16)
