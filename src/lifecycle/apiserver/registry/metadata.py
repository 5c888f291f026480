"""The metadata that the server itself is responsible for.

Upstream: `apiserver/pkg/registry/rest/meta.go` (`FillObjectMetaSystemFields`,
`EnsureObjectNamespaceMatchesRequestNamespace`), `endpoints/handlers/update.go`
(`checkName`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.same_value import same_value
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource
from lifecycle.api.status import bad_request, failure, invalid
from lifecycle.api.validation.content import name_is_path_segment
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta
from lifecycle.apiserver.registry.scope import RequestScope

GO_ORDER = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
"""The order in which the real server writes metadata."""


def in_go_order(metadata: Object) -> Object:
    """The same metadata, its keys in the real server's order."""
    return {key: metadata[key] for key in GO_ORDER if key in metadata}


def wipe_object_meta(obj: Object) -> None:
    """Take out what no client can say of a new object. Upstream:
    `rest.WipeObjectMetaSystemFields`.
    """
    for key in _SYSTEM_FIELDS:
        obj["metadata"].pop(key, None)


_SYSTEM_FIELDS = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


def fill_object_meta(obj: Object, clock: Clock, names: NameSource) -> None:
    """A new object's uid and creation time."""
    metadata = obj["metadata"]
    metadata["creationTimestamp"] = clock.timestamp()
    metadata["uid"] = names.uid()


def check_revision(text: str) -> None:
    """An object's resourceVersion is a number. Raises StatusError 500, as upstream: its
    storage layer returns the bare error.
    """
    is_number = text.isascii() and text.isdecimal()
    # a longer one need not be read to know that it is too large
    digits = text.lstrip("0")
    if not is_number or len(digits) > 20 or int(digits or 0) >= 1 << 64:
        why = "value out of range" if is_number else "invalid syntax"
        raise failure(500, "", f"strconv.ParseUint: parsing {go_quote(text)}: {why}")


def check_no_revision(obj: Object) -> None:
    """A new object has no resourceVersion yet. Raises StatusError 500, for the same
    reason.
    """
    version = obj["metadata"].get("resourceVersion", "")
    if version and version.isascii() and version.isdecimal() and int(version[:40]):
        raise failure(
            500, "", "resourceVersion should not be set on objects to be created"
        )


def check_object_meta(obj: Object, resource: Resource) -> None:
    """What holds for the metadata of every kind, whatever its own validation asks.
    Raises StatusError 422.

    Upstream: the end of `rest.BeforeCreate` (`ValidateObjectMetaAccessor` with
    `path.ValidatePathSegmentName`).
    """
    metadata = obj["metadata"]
    errors = validate_object_meta(metadata, resource.namespaced, name_is_path_segment)
    if errors:
        kind = obj.get("kind") or resource.kind
        raise invalid(
            kind,
            metadata.get("name", ""),
            [error.cause() for error in errors],
            resource.group,
        )


def check_namespace(obj: Object, scope: RequestScope) -> None:
    """The object's namespace is the URL's; an empty one takes it. Raises StatusError
    400.
    """
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = obj["metadata"] = {}
    namespace = metadata.get("namespace", "")
    if namespace == scope.namespace:
        return
    if namespace and scope.resource.namespaced:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent "
            "on the request"
        )
    if scope.namespace:
        metadata["namespace"] = scope.namespace
    else:
        metadata.pop("namespace", None)


def keep_reset(sent: Object, obj: Object) -> None:
    """An empty list of managed fields, unlike none, asks to forget them all; decoding
    alone would drop it.
    """
    metadata = sent.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        obj["metadata"] = {**(obj.get("metadata") or {}), "managedFields": []}


AFTER_ADMISSION = " after mutating admission happens"


def dedup_owner_references(obj: Object, warnings: list[str], when: str = "") -> None:
    """Name no owner twice. Upstream: `handlers/rest.go`
    (`dedupOwnerReferencesAndAddWarning`).
    """
    owners = obj["metadata"].get("ownerReferences")
    if not owners or len(owners) == 1:
        return
    kept: list[Object] = []
    twice: list[str] = []
    seen: set[frozenset[tuple[str, Any]]] = set()
    for owner in owners:
        fields = frozenset(owner.items())  # all are plain values
        if fields in seen:
            twice.append(owner.get("uid", ""))
        else:
            seen.add(fields)
            kept.append(owner)
    if twice:
        obj["metadata"]["ownerReferences"] = kept
        warnings.append(
            f".metadata.ownerReferences contains duplicate entries{when}; API server"
            " dedups owner references in 1.20+, and may reject such requests as early"
            " as 1.24; please fix your requests; duplicate UID(s) observed:"
            f" {', '.join(twice)}"
        )


def check_identity(obj: Object, scope: RequestScope) -> None:
    """The object's name is the URL's. Raises StatusError 400."""
    check_namespace(obj, scope)
    name = obj["metadata"].get("name", "")
    if not name:
        raise bad_request(
            f"the name of the object ({scope.name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if name != scope.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL "
            f"({scope.name})"
        )


def is_unchanged(new: Object, old: Object) -> bool:
    """Whether a write would change nothing: then it is not made, and the
    resourceVersion stays.

    Managed fields whose only news is a time stamp are put back first. Upstream:
    `ignoreManagedFieldsTimestamps` and the byte comparison in etcd3's
    `GuaranteedUpdate`.
    """
    if new.keys() != old.keys():
        return False
    content = [key for key in new if key != "metadata"]
    if any(new[key] != old[key] for key in content):
        return False
    return _meaning(new["metadata"]) == _meaning(old["metadata"]) and all(
        same_value(new[key], old[key]) for key in content
    )


def _meaning(metadata: Object) -> Object:
    plain = {
        k: v
        for k, v in metadata.items()
        if k not in ("resourceVersion", "managedFields")
    }
    entries = metadata.get("managedFields") or ()
    return {
        **plain,
        "managedFields": [
            {k: v for k, v in entry.items() if k != "time"} for entry in entries
        ],
    }
