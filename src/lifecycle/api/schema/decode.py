"""What the Go server makes of a JSON object.

Decoding is not neutral. Unknown fields are dropped (and reported), empty fields marked
`omitempty` vanish, empty structs appear (`status: {}`), quantities and times are
rewritten, keys come in the order of the Go struct, and a wrong type is refused with a
400 that names the struct. The result is the *normal form*: what encoding the decoded
object again would give. Two objects mean the same to the server exactly if their normal
forms are equal.

Each struct of `types.tsv` is compiled once into a plan: a dict from JSON name to a
decoder. Decoding then is one walk over what is there; paths are linked pairs, rendered
only when something is wrong.

Upstream: `sigs.k8s.io/json` (case-sensitive, strict errors collected),
`apimachinery/pkg/runtime/serializer/json/json.go`,
`apiserver/pkg/endpoints/handlers/rest.go` (`transformDecodeError`), v1.36. Left out:
nil and empty lists are told apart only as far as `omitempty` does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from lifecycle.api.go_json.decode import json_type, wrong_type
from lifecycle.api.resources import all_resources
from lifecycle.api.schema import scalars
from lifecycle.api.schema.gotypes import (
    GoField,
    alias_of,
    go_type_name,
    is_struct,
    json_fields,
    struct_for,
)
from lifecycle.api.status import StatusError, bad_request
from lifecycle.api.wire import Object

Path = tuple[Any, ...]  # (parent path, key or index); () is the root
Decoder = Callable[[Any, Path, "Findings"], Any]

_SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
_STRICT_LIMIT = 100


class Findings:
    """What went wrong on the way: strict errors, and the first wrong type (decoding
    goes on behind it, as in Go).
    """

    __slots__ = ("saved", "strict", "struct")

    def __init__(self) -> None:
        self.strict: list[str] = []
        self.saved = ""
        self.struct = ""

    def unknown(self, path: Path, key: str) -> None:
        """A field that no struct has."""
        message = f'unknown field "{render_path((path, key))}"'
        if len(self.strict) < _STRICT_LIMIT and message not in self.strict:
            self.strict.append(message)

    def wrong_type(self, value: Any, path: Path, type_: str) -> None:
        """A value that is not of the field's type."""
        if self.saved:
            return
        given = json_type(value)
        if given == "number" and type_ in ("int32", "int64", "int", "float64"):
            given = f"number {value!r}"
        struct, names = _struct_and_names(path)
        where = f"Go struct field {struct}.{names} of" if names else "Go value of"
        self.saved = (
            f"json: cannot unmarshal {given} into {where} type {go_type_name(type_)}"
        )


def render_path(path: Path) -> str:
    """A path as strict errors print it: `spec.containers[0].name`."""
    parts: list[str] = []
    while path:
        path, key = path[0], path[1]
        if isinstance(key, _Key):
            key = key.name
        parts.append(f"[{key}]" if type(key) is int else f".{key}")
    return "".join(reversed(parts)).removeprefix(".")


class _Key:
    """A struct field in a path, knowing the struct it belongs to."""

    __slots__ = ("name", "struct")

    def __init__(self, name: str, struct: str) -> None:
        self.name = name
        self.struct = struct


def _struct_and_names(path: Path) -> tuple[str, str]:
    struct = ""
    names: list[str] = []
    while path:
        path, key = path[0], path[1]
        if isinstance(key, _Key):
            struct = struct or key.struct
            names.append(key.name)
    return struct, ".".join(reversed(names))


def decode(
    obj: Any, api_version: str, kind: str, *, path: str = ""
) -> tuple[Object, list[str]]:
    """The normal form of an object sent for a kind, and the strict errors (`unknown
    field "spec.foo"`), in the order of the text.

    Returns a new object; the one given is not changed. `path` goes before the paths of
    strict errors. Custom resources (kinds that the version does not publish) come back
    as they are, except for their metadata. Raises StatusError 400 for a wrong type, a
    malformed leaf, or an object of another kind, with upstream's message.
    """
    _check_kind(obj, api_version, kind)
    struct = struct_for(api_version, kind)
    findings = Findings()
    root: Path = ()
    for part in filter(None, path.split(".")):
        root = (root, part)
    try:
        if struct is None:
            decoded = _custom(obj, root, findings)
        else:
            decoded = struct_decoder(struct)(obj, root, findings)
    except ValueError as error:
        raise cannot_be_handled(kind, api_version, kind, str(error)) from None
    if findings.saved:
        raise cannot_be_handled(kind, api_version, kind, findings.saved)
    if (
        struct is not None
        and not struct.startswith("meta/")
        and not ("kind" in decoded and "apiVersion" in decoded)
    ):
        decoded = {"kind": kind, "apiVersion": api_version, **decoded}
    return decoded, findings.strict


def cannot_be_handled(
    kind: str, api_version: str, wanted: str, why: str
) -> StatusError:
    """400: `Pod in version "v1" cannot be handled as a Pod: …`."""
    return bad_request(
        f'{kind} in version "{api_version.rpartition("/")[2]}" cannot be handled as a '
        f"{wanted}: {why}"
    )


def unrecognized(wanted: str) -> str:
    """How the refusal begins of what does not even say what it is."""
    return f"the object provided is unrecognized (must be of type {wanted}): "


def _check_kind(obj: Any, api_version: str, kind: str) -> None:
    if type(obj) is not dict:
        raise bad_request(
            f"{unrecognized(kind)}couldn't get version/kind; json parse error"
        )
    given_kind = obj.get("kind") or kind
    given_version = obj.get("apiVersion") or api_version
    if given_kind == kind and given_version == api_version:
        return
    for key in ("apiVersion", "kind"):
        if not isinstance(obj.get(key), str | None):
            why = wrong_type(obj[key], "string", f".{key}")
            raise bad_request(
                f"{unrecognized(kind)}couldn't get version/kind; json parse error: "
                f"{why}"
            )
    if struct_for(api_version, kind) is None or (
        struct_for(api_version, kind) or ""
    ).startswith("meta/"):
        return
    if not _is_registered(given_version, given_kind):
        why = (
            f'no kind "{given_kind}" is registered for version "{given_version}" in '
            f'scheme "{_SCHEME}"'
        )
        raise cannot_be_handled(given_kind, given_version, kind, why)
    if (
        given_kind != kind
        or given_version.rpartition("/")[0] != api_version.rpartition("/")[0]
    ):
        version = given_version.rpartition("/")[2]
        package = internal_package(api_version.rpartition("/")[0])
        why = (
            f"converting ({version}.{given_kind}) to ({package}.{kind}): unknown "
            "conversion"
        )
        raise cannot_be_handled(given_kind, given_version, kind, why)
    raise bad_request(
        f"the API version in the data ({given_version}) does not match the expected "
        f"API version ({api_version})"
    )


def internal_package(group: str) -> str:
    """The Go package of a group's internal types: named after the group, but for
    Events, of which there is only one type.
    """
    package = group.partition(".")[0] or "core"
    return "core" if package == "events" else package


@cache
def _is_registered(api_version: str, kind: str) -> bool:
    """Whether the scheme knows a kind: those with resources, their lists, and what goes
    with every version (options, Status).
    """
    if not any(row.api_version == api_version for row in all_resources()):
        return False
    struct = struct_for(api_version, kind)
    return struct is not None and {"kind", "apiVersion"} <= {
        field.json_name for field in json_fields(struct)
    }


def _custom(obj: Object, path: Path, findings: Findings) -> Object:
    decoded = dict(obj)
    meta = obj.get("metadata")
    decoded["metadata"] = struct_decoder("meta/v1.ObjectMeta")(
        {} if meta is None else meta, (path, "metadata"), findings
    )
    return decoded


def zero_value(struct: str) -> Object:
    """A struct as Go prints it when nothing is set:
    `zero_value("apps/v1.ReplicaSetStatus")` → `{"replicas": 0}`.
    """
    return _zero(struct)()


def normal_form(struct: str, value: Object) -> Object:
    """A value of a struct such as `autoscaling/v1.MetricSpec`, as decoding and encoding
    it would give. Raises ValueError.
    """
    findings = Findings()
    decoded: Object = struct_decoder(struct)(value, (), findings)
    if findings.saved:
        raise ValueError(findings.saved)
    return decoded


# --- plans ----------------------------------------------------------------------------


def _is_value_struct(type_: str) -> bool:
    """A struct held by value: Go prints it even when it is empty (unless
    `omitzero`).
    """
    return type_ in _SELF_DECODING or (is_struct(type_) and type_ not in _OPEN)


_SELF_DECODING: dict[str, Callable[[Any], Any]] = {
    "resource.Quantity": scalars.quantity,
    "meta/v1.Time": scalars.time,
    "meta/v1.MicroTime": scalars.micro_time,
    "meta/v1.Duration": scalars.duration,
}
_SELF_ZERO: dict[str, Any] = {"resource.Quantity": "0", "meta/v1.Duration": "0s"}
_OPEN = {
    "meta/v1.FieldsV1",
    "runtime.RawExtension",
    "apiextensions/v1.JSON",
    "apiextensions/v1.JSONSchemaPropsOrArray",
    "apiextensions/v1.JSONSchemaPropsOrBool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray",
}


@cache
def struct_decoder(name: str) -> Decoder:
    """The compiled decoder of a struct. Compiled lazily: a struct may hold itself
    (JSONSchemaProps).
    """
    short = name.rpartition(".")[2]
    fields: dict[str, tuple[int, _Key, Decoder | None, bool, GoField]] = {}
    always: list[tuple[str, GoField]] = []
    for index, field in enumerate(json_fields(name)):
        by_value = _is_value_struct(field.type) or field.type == "intstr.IntOrString"
        omit = field.omit_empty and not by_value and not field.type.startswith("*")
        fields[field.json_name] = (
            index,
            _Key(field.json_name, short),
            None,
            omit or field.omit_zero,
            field,
        )
        if not (field.omit_empty and not by_value) and not field.omit_zero:
            always.append((field.json_name, field))
    zeros: list[tuple[int, str, Callable[[], Any]]] = []

    def prepare() -> None:
        for json_name, (index, key, _, omit, field) in fields.items():
            fields[json_name] = (index, key, _decoder(field.type), omit, field)
        zeros.extend(
            (fields[json_name][0], json_name, _zero(field.type))
            for json_name, field in always
        )

    def decode_struct(value: Any, path: Path, findings: Findings) -> Any:
        if type(value) is not dict:
            findings.wrong_type(value, path, name)
            return {}
        if not prepared:
            prepared.append(True)
            prepare()
        out: dict[str, Any] = {}
        last = -1
        in_order = True
        for key, item in value.items():
            plan = fields.get(key)
            if plan is None:
                findings.unknown(path, key)
                continue
            if item is None:
                continue
            index, path_key, decoder, omit, _ = plan
            item = decoder(item, (path, path_key), findings)  # type: ignore[misc]
            if (omit and not item) or item is _NOTHING:
                continue
            out[key] = item
            if index < last:
                in_order = False
            last = index
        for index, key, make in zeros:
            if key not in out:
                out[key] = make()
                in_order = in_order and index > last
        if not in_order:
            out = dict(sorted(out.items(), key=lambda pair: fields[pair[0]][0]))
        return out

    prepared: list[bool] = []
    return decode_struct


def _zero(type_: str) -> Callable[[], Any]:
    """Makes the value that Go prints for a field that was not given and is not
    `omitempty`.
    """
    if type_.startswith(("*", "[]", "map[")):
        return lambda: None
    if type_ in _SELF_DECODING:
        constant = _SELF_ZERO.get(type_)
        return lambda: constant
    if type_ in _OPEN:
        return lambda: None
    alias = alias_of(type_)
    if alias is not None:
        return _zero(alias)
    if is_struct(type_):
        decoder = struct_decoder(type_)
        return lambda: decoder({}, (), Findings())
    constant = {"string": "", "types.UID": "", "bool": False}.get(type_, 0)
    if type_.startswith("interface"):
        constant = None
    return lambda: constant


@cache
def _decoder(type_: str) -> Decoder:
    if type_.startswith("*"):
        return _decoder(type_[1:])
    if type_.startswith("map["):
        return _map(
            type_,
            _decoder(type_[type_.index("]") + 1 :]),
            type_[type_.index("]") + 1 :],
        )
    if type_ == "[]byte":
        return _bytes
    if type_.startswith("[]"):
        return _list(type_, type_[2:])
    if type_ in _SELF_DECODING:
        parse = _SELF_DECODING[type_]
        return lambda value, path, findings: parse(value)
    if type_ == "intstr.IntOrString":
        return _int_or_string
    if type_ in _SCHEMA_OR:
        return _SCHEMA_OR[type_]
    if type_ in _OPEN or type_.startswith("interface"):
        return lambda value, path, findings: value
    alias = alias_of(type_)
    if alias is not None:
        return _named(type_, alias)
    if is_struct(type_):
        return struct_decoder(type_)
    return _scalar(type_, type_)


def _schema(value: Any, path: Path, findings: Findings) -> Any:
    """A schema below a type that decodes itself, which is never strict about unknown
    fields.
    """
    lenient = Findings()
    decoded = struct_decoder("apiextensions/v1.JSONSchemaProps")(value, path, lenient)
    findings.saved = findings.saved or lenient.saved
    return decoded


def _schema_or_array(value: Any, path: Path, findings: Findings) -> Any:
    """Anything but an object or an array is taken for nothing. Upstream:
    `JSONSchemaPropsOrArray.UnmarshalJSON`.
    """
    if type(value) is list:
        return [
            _schema({} if item is None else item, path, findings) for item in value
        ] or _NOTHING
    return _schema(value, path, findings) if type(value) is dict else _NOTHING


def _schema_or_bool(value: Any, path: Path, findings: Findings) -> Any:
    """Upstream: `JSONSchemaPropsOrBool.UnmarshalJSON`."""
    if type(value) not in (dict, bool):
        raise ValueError("boolean or JSON schema expected")
    return value if type(value) is bool else _schema(value, path, findings)


_NOTHING = object()
"""What a decoder gives that takes a value for none."""

_SCHEMA_OR: dict[str, Decoder] = {
    "apiextensions/v1.JSONSchemaPropsOrArray": _schema_or_array,
    "apiextensions/v1.JSONSchemaPropsOrBool": _schema_or_bool,
}


def _named(type_: str, alias: str) -> Decoder:
    if alias in ("string", "int32", "int64", "bool"):
        return _scalar(alias, type_)
    return _decoder(alias)


def _scalar(base: str, shown: str) -> Decoder:
    if base in ("string", "types.UID"):

        def decode_string(value: Any, path: Path, findings: Findings) -> Any:
            if type(value) is str:
                return value
            findings.wrong_type(value, path, shown)
            return ""

        return decode_string
    if base == "bool":

        def decode_bool(value: Any, path: Path, findings: Findings) -> Any:
            if value is True or value is False:
                return value
            findings.wrong_type(value, path, shown)
            return False

        return decode_bool
    if base == "float64":

        def decode_float(value: Any, path: Path, findings: Findings) -> Any:
            if type(value) is float or type(value) is int:
                return value
            findings.wrong_type(value, path, shown)
            return 0

        return decode_float
    limit = 1 << (31 if base == "int32" else 63)

    def decode_int(value: Any, path: Path, findings: Findings) -> Any:
        if type(value) is int and -limit <= value < limit:
            return value
        findings.wrong_type(value, path, shown)
        return 0

    return decode_int


def _int_or_string(value: Any, path: Path, findings: Findings) -> Any:
    if type(value) is str:
        return value
    if type(value) is int and -(1 << 31) <= value < 1 << 31:
        return value
    given = json_type(value)
    raise ValueError(
        f"json: cannot unmarshal {given}{f' {value!r}' if given == 'number' else ''} "
        "into Go value of type int32"
    )


def _bytes(value: Any, path: Path, findings: Findings) -> Any:
    if type(value) is not str:
        findings.wrong_type(value, path, "[]byte")
        return ""
    return scalars.base64_bytes(value)


def _list(type_: str, item_type: str) -> Decoder:
    pending: list[tuple[Decoder, Callable[[], Any]]] = []

    def decode_list(value: Any, path: Path, findings: Findings) -> Any:
        if type(value) is not list:
            findings.wrong_type(value, path, type_)
            return []
        if not pending:
            pending.append((_decoder(item_type), _zero(item_type)))
        decoder, zero = pending[0]
        return [
            decoder(item, (path, index), findings) if item is not None else zero()
            for index, item in enumerate(value)
        ]

    return decode_list


def _map(type_: str, decoder: Decoder, value_type: str) -> Decoder:
    # bytes that are null come back from the store as no bytes
    zero = (lambda: "") if value_type == "[]byte" else _zero(value_type)

    def decode_map(value: Any, path: Path, findings: Findings) -> Any:
        if type(value) is not dict:
            findings.wrong_type(value, path, type_)
            return {}
        return {
            key: decoder(item, (path, key), findings) if item is not None else zero()
            for key, item in value.items()
        }

    return decode_map
