"""The types that Kubernetes adds to CEL: quantities, versions, addresses, and what a
request consists of.

The library knows the types of protocol buffers, so that is what ours are: messages,
described here and built when first needed. An expression that asks a quantity for
`isGreaterThan` of a string, or a request for a field that it does not have, is then
refused when it is compiled.

Upstream: `apiserver/pkg/cel/{quantity,semver,ip,cidr,url}.go`,
`admission/plugin/cel/compile.go` (`BuildRequestType`, `BuildNamespaceType`),
`authorization/cel/compile.go` (`buildRequestType`), `cel/library/authz.go`,
`dynamic-resource-allocation/cel/compile.go` (`newCompiler`), v1.36. Left out: a field
that is not set reads as empty here; there it is an error. The capacities of a device
are of unknown type here, quantities there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lifecycle.api.late_import import late_import
from lifecycle.apiserver.cel.library import library_type

if TYPE_CHECKING:
    from google.protobuf import (
        descriptor_pb2,
        descriptor_pool,
        duration_pb2,
        message_factory,
        struct_pb2,
        timestamp_pb2,
    )
else:
    descriptor_pb2 = late_import("google.protobuf.descriptor_pb2")
    descriptor_pool = late_import("google.protobuf.descriptor_pool")
    duration_pb2 = late_import("google.protobuf.duration_pb2")
    message_factory = late_import("google.protobuf.message_factory")
    struct_pb2 = late_import("google.protobuf.struct_pb2")
    timestamp_pb2 = late_import("google.protobuf.timestamp_pb2")

PACKAGE = "kubernetes"
_SCALARS = {"string": 9, "bool": 8, "int64": 3, "double": 1, "bytes": 12}

MESSAGES: dict[str, dict[str, str]] = {
    "Quantity": {"text": "string"},
    "Semver": {"text": "string"},
    "net.IP": {"text": "string"},
    "net.CIDR": {"text": "string"},
    "URL": {"text": "string"},
    "GroupVersionKind": {"group": "string", "version": "string", "kind": "string"},
    "GroupVersionResource": {
        "group": "string",
        "version": "string",
        "resource": "string",
    },
    "UserInfo": {
        "username": "string",
        "uid": "string",
        "groups": "[]string",
        "extra": "{}google.protobuf.ListValue",
    },
    "AdmissionRequest": {
        "kind": "GroupVersionKind",
        "resource": "GroupVersionResource",
        "subResource": "string",
        "requestKind": "GroupVersionKind",
        "requestResource": "GroupVersionResource",
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": "UserInfo",
        "dryRun": "bool",
        "options": "google.protobuf.Struct",
    },
    "NamespaceMetadata": {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "labels": "{}string",
        "annotations": "{}string",
        "UID": "string",
        "creationTimestamp": "google.protobuf.Timestamp",
        "deletionTimestamp": "google.protobuf.Timestamp",
        "deletionGracePeriodSeconds": "int64",
        "generation": "int64",
        "resourceVersion": "string",
        "finalizers": "[]string",
    },
    "NamespaceSpec": {"finalizers": "[]string"},
    "NamespaceCondition": {
        "status": "string",
        "type": "string",
        "lastTransitionTime": "google.protobuf.Timestamp",
        "message": "string",
        "reason": "string",
    },
    "NamespaceStatus": {"conditions": "[]NamespaceCondition", "phase": "string"},
    "Namespace": {
        "metadata": "NamespaceMetadata",
        "spec": "NamespaceSpec",
        "status": "NamespaceStatus",
    },
    "SubjectAccessReviewSpec": {
        "resourceAttributes": "ResourceAttributes",
        "nonResourceAttributes": "NonResourceAttributes",
        "user": "string",
        "groups": "[]string",
        "extra": "{}google.protobuf.ListValue",
        "uid": "string",
    },
    "ResourceAttributes": {
        "namespace": "string",
        "verb": "string",
        "group": "string",
        "version": "string",
        "resource": "string",
        "subresource": "string",
        "name": "string",
        "fieldSelector": "SelectorAttributes",
        "labelSelector": "SelectorAttributes",
    },
    "NonResourceAttributes": {"path": "string", "verb": "string"},
    "SelectorAttributes": {
        "rawSelector": "string",
        "requirements": "[]SelectorRequirement",
    },
    "SelectorRequirement": {
        "key": "string",
        "operator": "string",
        "values": "[]string",
    },
    "authorization.Authorizer": {"serviceAccount": "string"},
    "authorization.PathCheck": {"serviceAccount": "string", "path": "string"},
    "authorization.GroupCheck": {"serviceAccount": "string", "group": "string"},
    "authorization.ResourceCheck": {
        "serviceAccount": "string",
        "group": "string",
        "resource": "string",
        "subresource": "string",
        "namespace": "string",
        "name": "string",
        "fieldSelector": "string",
        "labelSelector": "string",
    },
    "authorization.Decision": {
        "isAllowed": "bool",
        "why": "string",
        "problem": "string",
    },
    "DRADevice": {
        "driver": "string",
        "allowMultipleAllocations": "bool",
        "attributes": "{}google.protobuf.Struct",
        "capacity": "{}google.protobuf.Struct",
    },
}
"""Fields and their types: `[]` a list of, `{}` a map from strings to."""


ANY, ANY_LIST = "google.protobuf.Value", "google.protobuf.ListValue"
TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"


def list_of(held: str) -> str:
    """How a list is written. What holds lists or maps holds anything: the library's
    fields cannot say more.
    """
    return f"[]{_element(held)}"


def map_of(held: str) -> str:
    """How a map from strings is written."""
    return f"{{}}{_element(held)}"


def _element(held: str) -> str:
    if held.startswith("[]"):
        return ANY_LIST
    return ANY if held.startswith("{}") else held


class Types(NamedTuple):
    """The pool that knows all messages, and the class of each by its short name."""

    pool: descriptor_pool.DescriptorPool
    classes: dict[str, Any]

    def type(self, name: str) -> Any:
        """The CEL type of a message. Raises MissingExtraError."""
        return library_type(f"{PACKAGE}.{name}")


@cache
def types() -> Types:
    """All types of `MESSAGES`, built once."""
    return build_types(MESSAGES)


def build_types(messages: dict[str, dict[str, str]]) -> Types:
    """A pool of these types, written as in `MESSAGES`."""
    pool = descriptor_pool.DescriptorPool()
    for module in (struct_pb2, timestamp_pb2, duration_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    files: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    for name, fields in messages.items():
        prefix, _, short = name.rpartition(".")
        package = f"{PACKAGE}.{prefix}" if prefix else PACKAGE
        file = files.setdefault(
            package,
            descriptor_pb2.FileDescriptorProto(
                name=f"{package}.proto", package=package, syntax="proto3"
            ),
        )
        _describe(file.message_type.add(name=short), f".{package}.{short}", fields)
    for file in files.values():
        file.dependency.extend(
            f"google/protobuf/{name}.proto"
            for name in ("struct", "timestamp", "duration")
        )
        pool.Add(file)
    descriptors = {
        name: pool.FindMessageTypeByName(f"{PACKAGE}.{name}") for name in messages
    }
    return Types(
        pool,
        {name: message_factory.GetMessageClass(descriptors[name]) for name in messages},
    )


def _describe(message: Any, path: str, fields: dict[str, str]) -> None:
    for number, (name, kind) in enumerate(fields.items(), 1):
        if kind.startswith(
            "{}"
        ):  # a map is a list of entries, each a message of its own
            entry = message.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
            entry.options.map_entry = True
            _describe(entry, "", {"key": "string", "value": kind[2:]})
            message.field.add(
                name=name,
                number=number,
                label=3,
                type=11,
                type_name=f"{path}.{entry.name}",
            )
            continue
        label = 3 if kind.startswith("[]") else 1
        kind = kind.removeprefix("[]")
        if kind in _SCALARS:
            message.field.add(
                name=name, number=number, label=label, type=_SCALARS[kind]
            )
        else:
            full = kind if kind.startswith("google.") else f"{PACKAGE}.{kind}"
            message.field.add(
                name=name, number=number, label=label, type=11, type_name=f".{full}"
            )


def message(type_name: str, /, **fields: Any) -> Any:
    """A value of one of our types."""
    return types().classes[type_name](**fields)


def message_from(name: str, document: dict[str, Any]) -> Any:
    """A value of one of our types from JSON; fields that the type does not have are
    left out.
    """
    return types().classes[name](**_fields(name, document))


def _fields(name: str, document: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field, kind in MESSAGES[name].items():
        value = document.get("uid" if field == "UID" else field)
        if value is None:
            continue
        inner = kind.removeprefix("[]")
        if inner in MESSAGES:
            many = kind.startswith("[]")
            fields[field] = (
                [_fields(inner, item) for item in value]
                if many
                else _fields(inner, value)
            )
        elif inner == "google.protobuf.Timestamp":
            stamp = timestamp_pb2.Timestamp()
            stamp.FromJsonString(value)
            fields[field] = {"seconds": stamp.seconds, "nanos": stamp.nanos}
        elif kind == "{}google.protobuf.ListValue":
            fields[field] = {key: _list_value(items) for key, items in value.items()}
        elif inner == "google.protobuf.Struct":
            fields[field] = value
        else:
            fields[field] = value
    return fields


def _list_value(items: Any) -> Any:
    descriptor = types().pool.FindMessageTypeByName("google.protobuf.ListValue")
    message = message_factory.GetMessageClass(descriptor)()
    message.extend(list(items))
    return message
