"""What a CustomResourceDefinition makes discoverable: a row for each version.

The API server serves these rows; controllers that must reach everything (garbage
collection, emptying a namespace) follow them.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go`
(`sync`), `pkg/apihelpers/helpers.go`, v1.36.
"""

from __future__ import annotations

import base64
import hashlib

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, Subresource

VERBS = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)
SUBRESOURCE_VERBS = ("get", "patch", "update")


def storage_version(definition: Object) -> str:
    """The version that objects are kept in."""
    return next(
        (
            str(each["name"])
            for each in definition["spec"]["versions"]
            if each.get("storage")
        ),
        "",
    )


def is_established(definition: Object) -> bool:
    """Whether its resources can be found by discovery."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(
        each["type"] == "Established" and each["status"] == "True"
        for each in conditions
    )


def served_resource(definition: Object) -> Resource | None:
    """One row for a definition, in its storage version if that is served; None while it
    is not established.
    """
    if not is_established(definition):
        return None
    served = [each for each in definition["spec"]["versions"] if each.get("served")]
    served.sort(key=lambda each: not each.get("storage"))
    return resource_of(definition, served[0]) if served else None


def resource_of(definition: Object, version: Object) -> Resource:
    """The row of discovery of a version."""
    spec = definition["spec"]
    group, name = spec["group"], version["name"]
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    names = accepted if accepted.get("plural") else spec["names"]
    subresources = version.get("subresources") or {}
    rows = []
    if subresources.get("status") is not None:
        rows.append(
            Subresource("status", group, name, names["kind"], SUBRESOURCE_VERBS)
        )
    if subresources.get("scale") is not None:
        rows.append(
            Subresource("scale", "autoscaling", "v1", "Scale", SUBRESOURCE_VERBS)
        )
    return Resource(
        group=group,
        version=name,
        plural=names["plural"],
        kind=names["kind"],
        singular=names.get("singular", ""),
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        storage_version_hash=version_hash(
            group, storage_version(definition), names["kind"]
        ),
        subresources=tuple(rows),
    )


def version_hash(group: str, version: str, kind: str) -> str:
    """Tells clients whether objects would have to be written again. Upstream:
    `discovery.StorageVersionHash`.
    """
    return base64.b64encode(
        hashlib.sha256(f"{group}/{version}/{kind}".encode()).digest()[:8]
    ).decode()
