"""The protobuf codec against bytes that a real API server wrote, kubectl sent and etcd kept."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.protobuf import MAGIC, decode, decode_watch_frames, encode, encode_watch_frame, is_supported
from lifecycle.api.protobuf.decoder import decoder
from lifecycle.api.protobuf.encoder import encoder
from lifecycle.api.protobuf.fields import messages
from lifecycle.api.protobuf.leaves import LEAVES
from lifecycle.api.resources import all_resources
from tests.conftest import RECORDINGS

CLUSTERS = ["kind-1.36.2", "kind-1.36.2-again"]


def exchanges(cluster: str, scenario: str) -> list[dict[str, Any]]:
    path = RECORDINGS / cluster / "http" / f"{scenario}.jsonl"
    return [fast_json.loads(line) for line in path.read_bytes().splitlines()]


def etcd_values(cluster: str) -> list[tuple[str, int, bytes]]:
    """Every recorded key with its mod revision and value: several JSON documents in each file."""
    found = []
    for path in sorted((RECORDINGS / cluster / "etcd").glob("*.json")):
        text, position, parser = path.read_text(), 0, json.JSONDecoder()
        while position < len(text.rstrip()):
            document, position = parser.raw_decode(text, position)
            position += len(text[position:]) - len(text[position:].lstrip())
            for pair in document.get("kvs", ()) if isinstance(document, dict) else ():
                value = base64.b64decode(pair.get("value", ""))
                found.append((base64.b64decode(pair["key"]).decode(), pair["mod_revision"], value))
    return found


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Everything in an answer that has a kind, and the items of lists, which say theirs only through the list."""
    if isinstance(node, dict) and node.get("apiVersion") and node.get("kind"):
        yield node
        for item in node.get("items") or ():
            if node["kind"].endswith("List"):
                yield {"kind": node["kind"][:-4], "apiVersion": node["apiVersion"], **item}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_recorded_etcd_value_comes_back_byte_for_byte(cluster: str) -> None:
    values = [(key, value) for key, _, value in etcd_values(cluster) if value.startswith(MAGIC)]
    assert len(values) >= 20
    assert [key for key, value in values if encode(decode(value)) != value] == []


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_etcd_keeps_is_what_the_api_shows_but_for_the_revision(cluster: str) -> None:
    stored = {revision: decode(value) for _, revision, value in etcd_values(cluster) if value.startswith(MAGIC)}
    compared = 0
    for exchange in exchanges(cluster, "etcd"):
        for shown in objects(exchange["response"]):
            revision = shown["metadata"].get("resourceVersion")
            if shown["kind"].endswith("List") or not revision or int(revision) not in stored:
                continue
            metadata = {key: value for key, value in shown["metadata"].items() if key != "resourceVersion"}
            assert {**shown, "metadata": metadata} == stored[int(revision)]
            compared += 1
    assert compared >= 5


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_protobuf_answer_is_the_json_answer_encoded(cluster: str) -> None:
    """The storage scenario reads one ConfigMap as PartialObjectMetadata, as YAML and as protobuf, unchanged in between."""
    storage = {exchange["note"]: exchange for exchange in exchanges(cluster, "storage")}
    recorded = base64.b64decode(storage["protobuf"]["response"]["base64"])
    decoded = decode(recorded)
    assert decoded["metadata"] == storage["PartialObjectMetadata"]["response"]["metadata"]
    assert encode(decoded) == recorded


def hex_dumps(path: Path) -> list[bytes]:
    """The bodies that kubectl -v=9 dumped in full."""
    dumps: list[bytearray] = []
    for line in path.read_text().splitlines():
        match = re.search(r"([0-9a-f]{8})  ((?:[0-9a-f]{2} {1,2})+)", line)
        if match:
            if match[1] == "00000000":
                dumps.append(bytearray())
            if len(dumps[-1]) == int(match[1], 16):
                dumps[-1] += bytes.fromhex(match[2])
    return [bytes(dump) for dump in dumps]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_kubectl_creates_a_deployment_in_protobuf_and_ours_reads_and_writes_the_same(cluster: str) -> None:
    request, answer = hex_dumps(RECORDINGS / cluster / "kubectl" / "01-create.txt")
    sent = decode(request)
    assert encode(sent) == request
    assert sent["spec"]["replicas"] == 3
    assert sent["spec"]["template"]["spec"]["containers"] == [{"name": "nginx", "image": "nginx:1.27", "resources": {}}]
    assert sent["status"] == {}
    assert encode(decode(answer)) == answer


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize(
    "scenario", ["objects", "journey", "kubelet", "services", "corpus", "scheduling", "storage", "admission", "authn"]
)
def test_every_recorded_object_survives_the_round_trip(cluster: str, scenario: str) -> None:
    lost, seen = [], 0
    for exchange in exchanges(cluster, scenario):
        for obj in objects(exchange["response"]):
            if is_supported(obj["apiVersion"], obj["kind"]):
                seen += 1
                if decode(encode(obj)) != obj:
                    lost.append((exchange["n"], obj["kind"]))
    assert seen > 15
    assert lost == []


def test_watch_events_travel_in_frames() -> None:
    events = [
        (event["event"]["type"], event["event"]["object"])
        for event in map(
            fast_json.loads, (RECORDINGS / CLUSTERS[0] / "watch" / "journey.jsonl").read_bytes().splitlines()
        )
    ]
    assert len(events) > 100
    stream = b"".join(encode_watch_frame(type, obj) for type, obj in events)
    assert decode_watch_frames(stream) == (events, b"")
    some, rest = decode_watch_frames(stream[:-1])
    assert some == events[:-1]
    assert decode_watch_frames(rest + stream[-1:]) == (events[-1:], b"")


def test_a_frame_is_four_bytes_of_length_and_a_bare_event() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410}
    frame = encode_watch_frame("ERROR", status)
    assert frame[:4] == (len(frame) - 4).to_bytes(4, "big")
    assert frame[4:11] == b"\x0a\x05ERROR"
    assert encode(status) in frame


def test_every_kind_of_discovery_has_a_message() -> None:
    missing = {(r.api_version, r.kind) for r in all_resources() if not is_supported(r.api_version, r.kind)}
    missing |= {
        (f"{s.group}/{s.version}".lstrip("/"), s.kind)
        for r in all_resources()
        for s in r.subresources
        if not is_supported(f"{s.group}/{s.version}".lstrip("/"), s.kind)
    }
    # What exec, attach, port-forward and proxy take is read from the query and never encoded.
    assert {kind for _, kind in missing} <= {
        "PodAttachOptions", "PodExecOptions", "PodPortForwardOptions", "PodProxyOptions", "NodeProxyOptions", "ServiceProxyOptions",
    }  # fmt: skip
    assert is_supported("v1", "PodList")
    assert is_supported("v1", "Status")
    assert is_supported("policy/v1", "DeleteOptions")
    assert is_supported("meta.k8s.io/v1", "PartialObjectMetadataList")
    assert not is_supported("meta.k8s.io/v1", "Table")
    assert not is_supported("example.org/v1", "Widget")


def test_every_message_compiles_and_reads_its_own_empty_form() -> None:
    for message in messages():
        empty = decoder(message)(b"")
        written = encoder(message)(empty)
        assert encoder(message)(decoder(message)(written)) == written


def test_plain_values_are_always_written_and_pointers_only_when_set() -> None:
    assert encoder("core/v1.EnvVar")({"name": "A"}) == b"\x0a\x01A\x12\x00"
    assert encoder("meta/v1.DeleteOptions")({"orphanDependents": False}) == b"\x18\x00"
    assert encoder("meta/v1.DeleteOptions")({}) == b""


def test_json_shows_what_go_would_show_although_nothing_was_sent() -> None:
    pod = decode(encode({"kind": "Pod", "apiVersion": "v1"}))
    assert pod == {"kind": "Pod", "apiVersion": "v1", "metadata": {}, "spec": {"containers": None}, "status": {}}
    role = decode(encode({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1"}))
    assert role["rules"] is None
    assert decode(encode({"kind": "PodList", "apiVersion": "v1", "items": []}))["items"] == []


def test_maps_are_written_in_the_order_of_their_keys() -> None:
    one = {"kind": "ConfigMap", "apiVersion": "v1", "data": {"b": "2", "a": "1"}}
    two = {"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "1", "b": "2"}}
    assert encode(one) == encode(two)


def test_a_definition_with_every_kind_of_union_survives() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "string", "default": "x"}},
            "b": {"type": "object", "additionalProperties": {"type": "integer", "maximum": 5, "minimum": 0.5}},
            "c": {"type": "object", "additionalProperties": False, "x-kubernetes-preserve-unknown-fields": True},
            "d": {"enum": ["x", 1, None, {"k": []}]},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    version["subresources"] = {"status": {}}
    definition = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [version],
        },
        "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None},
    }  # fmt: skip
    assert decode(encode(definition)) == definition


def test_negative_numbers_and_old_times_survive() -> None:
    pod = {
        "kind": "Pod", "apiVersion": "v1", "metadata": {"deletionTimestamp": "1969-12-31T23:59:59Z"},
        "spec": {"containers": None, "priority": -1000, "activeDeadlineSeconds": -1}, "status": {},
    }  # fmt: skip
    assert decode(encode(pod)) == pod


def test_the_first_seconds_of_the_calendar_survive() -> None:
    lease = {
        "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": "l", "deletionTimestamp": "0001-01-01T00:00:03Z"},
        "spec": {"acquireTime": "0001-01-01T00:00:02.000000Z"},
    }  # fmt: skip
    assert decode(encode(lease)) == lease


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty data"),
        (b'{"kind":"Pod"}', "does not appear to be a protobuf message"),
        (MAGIC, "empty body"),
        (MAGIC + b"\x0a\xff", "unexpected EOF"),
        (MAGIC + b"\x0a\x00", "Object 'Kind' is missing"),
        (encode({"kind": "Pod", "apiVersion": "v1"}).replace(b"Pod", b"Pad"), 'no kind "Pad" is registered'),
        (MAGIC + b"\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x02\x0a\x7f", "unexpected EOF"),
        (MAGIC + b"\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x02\x08\x7f", "wrong wireType = 0 for field metadata"),
    ],
)
def test_malformed_bytes_are_refused_with_a_reason(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(data)


def test_an_object_that_is_cut_short_ends_unexpectedly_except_between_its_parts() -> None:
    whole = encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"k": "v"}})
    reasons: list[str] = []
    for length in range(len(MAGIC) + 1, len(whole)):
        try:
            assert decode(whole[:length])["kind"] == "ConfigMap"
        except ValueError as error:
            reasons.append(str(error))
    assert set(reasons) == {"unexpected EOF"}
    assert len(whole) - len(MAGIC) - 1 - len(reasons) == 3, "behind its type, its bytes and their encoding it may end"


def test_values_of_the_wrong_type_are_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="Pod cannot be encoded to protobuf"):
        encode({"kind": "Pod", "apiVersion": "v1", "spec": {"priority": "high"}})
    with pytest.raises(ValueError, match=r"meta\.k8s\.io/v1, Kind=Table has no protobuf encoding$"):
        encode({"kind": "Table", "apiVersion": "meta.k8s.io/v1"})


POD = next(
    obj
    for exchange in exchanges(CLUSTERS[0], "objects")
    for obj in objects(exchange["response"])
    if obj["kind"] == "Pod"
)


@settings(max_examples=300, deadline=None)
@given(st.integers(min_value=4, max_value=len(encode(POD)) - 1), st.integers(min_value=0, max_value=255))
def test_damage_is_refused_or_read_but_never_crashes(position: int, byte: int) -> None:
    whole = encode(POD)
    with contextlib.suppress(ValueError):
        decode(whole[:position] + bytes([byte]) + whole[position + 1 :])
    with contextlib.suppress(ValueError):
        decode(whole[:position])


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=200), min_size=1, max_size=5),
    st.dictionaries(st.text(max_size=8), st.binary(max_size=200), min_size=1, max_size=5),
)
def test_any_config_map_survives(data: dict[str, str], binary: dict[str, bytes]) -> None:
    obj = {
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": data,
        "binaryData": {key: base64.b64encode(value).decode() for key, value in binary.items()},
    }  # fmt: skip
    assert decode(encode(obj)) == obj


@pytest.mark.parametrize(
    ("message", "value"),
    [
        (b"", None),
        (b"\x0a\x00", None),
        (b"\x0a\x011", 1),
        (b"\x12\x012", None),  # only a field that nobody knows
        (b"\x12\x012\x0a\x011", 1),
        (b"\x0a\x011\x12\x012", 1),
    ],
)
def test_a_raw_extension_is_its_first_field_whatever_else_is_inside(message: bytes, value: object) -> None:
    assert LEAVES["RawExtension"][1](message) == value
