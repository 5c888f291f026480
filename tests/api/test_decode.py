"""Decoding: normal form, wrong types, unknown and duplicate fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.published import published, published_names
from lifecycle.api.schema import decode, find_duplicate_fields, internal_value, schema_for
from lifecycle.api.schema.duplicates import in_order_of_text
from lifecycle.api.schema.gotypes import alias_of, is_struct, json_fields
from lifecycle.api.schema.scalars import base64_bytes, duration, micro_time, time
from lifecycle.api.status import StatusError

RECORDINGS = Path(__file__).parents[2] / "recordings" / "kind-1.36.2"
_NOT_TYPED = ("Status", "Table", "PartialObjectMetadata", "PartialObjectMetadataList")


def recorded_objects() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def visit(value: Any) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("kind", "")
        if kind.endswith("List") and isinstance(value.get("items"), list):
            for item in value["items"]:
                visit(
                    {"kind": kind[:-4], "apiVersion": value["apiVersion"], **item} if isinstance(item, dict) else None
                )
        elif kind and value.get("apiVersion") and kind not in _NOT_TYPED:
            found.append(value)

    for name in ("objects", "journey", "storage", "services", "admission", "corpus", "kubelet"):
        for line in (RECORDINGS / "http" / f"{name}.jsonl").read_bytes().splitlines():
            row = fast_json.loads(line)
            if row["status"] in (200, 201):
                visit(row["response"])
    return found


def test_what_the_cluster_answered_is_in_normal_form_byte_for_byte() -> None:
    objects = recorded_objects()
    assert len(objects) > 1000
    for obj in objects:
        decoded, strict = decode(obj, obj["apiVersion"], obj["kind"])
        assert strict == []
        assert fast_json.dumps(decoded) == fast_json.dumps(obj)  # the same keys, in the same order


def test_the_table_of_go_types_and_the_published_openapi_have_the_same_fields() -> None:
    compared = 0
    for document in published_names("openapi/"):
        schemas = (published(document).get("components") or {}).get("schemas") or {}
        for name, schema in schemas.items():
            parts = name.split(".")
            if parts[:2] != ["io", "k8s"] or "properties" not in schema:
                continue
            go_name = f"{parts[-3]}/{parts[-2]}.{parts[-1]}"
            if not is_struct(go_name):
                assert parts[-1] in ("WatchEvent", "Info") or alias_of(go_name), name
                continue
            assert {field.json_name for field in json_fields(go_name)} == set(schema["properties"]), name
            compared += 1
    assert compared > 700


def pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            pod(hostNetwork="yes"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            pod(containers={}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            pod(nodeSelector={"a": 1}),
            "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeSelector of type string",
        ),
        (
            pod(priority=1 << 31),
            "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            pod(restartPolicy=1),
            "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            pod(securityContext=[]),
            "json: cannot unmarshal array into Go struct field PodSpec.spec.securityContext of type v1.PodSecurityContext",
        ),
        (
            {**pod(), "metadata": {"creationTimestamp": "yesterday"}},
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
    ],
)
def test_wrong_types_are_refused_with_the_path_of_go_structs(obj: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as refused:
        decode(obj, "v1", "Pod")
    assert refused.value.code == 400
    assert refused.value.message == f'Pod in version "v1" cannot be handled as a Pod: {message}'


def test_an_object_of_another_kind_is_an_unknown_conversion() -> None:
    with pytest.raises(StatusError) as refused:
        decode({"apiVersion": "v1", "kind": "Secret"}, "v1", "ConfigMap")
    rows = map(json.loads, (RECORDINGS / "http/storage.jsonl").read_bytes().splitlines())
    recorded = next(row for row in rows if row["note"] == "wrong kind")
    assert refused.value.status == recorded["response"]


def test_missing_kind_and_version_are_taken_from_the_endpoint() -> None:
    decoded, _ = decode({"metadata": {"name": "a"}}, "v1", "ConfigMap")
    assert decoded == {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}


def test_unknown_fields_are_dropped_and_reported_in_order() -> None:
    obj = pod(oops=1)
    obj["spec"]["containers"][0]["Image"] = "case matters"
    obj["extra"] = {}
    decoded, strict = decode(obj, "v1", "Pod")
    assert strict == ['unknown field "spec.containers[0].Image"', 'unknown field "spec.oops"', 'unknown field "extra"']
    assert "oops" not in decoded["spec"]


def test_normal_form_drops_what_is_empty_and_shows_what_go_always_shows() -> None:
    obj = {
        "metadata": {"name": "d", "creationTimestamp": None, "labels": {}},
        "spec": {"paused": False, "replicas": 0, "template": {"spec": {"containers": [{"name": "c"}], "volumes": []}}},
    }
    decoded, _ = decode(obj, "apps/v1", "Deployment")
    assert decoded["metadata"] == {"name": "d"}
    assert decoded["spec"] == {
        "replicas": 0,
        "selector": None,
        "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}},
        "strategy": {},
    }
    assert decoded["status"] == {}


def test_quantities_and_times_are_rewritten() -> None:
    obj = pod()
    obj["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1000m", "memory": 1024}}
    obj["metadata"]["creationTimestamp"] = "2026-01-01T02:00:00+02:00"
    decoded, _ = decode(obj, "v1", "Pod")
    assert decoded["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1024"}
    assert decoded["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


def test_scalars_speak_go() -> None:
    assert duration("90s") == "1m30s"
    assert micro_time("2026-01-01T00:00:00.000000Z") == "2026-01-01T00:00:00.000000Z"
    assert time("0001-01-01T00:00:00Z") is None
    assert base64_bytes("aGVs\nbG8=") == "aGVsbG8="
    with pytest.raises(ValueError, match=r"illegal base64 data at input byte 4$"):
        base64_bytes("aGVs!")


def test_the_year_of_an_old_time_has_four_digits() -> None:
    assert micro_time("0001-01-01T00:00:02.000000Z") == "0001-01-01T00:00:02.000000Z"
    assert time("0999-12-31T23:59:59Z") == "0999-12-31T23:59:59Z"


def test_duplicate_fields_are_found_in_the_text() -> None:
    body = b'{"kind":"Pod","spec":{"a":1,"b":[{"c":1,"c":2}],"a":2},"url":"http://x:1"}'
    assert find_duplicate_fields(body) == ['duplicate field "spec.b[0].c"', 'duplicate field "spec.a"']
    assert find_duplicate_fields(b'{"a":"b:c"}') == []
    assert find_duplicate_fields(b"{not json") == []


def test_a_schema_knows_how_lists_are_merged() -> None:
    spec = schema_for("apps/v1", "Deployment").fields["spec"].fields["template"].fields["spec"]
    containers = spec.fields["containers"]
    assert (containers.kind, containers.list_type, containers.list_map_keys) == ("list", "map", ("name",))
    assert (containers.patch_merge_key, containers.patch_strategy) == ("name", ("merge",))
    assert containers.items is not None
    assert containers.items.fields["ports"].key_defaults == {"containerPort": 0, "protocol": "TCP"}
    assert spec.fields["nodeSelector"].map_type == "atomic"
    assert schema_for("v1", "ConfigMap").fields["data"].values is not None
    assert schema_for("v1", "Pod").fields["spec"] is not None
    with pytest.raises(KeyError):
        schema_for("v1", "Nonsense")


def test_internal_types_show_every_field_under_its_go_name() -> None:
    shown = internal_value("core/v1.ServicePort", {"protocol": "UDP", "port": 53})
    assert shown == {"Name": "", "Protocol": "UDP", "AppProtocol": None, "Port": 53, "TargetPort": 0, "NodePort": 0}


def test_maps_of_internal_types_are_shown_in_the_order_of_their_keys_as_go_prints_them() -> None:
    metadata = {
        "annotations": {"b": "", "a": "1"},
        "labels": {"job-name": "one", "batch.kubernetes.io/job-name": "one"},
    }
    shown = internal_value("core/v1.PodTemplateSpec", {"metadata": metadata})
    assert list(shown)[:2] == ["labels", "annotations"]
    assert (list(shown["labels"]), list(shown["annotations"])) == (
        ["batch.kubernetes.io/job-name", "job-name"],
        ["a", "b"],
    )
    selector = {
        "matchExpressions": [{"values": ["x"], "operator": "In", "key": "k"}],
        "matchLabels": {"b": "2", "a": "1"},
    }
    text = fast_json.dumps(internal_value("meta/v1.LabelSelector", selector))
    assert text == (
        b'{"matchLabels":{"a":"1","b":"2"},"matchExpressions":[{"key":"k","operator":"In","values":["x"]}]}'
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "1", "100m", "2026-01-01T00:00:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "spec", "containers", "metadata", "labels", "ports", "resources", "limits"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), _json))
def test_normal_form_is_a_fixed_point_of_any_input_that_is_accepted(obj: dict[str, Any]) -> None:
    try:
        once, _ = decode(obj, "v1", "Pod")
    except StatusError:
        return
    twice, strict = decode(once, "v1", "Pod")
    assert strict == []
    assert fast_json.dumps(twice) == fast_json.dumps(once)


@pytest.mark.parametrize(
    ("text", "rest", "part"),
    [
        ("2026-01-01T00:00:00Z", "Z", ".000000"),
        ("2026-01-01T00:00:00.123Z", ".123Z", ".000000"),
        ("2026-01-01T00:00:00.12345xZ", "Z", ".000000"),
        ("2026-01-01T00:00:00.123456789Z", "789Z", "Z07:00"),
        ("2026-01-01T00:00:00.123456", "", "Z07:00"),
        ("2026-01-01", "", "T"),
    ],
)
def test_a_micro_time_has_six_digits(text: str, rest: str, part: str) -> None:
    with pytest.raises(ValueError, match="parsing time") as refused:
        micro_time(text)
    layout = "2006-01-02T15:04:05.000000Z07:00"
    assert str(refused.value) == f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{part}"'


def test_unknown_and_duplicate_fields_are_told_in_the_order_of_the_text() -> None:
    body = b'{"z": [{"a": 1, "a": 2, "b": 1}], "spec": {"unknown": 1, "replicas": 1, "replicas": 2}}'
    text = [
        'duplicate field "z[0].a"',
        'unknown field "z[0].b"',
        'unknown field "spec.unknown"',
        'duplicate field "spec.replicas"',
    ]
    assert in_order_of_text(body, [text[0], text[3], text[2], text[1]]) == text
    assert in_order_of_text(b"a: 1", text) == text  # YAML's are in order
