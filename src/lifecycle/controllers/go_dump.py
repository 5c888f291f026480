"""A value as Go would print it: the text that Kubernetes hashes.

The hash of a pod template is not taken over its JSON, but over the printed form of the
Go struct: every field in declared order, with its type, set or not, on one line.
`{"name": "a"}` as a container begins with `{Name:(string)a Image:(string)
Command:([]string)<nil> …`. So the hash depends on the Go declarations of the very
version that runs: a field added to PodSpec in a new release changes every hash (which
is why a controller finds "its" ReplicaSet by comparing templates, and uses the hash
only for naming new ones).

The rules of the printer are those of go-spew's `%#v` with methods off, keys sorted and
addresses hidden:

* a value is preceded by its type in parentheses, unless it is an element of a slice or
  map;
* a pointer's type carries a star per level; a nil pointer, slice or map is `<nil>`;
* a struct is `{Name:value …}`, a slice `[value …]`, a map `map[key:value …]`.

Upstream: `k8s.io/utils/dump/dump.go` (`ForHash`),
`github.com/davecgh/go-spew/spew/format.go`; the declarations are those of
`lifecycle.api.schema.gotypes`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.quantity import (
    BINARY_EXPONENTS,
    DECIMAL_EXPONENTS,
    parse_quantity,
)
from lifecycle.api.schema.gotypes import (
    alias_of,
    declared_fields,
    go_type_name,
    split_type,
)

NIL = "<nil>"
ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"


def dump_for_hash(go_type: str, value: Any) -> str:
    """The printed form of a JSON value taken as a Go type such as
    `core/v1.PodTemplateSpec`.
    """
    return _print(go_type, value, typed=True)


def _print(go_type: str, value: Any, *, typed: bool) -> str:
    if go_type.startswith("*"):
        if value is None:
            return f"({go_type_name(go_type)}){NIL}" if typed else NIL
        head = f"({go_type_name(go_type)})" if typed else "<*>"
        return head + _print(go_type[1:], value, typed=False)
    head = f"({go_type_name(go_type)})" if typed else ""
    return head + _value(go_type, value)


def _value(go_type: str, value: Any) -> str:
    if go_type.startswith("[]"):
        if (
            value is None or value == []
        ):  # an empty list does not survive the wire: it arrives as nil
            return NIL
        return (
            "["
            + " ".join(_print(go_type[2:], item, typed=False) for item in value)
            + "]"
        )
    if go_type.startswith("map["):
        if not value:
            return NIL
        element = go_type[go_type.index("]") + 1 :]
        return (
            "map["
            + " ".join(
                f"{key}:{_print(element, value[key], typed=False)}"
                for key in sorted(value)
            )
            + "]"
        )
    special = _SPECIAL.get(go_type)
    if special is not None:
        return special(value)
    alias = alias_of(go_type)
    if alias is not None:
        return _value(alias, value)
    if split_type(go_type)[1] in _SCALARS:
        return _scalar(go_type, value)
    fields = []
    given = value or {}
    for field in declared_fields(go_type):
        inner = given if field.inline else given.get(field.json_name)
        fields.append(f"{field.go_name}:{_print(field.type, inner, typed=True)}")
    return "{" + " ".join(fields) + "}"


_SCALARS = frozenset(
    {"string", "bool", "int", "int32", "int64", "uint8", "float64", "types.UID"}
)


def _scalar(go_type: str, value: Any) -> str:
    if go_type == "bool":
        return "true" if value else "false"
    if go_type in ("string", "types.UID"):
        return value or ""
    return str(value or 0)


def _int_or_string(value: Any) -> str:
    if isinstance(value, str):
        return f"{{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string){value}}}"
    return f"{{Type:(intstr.Type)0 IntVal:(int32){value or 0} StrVal:(string)}}"


def _time(value: Any) -> str:
    """Times are never set in a template; one that is prints as the zero time (the
    seconds of Go's inner form are left out).
    """
    return ZERO_TIME


def _quantity(value: Any) -> str:
    """A quantity after its journey over the wire: canonical text, a scaled integer, and
    whether Go kept the text.
    """
    if value is None:
        return _quantity_struct(0, 0, "", "")
    text = str(parse_quantity(str(value)))
    if text == "0":
        return _quantity_struct(0, 0, "0", "DecimalSI")
    number = text.rstrip("numkMGTPEi")
    suffix = text[len(number) :]
    digits, _, fraction = number.lstrip("-").partition(".")
    sign = -1 if number.startswith("-") else 1
    if suffix in BINARY_EXPONENTS:
        exponent = BINARY_EXPONENTS[suffix]
        keep = int(digits) & 7 != 0
        return _quantity_struct(
            sign * (int(digits) << exponent), 0, text if keep else "", "BinarySI"
        )
    exponent = DECIMAL_EXPONENTS[suffix]
    scale, shifted = exponent - len(fraction), digits + fraction
    keep = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    return _quantity_struct(
        sign * int(shifted), scale, text if keep else "", "DecimalSI"
    )


def _quantity_struct(value: int, scale: int, text: str, form: str) -> str:
    amount = (
        f"i:(resource.int64Amount){{value:(int64){value}"
        f" scale:(resource.Scale){scale}}}"
    )
    return (
        f"{{{amount} d:(resource.infDecAmount){{Dec:(*inf.Dec){NIL}}} s:(string){text}"
        f" Format:(resource.Format){form}}}"
    )


_SPECIAL = {
    "resource.Quantity": _quantity,
    "intstr.IntOrString": _int_or_string,
    "meta/v1.Time": _time,
    "meta/v1.MicroTime": _time,
}
