"""What a write takes for granted of the object that is stored: its uid, its revision.

Upstream: `apiserver/pkg/storage/interfaces.go` (`Preconditions.Check`), `errors.go`
(`NewInvalidObjError`), `errors/storage.go` (`InterpretUpdateError`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api import status
from lifecycle.apiserver.registry.scope import RequestScope


def unmet_precondition(
    metadata: Mapping[str, Any], uid: str = "", resource_version: str = ""
) -> str:
    """Which of the two the object does not have; empty if it has both, or if nothing
    was taken for granted.
    """
    for what, wanted, actual in (
        ("UID", uid, metadata.get("uid", "")),
        ("ResourceVersion", resource_version, metadata.get("resourceVersion", "")),
    ):
        if wanted and wanted != actual:
            return (
                f"Precondition failed: {what} in precondition: {wanted}, {what} in"
                f" object meta: {actual}"
            )
    return ""


def check_stored(
    metadata: Mapping[str, Any],
    key: str,
    scope: RequestScope,
    uid: str = "",
    resource_version: str = "",
) -> None:
    """In the store's own words. Raises StatusError 409."""
    why = unmet_precondition(metadata, uid, resource_version)
    if not why:
        return
    if scope.dry_run:  # which does not come as far as where the prefix is put
        key = key.removeprefix("/registry")
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0,"
        f" AdditionalErrorMsg: {why}"
    )
    resource = scope.resource
    raise status.conflict(resource.plural, scope.name, why, resource.group)
