"""A model of the API server for tests of clients: objects, revisions, history, watches – and the ways they fail.

Just enough REST to let informers and controllers run: create, get, list, update, merge patch, delete, watch from a revision, `410` after
`compact()`, watches cut by `drop_watches()`. No validation, no defaulting, no admission.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.resources import Resource, find_resource
from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError, already_exists, bad_request, conflict, gone, not_found


@dataclass
class Change:
    revision: int
    type: str
    resource: Resource
    object: Object


@dataclass(eq=False)
class FakeAPI:
    """A `Transport`. `log` has every write as (user agent, method, path, object)."""

    clock: Clock = field(default_factory=Clock)
    names: NameSource = field(default_factory=lambda: NameSource(1))
    on_list: Callable[[], None] = lambda: None
    refuse: Callable[[Request], StatusError | None] = lambda request: None
    """What it says to a request instead of serving it; None: nothing is wrong with it."""
    graceful: bool = False
    """Whether a pod on a node is only marked when it is deleted: there is no kubelet that would let it go."""

    def __post_init__(self) -> None:
        self.objects: dict[tuple[Resource, str, str], Object] = {}
        self.history: list[Change] = []
        self.revision = 1
        self.compacted = 0
        self.log: list[tuple[str, str, str, Any]] = []
        self.done: list[tuple[str, str, Any]] = []
        """Of these what was done: method, path, object."""
        self.lists = 0
        self.watches = 0
        self._wake = asyncio.Event()
        self._epoch = 0

    # --- failures -------------------------------------------------------------------------------------------------
    def drop_watches(self) -> None:
        """Every open watch ends, with nothing said."""
        self._epoch += 1
        self._pulse()

    def compact(self) -> None:
        """Forget all history: a watch from an older revision gets a 410."""
        self.compacted = self.revision
        self.history.clear()
        self._pulse()

    def _pulse(self) -> None:
        self._wake.set()
        self._wake = asyncio.Event()

    # --- state ----------------------------------------------------------------------------------------------------
    def write(self, kind: str, res: Resource, obj: Object) -> Object:
        self.revision += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}
        meta = obj["metadata"]
        key = (res, meta.get("namespace", ""), meta["name"])
        if kind == "DELETED":
            del self.objects[key]
        else:
            self.objects[key] = obj
        self.history.append(Change(self.revision, kind, res, obj))
        self._pulse()
        return obj

    def items(self, res: Resource, namespace: str = "") -> list[Object]:
        return [o for (r, ns, _), o in self.objects.items() if r == res and (not namespace or ns == namespace)]

    # --- transport ------------------------------------------------------------------------------------------------
    async def close(self) -> None:
        pass

    async def round_trip(self, request: Request) -> Response:
        await asyncio.sleep(0)
        parts = request.path.strip("/").split("/")
        group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and find_resource(group, version, rest[2]):
            namespace, rest = rest[1], rest[2:]
        res = find_resource(group, version, rest[0])
        if res is None:
            return Response(404, body=b"404 page not found\n")
        name, sub = [*rest[1:], "", ""][:2]
        if request.method != "GET":
            self.log.append((request.headers.get("user-agent", ""), request.method, request.path, request.obj))
        try:
            if request.param("watch"):
                return self._watch(request, res, namespace)
            if refusal := self.refuse(request):
                raise refusal
            answer = self._serve(request, res, namespace, name, sub)
            if request.method != "GET":
                self.done.append((request.method, request.path, copy.deepcopy(request.obj)))
            return Response(obj=answer)
        except StatusError as error:
            return Response(error.code, obj=error.status)

    def _serve(self, request: Request, res: Resource, namespace: str, name: str, sub: str) -> Object:
        key, body = (res, namespace, name), request.obj
        live = self.objects.get(key)
        if request.method == "GET" and not name:
            self.lists += 1
            self.on_list()
            meta = {"resourceVersion": str(self.revision)}
            return {
                "kind": res.kind + "List",
                "apiVersion": res.api_version,
                "metadata": meta,
                "items": self.items(res, namespace),
            }
        if request.method == "POST":
            assert isinstance(body, dict)
            return self._create(res, namespace, body)
        if request.method == "DELETE" and not name:
            for obj in self.items(res, namespace):
                self._delete(res, obj, {})
            return {"kind": "Status", "status": "Success"}
        if live is None:
            raise not_found(res.plural, name, res.group)
        if sub == "scale":
            return self._scale(request, res, live)
        if request.method == "GET":
            return live
        assert isinstance(body, dict)
        if request.method == "DELETE":
            uid = (body.get("preconditions") or {}).get("uid")
            if uid and uid != live["metadata"]["uid"]:
                raise conflict(res.plural, name, group=res.group)
            return self._delete(res, live, body)
        if request.method == "PATCH":
            assert not isinstance(live.get("x"), list)
            body = _patched(live, body)
        return self._update(res, live, body, sub)

    def _create(self, res: Resource, namespace: str, body: Object) -> Object:
        meta = dict(body["metadata"])
        if not meta.get("name"):
            meta["name"] = self.names.generate_name(meta["generateName"])
        if res.namespaced:
            meta["namespace"] = namespace
        if (res, namespace, meta["name"]) in self.objects:
            raise already_exists(res.plural, meta["name"], res.group)
        meta.update(uid=self.names.uid(), creationTimestamp=self.clock.timestamp())
        if "spec" in body:
            meta["generation"] = 1
        return self.write("ADDED", res, {"kind": res.kind, "apiVersion": res.api_version, **body, "metadata": meta})

    def _update(self, res: Resource, live: Object, body: Object, sub: str) -> Object:
        sent = body["metadata"].get("resourceVersion")
        if sent and sent != live["metadata"]["resourceVersion"]:
            raise conflict(res.plural, live["metadata"]["name"], group=res.group)
        if sub == "status":
            body = {**live, "status": body.get("status")}
        elif sub != "finalize" and "status" in live:
            body = {**body, "status": live["status"]}
        meta = {**{key: live["metadata"][key] for key in ("uid", "creationTimestamp")}, **body["metadata"]}
        changed = body.get("spec") != live.get("spec") or (
            res.plural == "deployments" and meta.get("annotations") != live["metadata"].get("annotations")
        )
        meta["generation"] = live["metadata"].get("generation", 1) + changed
        new = {**body, "metadata": meta}
        if new == live:
            return live
        if (
            meta.get("deletionTimestamp")
            and not meta.get("finalizers")
            and not (new.get("spec") or {}).get("finalizers")
        ):
            return self.write("DELETED", res, new)
        return self.write("MODIFIED", res, new)

    def _scale(self, request: Request, res: Resource, live: Object) -> Object:
        if request.method == "PUT":
            assert isinstance(request.obj, dict)
            live = self._update(res, live, {**live, "spec": {**live["spec"], **request.obj["spec"]}}, "")
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        labels = live["spec"]["selector"]["matchLabels"]
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {key: live["metadata"][key] for key in kept},
            "spec": {"replicas": live["spec"]["replicas"]},
            "status": {
                "replicas": live["status"].get("replicas", 0),
                "selector": ",".join(f"{key}={value}" for key, value in labels.items()),
            },
        }

    def _delete(self, res: Resource, live: Object, options: Object) -> Object:
        meta = dict(live["metadata"])
        ended = (live.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        on_node = res.plural == "pods" and (live.get("spec") or {}).get("nodeName") and not ended
        if self.graceful and on_node and options.get("gracePeriodSeconds") != 0:
            meta.setdefault("deletionTimestamp", self.clock.timestamp())
            return self.write("MODIFIED", res, {**live, "metadata": meta})
        finalizer = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(options.get("propagationPolicy", ""))
        if finalizer and finalizer not in meta.get("finalizers", []):
            meta["finalizers"] = [*meta.get("finalizers", []), finalizer]
        if meta.get("finalizers"):
            meta.setdefault("deletionTimestamp", self.clock.timestamp())
            return self.write("MODIFIED", res, {**live, "metadata": meta})
        return self.write("DELETED", res, live)

    def _watch(self, request: Request, res: Resource, namespace: str) -> Response:
        if request.param("sendInitialEvents"):
            raise bad_request("sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
        self.watches += 1
        start = int(request.param("resourceVersion") or self.revision)
        return Response(stream=self._frames(res, namespace, start, self._epoch))

    async def _frames(self, res: Resource, namespace: str, start: int, epoch: int) -> AsyncIterator[WatchFrame]:
        while epoch == self._epoch:
            if start < self.compacted:
                yield WatchFrame("ERROR", gone(f"too old resource version: {start} ({self.compacted})").status)
                return
            wake = self._wake
            for change in [c for c in self.history if c.revision > start]:
                if epoch != self._epoch:
                    return
                start = change.revision
                if change.resource == res and (
                    not namespace or change.object["metadata"].get("namespace") == namespace
                ):
                    yield WatchFrame(change.type, change.object)
            if wake is self._wake:
                await wake.wait()


def _patched(live: Object, patch: Object) -> Object:
    """A merge patch; one that says with directives what goes, as a strategic one."""
    if any(directive in str(patch) for directive in ("$patch", "$deleteFrom")):
        return strategic_merge_patch(live, patch, schema_for(live["apiVersion"], live["kind"]))
    merged: Object = _merge(live, patch)
    return merged


def _merge(live: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    out = dict(live) if isinstance(live, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merge(out.get(key), value)
    return out
