"""What the Go server makes of a JSON object.

Decoding is not neutral. Unknown fields are dropped (and reported), empty fields marked
`omitempty` vanish, empty structs appear (`status: {}`), quantities and times are
rewritten, keys come in the order of the Go struct, and a wrong type is refused with a
400 that names the struct. The result is the *normal form*: what encoding the decoded
object again would give. Two objects mean the same to the server exactly if their normal
forms are equal.

Upstream: `sigs.k8s.io/json` (case-sensitive, strict errors collected),
`apimachinery/pkg/runtime/serializer/json/json.go`,
`apiserver/pkg/endpoints/handlers/rest.go` (`transformDecodeError`), v1.36. Left out:
nil and empty lists are told apart only as far as `omitempty` does.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import all_resources
from lifecycle.api.schema.decode_state import DecodeState, Path
from lifecycle.api.schema.gotypes import json_fields, struct_for
from lifecycle.api.schema.struct_decoder import struct_decoder
from lifecycle.api.status import StatusError, bad_request

_SCHEME = "pkg/api/legacyscheme/scheme.go:30"


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
    state = DecodeState()
    root: Path = ()
    for part in filter(None, path.split(".")):
        root = (root, part)
    try:
        if struct is None:
            decoded = _custom(obj, root, state)
        else:
            decoded = struct_decoder(struct)(obj, root, state)
    except ValueError as error:
        raise CannotBeHandledError(kind, api_version, kind, str(error)) from None
    if state.saved:
        raise CannotBeHandledError(kind, api_version, kind, state.saved)
    if (
        struct is not None
        and not struct.startswith("meta/")
        and not ("kind" in decoded and "apiVersion" in decoded)
    ):
        bare, decoded = decoded, {"kind": kind, "apiVersion": api_version, **decoded}
        state.empties = [
            (decoded, *empty[1:]) if empty[0] is bare else empty
            for empty in state.empties
        ]
    state.strict.empties = state.empties
    return decoded, state.strict


class CannotBeHandledError(StatusError):
    """400: `Pod in version "v1" cannot be handled as a Pod: …`. `why`: what follows."""

    def __init__(
        self, kind: str, api_version: str, required_kind: str, why: str
    ) -> None:
        version = api_version.rpartition("/")[2]
        refusal = bad_request(
            f'{kind} in version "{version}" cannot be handled as a {required_kind}: '
            f"{why}"
        )
        super().__init__(refusal.status)
        self.why = why


class UnrecognizedError(StatusError):
    """400 for what does not even say what it is. `why`: what follows that."""

    def __init__(self, required_kind: str, why: str) -> None:
        refusal = bad_request(
            f"the object provided is unrecognized (must be of type {required_kind}): "
            f"{why}"
        )
        super().__init__(refusal.status)
        self.why = why


class NoKindError(StatusError):
    """400 for a custom object that does not say its kind. `why`: in the words of who
    reads it.
    """

    def __init__(self, raw: str) -> None:
        self.why = f"Object 'Kind' is missing in '{raw}'"
        super().__init__(bad_request(self.why).status)


def _check_kind(obj: Any, api_version: str, kind: str) -> None:
    if type(obj) is not dict:
        raise UnrecognizedError(kind, "couldn't get version/kind; json parse error")
    actual_kind = obj.get("kind") or kind
    actual_version = obj.get("apiVersion") or api_version
    if actual_kind == kind and actual_version == api_version:
        return
    for key in ("apiVersion", "kind"):
        if not isinstance(obj.get(key), str | None):
            why = wrong_type(obj[key], "string", f".{key}")
            raise UnrecognizedError(
                kind, f"couldn't get version/kind; json parse error: {why}"
            )
    if struct_for(api_version, kind) is None or (
        struct_for(api_version, kind) or ""
    ).startswith("meta/"):
        return
    if not _is_registered(actual_version, actual_kind):
        why = (
            f'no kind "{actual_kind}" is registered for version "{actual_version}" in '
            f'scheme "{_SCHEME}"'
        )
        raise CannotBeHandledError(actual_kind, actual_version, kind, why)
    if (
        actual_kind != kind
        or actual_version.rpartition("/")[0] != api_version.rpartition("/")[0]
    ):
        version = actual_version.rpartition("/")[2]
        package = internal_package(api_version.rpartition("/")[0])
        why = (
            f"converting ({version}.{actual_kind}) to ({package}.{kind}): unknown "
            "conversion"
        )
        raise CannotBeHandledError(actual_kind, actual_version, kind, why)
    raise bad_request(
        f"the API version in the data ({actual_version}) does not match the expected "
        f"API version ({api_version})"
    )


def internal_package(group: str) -> str:
    """The Go package of a group's internal types: named after the group, but for
    Events, of which there is only one type.
    """
    package = group.partition(".")[0] or "core"
    return "core" if package == "events" else package


@short_pair_cache(1024)
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


def _custom(obj: Object, path: Path, state: DecodeState) -> Object:
    decoded = dict(obj)
    meta = obj.get("metadata")
    decoded["metadata"] = struct_decoder("meta/v1.ObjectMeta")(
        {} if meta is None else meta, (path, "metadata"), state
    )
    return decoded
