"""What Go makes of a null in a list or a map, and of nothing at all: the zero value of the type, as it prints it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.schema.decode_state import DecodeState
from lifecycle.api.schema.struct_decoder import decoder_for, decodes_itself, normal_form, zero_value


def decoded(type_: str, value: Any) -> tuple[Any, str]:
    state = DecodeState()
    return decoder_for(type_)(value, (), state), state.saved


@pytest.mark.parametrize(
    ("item", "zero"),
    [
        ("string", ""), ("types.UID", ""), ("bool", False), ("int32", 0), ("int64", 0), ("float64", 0), ("*string", None),
        ("[]string", None),
        ("map[string]string", None), ("resource.Quantity", "0"), ("meta/v1.Duration", "0s"), ("meta/v1.Time", None),
        ("meta/v1.MicroTime", None),
        ("runtime.RawExtension", None), ("apiextensions/v1.JSON", None), ("interface{}", None), ("core/v1.Protocol", ""),
        ("core/v1.ResourceList", None),
        ("core/v1.LocalObjectReference", {}), ("core/v1.ContainerPort", {"containerPort": 0}), ("core/v1.EnvVar", {"name": ""}),
        ("authentication/v1.ExtraValue", None),
    ],
)  # fmt: skip
def test_a_null_between_others_is_the_types_zero(item: str, zero: Any) -> None:
    assert decoded(f"[]{item}", [None]) == ([zero], "")
    assert decoded(f"map[string]{item}", {"a": None}) == ({"a": zero}, "")
    assert type(decoded(f"[]{item}", [None])[0][0]) is type(zero)


@pytest.mark.parametrize(
    ("type_", "value", "becomes", "wrong"),
    [
        ("int32", 2**31 - 1, 2**31 - 1, ""), ("int32", 2**31, 0, "number 2147483648 into Go value of type int32"),
        ("int32", -(2**31), -(2**31), ""), ("int32", -(2**31) - 1, 0, "number -2147483649 into Go value of type int32"),
        ("int64", 2**63 - 1, 2**63 - 1, ""), ("int64", 2**63, 0, "number 9223372036854775808 into Go value of type int64"),
        ("int64", 1.5, 0, "number 1.5 into Go value of type int64"), ("int64", True, 0, "bool into Go value of type int64"),
        ("float64", 1, 1, ""), ("float64", 1.5, 1.5, ""), ("float64", "1", 0, "string into Go value of type float64"),
        ("bool", True, True, ""), ("bool", 1, False, "number into Go value of type bool"),

        ("string", "a", "a", ""), ("string", 1, "", "number into Go value of type string"),
        ("[]string", {}, [], "object into Go value of type []string"),
        ("map[string]string", [], {}, "array into Go value of type map[string]string"), ("[]byte", "YQ==", "YQ==", ""),
        ("[]byte", [97, None, 255], "YQD/", ""), ("[]byte", [256], "AA==", "number 256 into Go value of type uint8"),
        ("[]byte", [-1], "AA==", "number -1 into Go value of type uint8"), ("[]byte", {}, "", "object into Go value of type []uint8"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_remembered_and_taken_for_nothing(
    type_: str, value: Any, becomes: Any, wrong: str
) -> None:
    found, saved = decoded(type_, value)
    assert found == becomes
    assert saved == (f"json: cannot unmarshal {wrong}" if wrong else "")


def test_only_the_first_wrong_type_is_told() -> None:
    state = DecodeState()
    decoder_for("map[string]string")({"b": 1, "a": []}, (), state)
    assert state.saved == "json: cannot unmarshal number into Go value of type string"


@pytest.mark.parametrize(
    ("value", "taken"),
    [(80, True), (-(2**31), True), (2**31 - 1, True), ("http", True), (2**31, False), (1.5, False), (True, False)],
)
def test_a_number_or_a_text(value: Any, taken: bool) -> None:
    if taken:
        assert decoded("intstr.IntOrString", value) == (value, "")
    else:
        with pytest.raises(ValueError, match=r"^json: cannot unmarshal .* into Go value of type int32$"):
            decoded("intstr.IntOrString", value)


def test_which_types_read_themselves() -> None:
    themselves = {
        "resource.Quantity", "meta/v1.Time", "meta/v1.MicroTime", "meta/v1.Duration", "intstr.IntOrString", "runtime.RawExtension",
        "apiextensions/v1.JSON", "meta/v1.FieldsV1",
    }  # fmt: skip
    assert all(decodes_itself(type_) for type_ in themselves)
    assert not any(decodes_itself(type_) for type_ in ("string", "core/v1.PodSpec", "core/v1.Protocol", "[]string"))


def test_nothing_is_printed_with_what_go_always_prints() -> None:
    assert zero_value("apps/v1.ReplicaSetStatus") == {"replicas": 0}
    assert zero_value("core/v1.Container") == {"name": "", "resources": {}}
    assert normal_form("core/v1.ContainerPort", {"protocol": "TCP", "containerPort": 1, "hostPort": 0}) == {
        "containerPort": 1,
        "protocol": "TCP",
    }
    with pytest.raises(
        ValueError,
        match=r"json: cannot unmarshal string into Go struct field ContainerPort\.containerPort of type int32$",
    ):
        normal_form("core/v1.ContainerPort", {"containerPort": "1"})
