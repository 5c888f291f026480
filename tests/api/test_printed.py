"""The order in which Go prints an object: a struct's fields as they are declared, a map's keys as they sort."""

from __future__ import annotations

import json

from lifecycle.api.schema.printed import as_printed


def test_fields_stand_as_the_struct_has_them_and_keys_of_maps_in_order() -> None:
    obj = {
        "spec": {
            "containers": [{"image": "nginx", "name": "a", "env": [{"value": "v", "name": "n"}]}],
            "nodeSelector": {"b": "1", "a": "2"},
        },
        "metadata": {"labels": {"z": "1", "a": "2"}, "namespace": "ns", "name": "web"},
        "kind": "Pod",
        "apiVersion": "v1",
    }
    assert json.dumps(as_printed(obj, "v1", "Pod")) == json.dumps(
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": "web", "namespace": "ns", "labels": {"a": "2", "z": "1"}},
            "spec": {
                "containers": [{"name": "a", "image": "nginx", "env": [{"name": "n", "value": "v"}]}],
                "nodeSelector": {"a": "2", "b": "1"},
            },
        }
    )


def test_what_a_struct_does_not_know_is_not_printed_and_what_is_of_another_kind_stays() -> None:
    assert as_printed({"metadata": {"unknown": 1}, "spec": ["odd"]}, "v1", "Pod") == {"metadata": {}, "spec": ["odd"]}


def test_a_kind_without_a_struct_is_maps_all_the_way_down() -> None:
    obj = {"spec": {"b": [{"d": 1, "c": 2}], "a": "x"}, "kind": "Thing"}
    assert json.dumps(as_printed(obj, "example.org/v1", "Thing")) == json.dumps(
        {"kind": "Thing", "spec": {"a": "x", "b": [{"c": 2, "d": 1}]}}
    )
