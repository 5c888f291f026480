"""Stored values: as a real API server writes them, and either form is read."""

from __future__ import annotations

import base64
import json
from typing import Any
from unittest.mock import patch

import pytest

from lifecycle.api import fast_json
from lifecycle.api.fast_json import AT_ONCE
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.etcd.codec import JSON, PROTOBUF, UnreadableError, decode_value, encode_value, storage_media_type
from lifecycle.etcd.memory import MemoryStore
from tests.conftest import RECORDINGS

CLUSTERS = ["kind-1.36.2", "kind-1.36.2-again"]


def recorded_pairs(cluster: str) -> list[tuple[str, int, bytes]]:
    """Key, mod revision and value of what `etcdctl get` showed: several JSON documents in one file."""
    text, found = (RECORDINGS / cluster / "etcd" / "etcd-look.json").read_text(), []
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        text = text[end:].lstrip()
        for pair in document.get("kvs", ()):
            found.append(
                (base64.b64decode(pair["key"]).decode(), pair["mod_revision"], base64.b64decode(pair["value"]))
            )
    return found


def shown(cluster: str) -> dict[str, Any]:
    """The same objects as the API showed them, by uid and resourceVersion."""
    objects: dict[str, Any] = {}
    for line in (RECORDINGS / cluster / "http" / "etcd.jsonl").read_bytes().splitlines():
        answer = fast_json.loads(line)["response"]
        if not isinstance(answer, dict):
            continue
        head = {"kind": str(answer.get("kind")).removesuffix("List"), "apiVersion": answer.get("apiVersion")}
        for obj in answer.get("items") or [answer]:  # the items of a list say their kind only through the list
            metadata = obj.get("metadata", {})
            objects[f"{metadata.get('uid')}@{metadata.get('resourceVersion')}"] = {**head, **obj}
    return objects


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_recorded_value_read_and_written_again_is_the_same_bytes(cluster: str) -> None:
    pairs = recorded_pairs(cluster)
    assert len(pairs) >= 10
    differing = [
        key for key, revision, value in pairs if encode_value(decode_value(value, revision), PROTOBUF) != value
    ]
    assert differing == []


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_an_object_as_the_api_shows_it_becomes_the_bytes_that_etcd_held(cluster: str) -> None:
    objects, compared = shown(cluster), 0
    for key, revision, value in recorded_pairs(cluster):
        obj = decode_value(value, revision)
        answer = objects.get(f"{obj['metadata'].get('uid')}@{revision}")
        if answer is not None:
            assert encode_value(answer, PROTOBUF) == value, key
            compared += 1
    assert compared >= 5


def test_both_forms_are_read_whatever_is_written() -> None:
    obj = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "b", "uid": "c", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "data": {"k": "v"},
    }
    wanted = {**obj, "metadata": {**obj["metadata"], "resourceVersion": "7"}}
    for media_type, beginning in ((JSON, b"{"), (PROTOBUF, b"k8s\x00")):
        value = encode_value(wanted, media_type)
        assert value.startswith(beginning)
        assert decode_value(value, 7) == wanted
    assert b"resourceVersion" not in encode_value(wanted)


def test_an_encrypted_value_cannot_be_read_without_its_key() -> None:
    """Upstream: `identityTransformer.TransformFromStorage`, `storage/value/encrypt/identity/identity.go`."""
    with pytest.raises(UnreadableError, match=r"^identity transformer tried to read encrypted data$"):
        decode_value(b"k8s:enc:aescbc:v1:key1:\x00\x01", 7)


def test_custom_kinds_stay_json() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Crontab", "metadata": {"name": "a"}, "spec": {"any": [1, "thing"]}}
    value = encode_value(obj, PROTOBUF)
    assert fast_json.loads(value) == obj
    assert decode_value(value, 3)["metadata"]["resourceVersion"] == "3"


def test_the_store_in_this_process_keeps_json() -> None:
    async def main() -> None:
        assert storage_media_type(MemoryStore()) == JSON

    run_virtual(main())


def test_a_large_object_is_encoded_in_parts_and_is_the_same() -> None:
    data = {f"k{number}": "v" for number in range(5 * AT_ONCE)}
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "7"}, "data": data}
    with patch.object(fast_json, "dumps", wraps=fast_json.dumps) as dumps:
        value = encode_value(obj, size=LARGE + 1)
    assert value == encode_value(obj)
    pieces = [call.args[0] for call in dumps.call_args_list]
    assert not any("data" in piece for piece in pieces if isinstance(piece, dict))
    assert max(map(len, pieces)) <= AT_ONCE


@pytest.mark.parametrize("depth", range(245, 262))
def test_what_is_too_deep_is_refused_in_parts_as_in_one_piece(depth: int) -> None:
    """What could be stored and not be read again would make a list unreadable."""
    inner: Any = "x" * 20
    for _ in range(depth):
        inner = [inner]
    obj: Any = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": inner}

    def encoded(size: int) -> bytes | None:
        try:
            return encode_value(obj, size=size)
        except TypeError:
            return None

    assert encoded(0) == encoded(LARGE + 1)
