"""Keys and values held against a recorded etcd: where each object lies, and which bytes
lie there.

Every key of the recorded store is made again from what it says of itself, and every
recorded value is decoded and encoded again. Equal means: the same key, the same bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources, resource_for_kind
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.etcd.codec import PROTOBUF, decode_value, encode_value
from lifecycle.etcd.keys import registry_key, resource_prefix
from lifecycle.inspector import InspectorError, Recording

KeyOf = Callable[[Resource, str, str], str]
NOT_OBJECTS = (
    "/registry/masterleases/",
    "/registry/peerserverleases/",
    "/registry/ranges/",
)
"""Keys of the servers' own: which of them live, and what used to be the allocations of
Services.
"""


class Kept(NamedTuple):
    """One key of the recorded etcd, as `etcdctl get -w json` showed it."""

    key: str
    create_revision: int
    mod_revision: int
    version: int
    lease: int
    value: bytes


def recorded_keys(recording: Recording) -> list[str]:
    """All keys of the recorded etcd; none where nobody looked."""
    try:
        text = str(recording.etcd("keys.txt"))
    except (InspectorError, FileNotFoundError):
        return []
    return [line.strip() for line in text.splitlines() if line.startswith("/registry/")]


def recorded_values(recording: Recording) -> list[Kept]:
    """The recorded keys with their values; none where nobody looked."""
    try:
        text = recording.text("etcd/etcd-look.json")
    except (InspectorError, FileNotFoundError):
        return []
    values: list[Kept] = []
    while text := text.lstrip():
        document, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        for kv in document.get("kvs", ()):
            numbers = (
                kv["create_revision"],
                kv["mod_revision"],
                kv["version"],
                kv.get("lease", 0),
            )
            values.append(
                Kept(
                    base64.b64decode(kv["key"]).decode(),
                    *numbers,
                    base64.b64decode(kv["value"]),
                )
            )
    return values


def etcd_agreement(
    recording: Recording, key_of: KeyOf = registry_key
) -> AgreementTable:
    """A row for each prefix of recorded keys, and for each recorded value. `key_of`
    makes a key.
    """
    table = AgreementTable(
        "Keys and values",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len([row for row in table.computed if row.stage == 'keys'])} kinds of"
            " keys found in a real etcd, and"
            f" {len([row for row in table.computed if row.stage == 'values'])} values,"
            " each decoded and encoded again by ours: the same key, byte by byte the"
            f" same value; {table.outcome('rows')}."
        ),
    )
    rows = {resource_prefix(row): row for row in reversed(all_resources())}
    groups: dict[str, list[str]] = {}
    for key in recorded_keys(recording):
        if key.startswith(NOT_OBJECTS):
            continue
        prefix = max(
            (each for each in rows if key.startswith(each)), key=len, default=""
        )
        groups.setdefault(prefix or key, []).append(key)
    for prefix, keys in sorted(groups.items()):
        row = rows.get(prefix)
        ours = [
            _again(row, key.removeprefix(prefix), key_of) if row is not None else ""
            for key in keys
        ]
        table.add("keys", prefix, ours[0], keys[0], compare(ours, keys))
    for kept in recorded_values(recording):
        if kept.key.startswith(NOT_OBJECTS):
            continue
        obj = decode_value(kept.value, kept.mod_revision)
        named = resource_for_kind(obj["apiVersion"], obj["kind"])
        key = (
            key_of(named, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            if named
            else ""
        )
        value = encode_value(obj, PROTOBUF)
        ours_kept = {"key": key, "value": value.hex()}
        comparison = compare(ours_kept, {"key": kept.key, "value": kept.value.hex()})
        table.add(
            "values",
            kept.key,
            f"{len(value)} bytes",
            f"{len(kept.value)} bytes",
            comparison,
        )
    return table


def _again(row: Resource, rest: str, key_of: KeyOf) -> str:
    namespace, _, name = rest.rpartition("/")
    return key_of(row, namespace, name)


def objects_from_api(recording: Recording) -> dict[tuple[str, str], Object]:
    """The same objects as the API showed them, by uid and resourceVersion."""
    objects: dict[tuple[str, str], Object] = {}
    if "etcd" not in recording.scenarios():
        return objects
    for exchange in recording.exchanges("etcd"):
        answer = exchange.response
        if not isinstance(answer, dict):
            continue
        head = {
            "kind": str(answer.get("kind")).removesuffix("List"),
            "apiVersion": answer.get("apiVersion"),
        }
        for obj in answer.get("items") or [answer]:
            metadata = obj.get("metadata") or {}
            objects[metadata.get("uid", ""), metadata.get("resourceVersion", "")] = {
                **head,
                **obj,
            }
    return objects
