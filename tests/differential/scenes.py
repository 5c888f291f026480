"""Random cases: an object is made, changed in several ways by several managers, read, and deleted."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from lifecycle.api.protobuf import encode, is_supported
from tests.differential.case import JSON, PROTOBUF, Case, Step
from tests.differential.objects import Objects
from tests.differential.published import Kind, Published
from tests.differential.values import WRONG

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
EVERYBODYS = (  # what changes the server for all that come after is only tried
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "CustomResourceDefinition", "APIService", "FlowSchema",
    "PriorityLevelConfiguration", "Node", "ServiceCIDR", "Namespace",
)  # fmt: skip


class Scenes:
    """Cases of a seed, one after the other."""

    def __init__(self, published: Published, seed: int) -> None:
        self._random = Random(seed)
        self._published = published
        self._objects = Objects(published, self._random)

    def cases(self) -> Iterator[Case]:
        """As many as are asked for."""
        while True:
            kind = self._random.choice(self._published.kinds)
            steps = tuple(self._steps(kind))
            if steps:
                yield Case(steps)

    def _steps(self, kind: Kind) -> Iterator[Step]:
        random = self._random
        plain = self._objects.plain(kind)
        tried = kind.kind in EVERYBODYS
        if tried or random.random() < 0.5:
            yield self._create(
                kind, self._objects.mutated(kind, plain), dry=tried or not kind.namespaced or random.random() < 0.6
            )
        if tried or "get" not in kind.verbs:
            return
        yield Step("POST", self._with(kind.collection, [f"fieldManager={random.choice(('maker', 'helm'))}"]), plain)
        one = f"{kind.collection}/{plain['metadata']['name']}"
        for _ in range(random.choice((1, 1, 2, 3))):
            yield self._write(kind, one, plain)
        if random.random() < 0.5:
            yield self._read(kind, one)
        if random.random() < 0.3:
            yield self._delete(kind, one)

    def _with(self, path: str, options: list[str]) -> str:
        return f"{path}?{'&'.join(options)}" if options else path

    def _options(self, *, dry: bool) -> list[str]:
        random = self._random
        options = ["dryRun=All"] if dry else []
        options += random.choice(
            ([], [], ["fieldValidation=Strict"], ["fieldValidation=Warn"], ["fieldValidation=Ignore"])
        )
        return options + random.choice(
            ([], [], [], ["fieldManager=someone"], ["pretty=true"], ["dryRun=x"] if dry else [])
        )

    def _create(self, kind: Kind, obj: Any, *, dry: bool) -> Step:
        return Step("POST", self._with(kind.collection, self._options(dry=dry)), *self._body(obj))

    def _body(self, obj: Any) -> tuple[Any, str]:
        """The body in JSON or, where it can be written so, in protobuf."""
        if self._random.random() < 0.1 and is_supported(obj.get("apiVersion", ""), obj.get("kind", "")):
            try:
                encode(obj)
            except Exception:  # what cannot be said in protobuf is said in JSON
                return obj, JSON
            return obj, PROTOBUF
        return obj, JSON

    def _write(self, kind: Kind, one: str, plain: Any) -> Step:
        random = self._random
        options = self._options(dry=random.random() < 0.6)
        if kind.subresources and random.random() < 0.25:
            return self._subresource(kind, one, plain, options)
        changed = self._objects.mutated(kind, plain)
        how = random.choice(("PUT", MERGE, STRATEGIC, JSON_PATCH, APPLY, APPLY))
        if how == "PUT":
            return Step("PUT", self._with(one, options), *self._body(changed))
        if how == APPLY:
            options = [option for option in options if not option.startswith("fieldManager")]
            options += [f"fieldManager={random.choice(('maker', 'alice', 'bob'))}"]
            options += random.choice(([], ["force=true"], ["force=false"]))
        if how == JSON_PATCH:
            return Step("PATCH", self._with(one, options), self._operations(plain), how)
        if how == STRATEGIC and random.random() < 0.3:
            self._add_directive(changed)
        if random.random() < 0.5 and how != APPLY:
            changed = {key: value for key, value in changed.items() if key not in ("apiVersion", "kind")}
        return Step("PATCH", self._with(one, options), changed, how)

    def _subresource(self, kind: Kind, one: str, plain: Any, options: list[str]) -> Step:
        random = self._random
        name, _, verbs = random.choice(kind.subresources)
        path = self._with(f"{one}/{name}", options)
        if name == "scale":
            body: Any = {
                "kind": "Scale",
                "apiVersion": "autoscaling/v1",
                "metadata": {"name": plain["metadata"]["name"]},
            }
            body["spec"] = {"replicas": random.choice((0, 2, -1, "x"))}
        elif name == "eviction":
            body = {
                "kind": "Eviction",
                "apiVersion": random.choice(("policy/v1", "policy/v1beta1")),
                "metadata": {"name": "one"},
            }
        elif name == "binding":
            body = {
                "kind": "Binding",
                "apiVersion": "v1",
                "target": {"kind": random.choice(("Node", "Pod")), "name": "node-1"},
            }
        elif name == "token":
            body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1"}
            body["spec"] = {"audiences": ["a"], "expirationSeconds": random.choice((600, 3600, 5))}
        else:
            body = self._objects.mutated(kind, plain)
        methods = {"create": "POST", "update": "PUT", "patch": "PATCH", "get": "GET"}
        method = methods[random.choice([verb for verb in verbs if verb in methods])]
        if method == "GET":
            return Step("GET", f"{one}/{name}")
        return Step(method, path, body, random.choice((MERGE, STRATEGIC, APPLY)) if method == "PATCH" else JSON)

    def _operations(self, plain: Any) -> list[Any]:
        random = self._random
        pointers = [pointer for pointer in _pointers(plain) if not pointer.startswith(("/apiVersion", "/kind"))]
        operations = []
        for _ in range(random.choice((1, 1, 2, 3))):
            operation: dict[str, Any] = {"op": random.choice(("add", "remove", "replace", "test", "copy", "move"))}
            operation["path"] = random.choice(pointers) + random.choice(("", "", "", "/-", "/0", "/new"))
            if operation["op"] in ("copy", "move"):
                operation["from"] = random.choice(pointers)
            elif operation["op"] != "remove":
                operation["value"] = copy.deepcopy(random.choice((*WRONG, "value", 5, {"name": "two"})))
            operations.append(operation)
        return operations

    def _add_directive(self, patch: Any) -> None:
        random = self._random
        places = [patch, *(part for part in _objects(patch) if part is not patch)]
        place = random.choice(places)
        place[
            random.choice(
                ("$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers")
            )
        ] = random.choice(("delete", "replace", ["name"], [{"name": "web"}], [], {}))

    def _read(self, kind: Kind, one: str) -> Step:
        random = self._random
        accept = random.choice((JSON, TABLE, METADATA, PROTOBUF, f"{TABLE},{JSON}"))
        if accept == PROTOBUF and not is_supported(kind.api_version, kind.kind):
            accept = JSON
        if random.random() < 0.4 or not kind.namespaced:
            return Step("GET", one, accept=accept)
        if accept == METADATA:
            accept = METADATA_LIST
        options = random.choice((
            [], ["limit=1"], ["labelSelector=app%3Dweb"], ["labelSelector=a+in+(b"], ["fieldSelector=metadata.name%3Done"],
            ["fieldSelector=spec.nothing%3Dx"], ["fieldSelector=metadata.name!%3Done"], ["resourceVersion=0"], ["resourceVersion={rv}"],
            ["resourceVersion=x"], ["resourceVersion={rv}", "resourceVersionMatch=Exact"], ["limit=-1"], ["limit=x"],
        ))  # fmt: skip
        if random.random() < 0.1 and "watch" in kind.verbs:
            options = [
                *random.choice((["resourceVersion=0"], ["fieldSelector=metadata.name%3Done"])),
                "watch=1",
                "timeoutSeconds=1",
            ]
            accept = random.choice(
                (JSON, METADATA, f"{PROTOBUF};stream=watch" if is_supported(kind.api_version, kind.kind) else JSON)
            )
        return Step("GET", self._with(kind.collection, options), accept=accept)

    def _delete(self, kind: Kind, one: str) -> Step:
        random = self._random
        body = random.choice((
            None, {}, {"gracePeriodSeconds": 0}, {"gracePeriodSeconds": -1}, {"propagationPolicy": "Foreground"},
            {"propagationPolicy": "Nope"}, {"orphanDependents": True}, {"orphanDependents": True, "propagationPolicy": "Orphan"},
            {"preconditions": {"uid": "{uid}"}}, {"preconditions": {"uid": "wrong"}}, {"preconditions": {"resourceVersion": "1"}},
            {"dryRun": ["All"]}, {"dryRun": ["Some"]}, {"unknown": 1}, {"kind": "Pod", "apiVersion": "v1"},
        ))  # fmt: skip
        collection = kind.namespaced and "deletecollection" in kind.verbs and random.random() < 0.2
        return Step("DELETE", kind.collection if collection else one, body)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)


def _pointers(value: Any, path: str = "") -> Iterator[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        pointer = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
        yield pointer
        yield from _pointers(part, pointer)
