"""Recorded writes, replayed without a server: decode, patch or merge, default, and do the bookkeeping of managed fields.

Only what decides `managedFields` is imitated here: what the live object was, what arrived, and what a binding leaves on a pod.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import decode, schema_for
from lifecycle.apiserver.managedfields import apply_patch, parent_entries, scale_entries, update_managed_fields
from lifecycle.apiserver.registry.strategies import strategy_for
from tests.apiserver.registry.by_kind import set_defaults

RECORDINGS = Path(__file__).parents[2] / "recordings"
NOW = "2026-01-01T00:00:00Z"


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDINGS / path).read_bytes().splitlines()]


@dataclass
class Write:
    """One recorded write with an object in the answer."""

    name: str
    verb: str  # create, update, patch, apply
    content_type: str
    manager: str
    force: bool
    subresource: str
    body: Any
    answer: dict[str, Any]

    @property
    def key(self) -> tuple[str, ...]:
        meta = self.answer["metadata"]
        kind = "Deployment" if self.answer["kind"] == "Scale" else self.answer["kind"]
        return kind, meta.get("namespace", ""), meta["name"]


def http_writes(scenario: str, cluster: str = "kind-1.36.2") -> Iterator[Write]:
    for e in lines(f"{cluster}/http/{scenario}.jsonl"):
        answer = e["response"]
        if e["status"] not in (200, 201) or e["method"] not in ("POST", "PUT", "PATCH") or not isinstance(answer, dict):
            continue
        if not (answer.get("metadata") or {}).get("name"):
            continue
        url = urlsplit(e["path"])
        query = parse_qs(url.query)
        verb = {"POST": "create", "PUT": "update", "PATCH": "patch"}[e["method"]]
        body = json.loads(e["body"]) if isinstance(e["body"], str) else e["body"]
        if "apply-patch" in (e["content_type"] or ""):
            verb = "apply"
        tail = url.path.rpartition("/")[2]
        yield Write(
            name=f"{scenario}-{e['n']}",
            verb=verb,
            content_type=e["content_type"],
            manager=query.get("fieldManager", ["recorder"])[0],
            force=query.get("force") == ["true"],
            subresource=tail if tail in ("status", "scale") else "",
            body=body,
            answer=answer,
        )


def audited_writes(path: str) -> Iterator[Write]:
    events = [e for e in lines(path) if e["stage"] == "ResponseComplete" and e["responseStatus"]["code"] < 300]
    events = [e for e in events if e["verb"] in ("create", "update", "patch", "delete") and e.get("responseObject")]

    created: dict[str, float] = {}

    def revision(event: dict[str, Any]) -> float:
        own = float((event["responseObject"].get("metadata") or {}).get("resourceVersion") or 0)
        if event["verb"] == "create" and event["objectRef"].get("subresource") == "binding":
            return created[event["objectRef"]["name"]] + 0.5  # a binding answers without a revision
        return own

    for e in events:
        if e["verb"] == "create" and e["responseObject"]["kind"] == "Pod":
            created[e["responseObject"]["metadata"]["name"]] = float(e["responseObject"]["metadata"]["resourceVersion"])

    for e in sorted(events, key=revision):
        ref = e["objectRef"]
        sub, answer = ref.get("subresource", ""), e["responseObject"]
        if sub == "binding":
            answer = {"kind": "Binding", "metadata": {"name": ref["name"], "namespace": ref["namespace"]}}
        elif answer["kind"] in ("Status", "TokenRequest") or "name" not in answer["metadata"]:
            continue
        query = parse_qs(urlsplit(e["requestURI"]).query)
        body = e.get("requestObject")
        yield Write(
            name=f"{e['verb']}-{ref['resource']}-{sub}-{e['auditID'][:8]}",
            verb="bind" if sub == "binding" else e["verb"],
            content_type=_audited_content_type(body, sub),
            manager=query.get("fieldManager", [e["userAgent"].partition("/")[0]])[0],
            force=False,
            subresource=sub,
            body=body,
            answer=answer,
        )


def _audited_content_type(body: Any, subresource: str) -> str:
    """An audit log does not say how a patch was meant: components send strategic patches, `kubectl scale` a merge patch."""
    kind = (
        "json-patch" if isinstance(body, list) else "merge-patch" if subresource == "scale" else "strategic-merge-patch"
    )
    return f"application/{kind}+json"


def patched(content_type: str, live: dict[str, Any], body: Any, api_version: str, kind: str) -> dict[str, Any]:
    if "json-patch" in content_type:
        return apply_json_patch(live, body)
    if "merge-patch" in content_type and "strategic" not in content_type:
        return apply_merge_patch(live, body)
    return strategic_merge_patch(live, body, schema_for(api_version, kind))


def replay(writes: Iterator[Write]) -> Iterator[tuple[Write, list[dict[str, Any]] | None]]:
    """Each write with the managed fields that we make of it. The live object is always the recorded one, not our own."""
    stored: dict[tuple[str, ...], dict[str, Any]] = {}
    for write in writes:
        live = stored.get(write.key)
        if write.verb == "bind":
            _bind(stored, write)
            continue
        if write.subresource == "scale":
            if live is not None:
                stored[write.key] = {**live, "metadata": {**live["metadata"], "managedFields": _scaled(write, live)}}
            continue
        stored[write.key] = write.answer
        if write.verb == "delete" or (write.verb != "create" and live is None and write.verb != "apply"):
            continue
        yield write, managed_fields(write, None if write.verb == "create" else live)


def managed_fields(write: Write, live: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    api_version, kind = write.answer["apiVersion"], write.answer["kind"]
    if write.verb == "apply":
        new = apply_patch(
            live,
            write.body,
            manager=write.manager,
            force=write.force,
            now=NOW,
            subresource=write.subresource,
            reset_fields=strategy_for(api_version, kind).get_reset_fields(write.subresource),
        )
        return new["metadata"].get("managedFields")
    body = (
        write.body if write.verb != "patch" else patched(write.content_type, live or {}, write.body, api_version, kind)
    )
    new, _ = decode(body, body.get("apiVersion", api_version), kind)
    set_defaults(new)
    _through_the_internal_type(new)
    new["metadata"] = dict(new["metadata"])
    update_managed_fields(
        live,
        new,
        manager=write.manager,
        api_version=new["apiVersion"],
        subresource=write.subresource,
        now=NOW,
        reset_fields=strategy_for(api_version, kind).get_reset_fields(write.subresource),
    )
    return new["metadata"].get("managedFields")


def _through_the_internal_type(obj: dict[str, Any]) -> None:
    """What converting to the internal version and back does to a few kinds."""
    if obj["kind"] == "Secret" and "stringData" in obj:
        plain = {key: base64.b64encode(value.encode()).decode() for key, value in obj.pop("stringData").items()}
        obj["data"] = {**obj.get("data", {}), **plain}
    if obj["kind"] == "Pod" and obj["spec"].get("serviceAccountName"):
        obj["spec"] = {**obj["spec"], "serviceAccount": obj["spec"]["serviceAccountName"]}


def _bind(stored: dict[tuple[str, ...], dict[str, Any]], write: Write) -> None:
    key = ("Pod", write.key[1], write.key[2])
    pod = stored[key]
    condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": NOW}
    status = {**pod["status"], "conditions": [condition]}
    stored[key] = {**pod, "spec": {**pod["spec"], "nodeName": "somewhere"}, "status": status}


def _scaled(write: Write, parent: dict[str, Any]) -> list[dict[str, Any]]:
    before = parent["metadata"].get("managedFields")
    live: dict[str, Any] = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": parent["metadata"]["name"], "uid": "u", "managedFields": scale_entries(before)},
        "spec": {"replicas": parent["spec"]["replicas"]} if parent["spec"]["replicas"] else {},
        "status": {"replicas": 0},
    }
    new = patched(write.content_type, live, write.body, "autoscaling/v1", "Scale")
    new = {**new, "metadata": dict(new["metadata"])}
    update_managed_fields(live, new, manager=write.manager, api_version="autoscaling/v1", subresource="scale", now=NOW)
    return parent_entries(before, new["metadata"].get("managedFields"), "apps/v1")


def timeless(entries: list[dict[str, Any]] | None) -> str:
    """Entries as text, key order included, times only as present or absent, in the order of names (times decide the order)."""
    shown = [{**entry, **({"time": "T"} if "time" in entry else {})} for entry in entries or ()]
    return "\n".join(sorted(json.dumps(entry) for entry in shown))
