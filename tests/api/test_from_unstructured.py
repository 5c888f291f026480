"""Decoded JSON into a struct and back, in the converter's words (`runtime/converter.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.schema.from_unstructured import from_unstructured


def service(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}


def converted(obj: dict[str, Any]) -> tuple[Any, list[str]]:
    return from_unstructured(obj, obj["apiVersion"], obj["kind"])


def test_an_object_comes_back_with_what_its_struct_has_and_the_rest_is_named() -> None:
    obj = service(type="ClusterIP", ports=[{"port": 80, "prt": 1}], selector={"a": "b"}, what=1)
    restored, unknown = converted(obj)
    assert restored["spec"] == {"type": "ClusterIP", "ports": [{"port": 80}], "selector": {"a": "b"}}
    assert unknown == ['unknown field "spec.ports[0].prt"', 'unknown field "spec.what"']


def test_a_kind_without_a_struct_comes_back_as_it_is() -> None:
    obj = {"apiVersion": "example.org/v1", "kind": "Thing", "spec": {"any": [1, "x"]}}
    assert converted(obj) == (obj, [])


@pytest.mark.parametrize(
    ("number", "kept"),
    [
        (2**31 - 1, 2**31 - 1), (-(2**31), -(2**31)), (2**31, -(2**31)), (-(2**31) - 1, 2**31 - 1), (2**32 + 5, 5),
        (80.0, 80), (1e30, 0),
    ],
)  # fmt: skip
def test_a_number_beyond_its_field_loses_its_upper_bits_as_gos_conversion_does(number: float, kept: int) -> None:
    restored, _ = converted(service(healthCheckNodePort=number))
    assert restored["spec"]["healthCheckNodePort"] == kept


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"type": 1}, "cannot convert int64 to v1.ServiceType"),
        ({"ports": {}}, "cannot restore slice from map"),
        ({"selector": []}, "cannot restore map from slice"),
        ({"selector": {"a": 1}}, "cannot convert int64 to string"),
        ({"publishNotReadyAddresses": "x"}, "unrecognized type: bool"),
        ({"healthCheckNodePort": 1.5}, "cannot convert float64 to int32"),
        ({"healthCheckNodePort": "80"}, "unrecognized type: int32"),
    ],
)
def test_a_value_of_another_kind_is_refused_in_the_converters_words(spec: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        converted(service(**spec))
