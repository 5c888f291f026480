"""From client-side to server-side apply: who owned the fields before must not go on
owning them.

What kubectl applied from the client counts as an `Update` of
`kubectl-client-side-apply`. Once the same object is applied on the server, the
annotation gets a manager of its own, the old manager's fields go over to the new one,
and the configuration is sent once more, so that fields no longer in it can go.

Upstream: `kubectl/pkg/cmd/apply/apply.go` (`saveLastApplyAnnotationIfNecessary`,
`migrateToSSAIfNecessary`), `client-go/util/csaupgrade/upgrade.go`
(`UpgradeManagedFieldsPatch`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.fieldpath.field_sets import has, in_order, normalized, union
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.rest import APPLY_PATCH, JSON_PATCH
from lifecycle.kubectl.last_applied import LAST_APPLIED
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info

ANNOTATION_MANAGER = "kubectl-last-applied"
_PATH = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")


async def apply_and_migrate(
    info: Info, obj: Object, query: dict[str, str], session: Session
) -> Object:
    """Apply an object on the server, and put its managers in order if they are not.
    Raises StatusError.
    """
    live = await session.send("PATCH", info.path, query, obj, APPLY_PATCH)
    try:
        live = await _save_last_apply_annotation_if_necessary(
            info, live, query, session
        )
        if not await _migrate_to_ssa_if_necessary(info, live, query, session):
            return live
    except StatusError as error:
        session.warn(
            "Warning: server rejected managed fields migration to Server-Side Apply."
            f" {error.message}\n"
        )
        return live
    return await session.send("PATCH", info.path, query, obj, APPLY_PATCH)


async def _migrate_to_ssa_if_necessary(
    info: Info, live: Object, query: dict[str, str], session: Session
) -> bool:
    """Whether there was anything to move. Raises StatusError; a conflict is tried again
    with what is there by then.
    """
    patch_query = {key: value for key, value in query.items() if key != "force"}
    names = list(dict.fromkeys(entry["manager"] for entry in _owners(live, "Update")))
    for last in (False, False, False, False, True):
        entries = live["metadata"].get("managedFields") or []
        upgraded = upgrade_managed_fields(entries, names, query["fieldManager"])
        if upgraded == entries:
            return False
        patch = [
            {"op": "replace", "path": "/metadata/managedFields", "value": upgraded},
            {
                "op": "replace",
                "path": "/metadata/resourceVersion",
                "value": live["metadata"]["resourceVersion"],
            },
        ]
        try:
            await session.send("PATCH", info.path, patch_query, patch, JSON_PATCH)
            return True
        except StatusError as error:
            if last or error.code != 409:
                raise
            live = await session.send("GET", info.path)
    return False


async def _save_last_apply_annotation_if_necessary(
    info: Info, live: Object, query: dict[str, str], session: Session
) -> Object:
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    if query["fieldManager"] != "kubectl" or text is None or _owners(live, "Apply"):
        return live
    metadata = {"annotations": {LAST_APPLIED: text}, "name": info.name}
    if info.namespace:
        metadata["namespace"] = info.namespace
    about = {
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        "metadata": metadata,
    }
    patch_query = {
        **{k: v for k, v in query.items() if k != "force"},
        "fieldManager": ANNOTATION_MANAGER,
    }
    return await session.send("PATCH", info.path, patch_query, about, APPLY_PATCH)


def _owners(live: Object, operation: str) -> list[Object]:
    """Entries that own the annotation."""
    entries = live["metadata"].get("managedFields") or ()
    return [
        e
        for e in entries
        if e.get("operation") == operation
        and has(normalized(e.get("fieldsV1") or {}), _PATH)
    ]


def upgrade_managed_fields(
    entries: Sequence[Object], old: Sequence[str], new: str
) -> list[Object]:
    """The entries, with the `Update`s of the `old` managers gone over into the `Apply`
    of the `new` one.
    """
    new_entries = [dict(entry) for entry in entries]
    for name in old:
        target = _first(new_entries, new, "Apply")
        if target is None:
            target = _first(new_entries, name, "Update")
            if target is None:
                continue
            target |= {"operation": "Apply", "manager": new}
        source = _first(new_entries, name, "Update", target.get("apiVersion", ""))
        if source is not None:
            both = union(
                normalized(target.get("fieldsV1") or {}),
                normalized(source.get("fieldsV1") or {}),
            )
            target["fieldsV1"] = in_order(both)
        new_entries = [entry for entry in new_entries if not _is(entry, name, "Update")]
    return new_entries


def _first(
    entries: Sequence[Object], manager: str, operation: str, version: str = ""
) -> Object | None:
    return next(
        (
            e
            for e in entries
            if _is(e, manager, operation) and version in ("", e.get("apiVersion"))
        ),
        None,
    )


def _is(entry: Object, manager: str, operation: str) -> bool:
    return (
        entry.get("manager"),
        entry.get("operation"),
        entry.get("subresource", ""),
    ) == (manager, operation, "")
