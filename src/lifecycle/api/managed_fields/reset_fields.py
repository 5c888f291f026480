"""Fields that a write cannot touch, so that nobody comes to own them by it.

Where a kind has a `/status`, the main resource ignores `status` and `/status` ignores
`spec`, and a little metadata. A client may send the whole object either way; only what
counts is recorded.

Upstream: `GetResetFields` in `pkg/registry/*/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from functools import cache

from lifecycle.api.managed_fields.field_sets import LEAF, Fields, recursive_difference
from lifecycle.api.managed_fields.typed import Type
from lifecycle.api.resources import resource_for_kind

_STATUS: Fields = {"f:status": LEAF}
_SPEC: Fields = {"f:spec": LEAF}
_METADATA_AND_SPEC: Fields = {"f:metadata": LEAF, "f:spec": LEAF}

_STATUS_WRITES: dict[str, Fields] = {
    "Pod": {
        "f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF},
        "f:spec": LEAF,
    },
    "Deployment": {"f:metadata": {"f:labels": LEAF}, "f:spec": LEAF},
    "CustomResourceDefinition": _METADATA_AND_SPEC,
    "FlowSchema": _METADATA_AND_SPEC,
    "PriorityLevelConfiguration": _METADATA_AND_SPEC,
    "ResourceClaim": _METADATA_AND_SPEC,
}


@cache
def reset_fields(api_version: str, kind: str, subresource: str) -> Fields:
    """What a write through this way resets; the empty set for kinds without a
    status.
    """
    resource = resource_for_kind(api_version, kind)
    if resource is None or resource.subresource("status") is None:
        return LEAF
    if kind == "CertificateSigningRequest" and not subresource:
        return {"f:spec": LEAF, "f:status": LEAF}
    if subresource == "status":
        return _STATUS_WRITES.get(kind, _SPEC)
    return _STATUS


def without_reset_fields(
    fields: Fields,
    api_version: str,
    kind: str,
    subresource: str,
    type_: Type | None = None,
) -> Fields:
    """A set without the fields that the write resets. A custom type says itself which
    these are.
    """
    if not fields:
        return fields
    own = type_.resets if type_ is not None else None
    reset = (
        reset_fields(api_version, kind, subresource)
        if own is None
        else own.get(subresource, LEAF)
    )
    for key in reset:
        if key in fields:
            return recursive_difference(fields, reset)
    return fields
