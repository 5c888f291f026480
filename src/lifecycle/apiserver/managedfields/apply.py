"""Server-side apply: say what you care about, and own exactly that.

The configuration is laid over the live object; what the applier owned before and no
longer names is taken away again, unless somebody else owns it too; and if any of this
changes what another manager owns, the answer is a conflict – or, with force, the fields
change hands.

Upstream: `structured-merge-diff/merge/update.go` (`Updater.Apply`, `prune`),
`apimachinery/pkg/util/managedfields/internal/fieldmanager.go` (`FieldManager.Apply`),
`structuredmerge.go`, `skipnonapplied.go`, v1.36. Left out: as in `update`.
"""

from __future__ import annotations

from lifecycle.api.fieldpath.field_sets import (
    LEAF,
    Fields,
    difference,
    intersection,
    union,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.struct_decoder import normal_form
from lifecycle.api.status import StatusError, bad_request, failure
from lifecycle.apiserver.managedfields.config_check import check_config, check_untracked
from lifecycle.apiserver.managedfields.config_set import field_set, with_named_fields
from lifecycle.apiserver.managedfields.conflicts import Conflicts, conflicts_from
from lifecycle.apiserver.managedfields.entries import (
    APPLY,
    Entry,
    Managed,
    decode,
    encode,
    forget_strangers,
)
from lifecycle.apiserver.managedfields.last_applied import (
    allowed_by_last_applied,
    refresh_last_applied,
)
from lifecycle.apiserver.managedfields.merge import merge
from lifecycle.apiserver.managedfields.remove import remove
from lifecycle.apiserver.managedfields.typed import Type, type_for
from lifecycle.apiserver.managedfields.update import (
    STRIP_SET,
    changes,
    empty_object,
    record_update,
    without_reset_fields,
)

BEFORE_FIRST_APPLY = "before-first-apply"
KUBECTL = "kubectl"


def apply_patch(
    live: Object | None,
    patch_obj: Object,
    *,
    manager: str,
    force: bool = False,
    now: str,
    subresource: str = "",
    type_: Type | None = None,
    reset_fields: Fields = LEAF,
) -> Object:
    """The live object (None: there is none yet) with the configuration applied,
    `managedFields` updated.

    The result is a new object in which defaults are still missing: decode and default
    it as after any patch. Raises StatusError 409 for conflicts (unless `force`), 400
    and 500 for configurations that cannot be applied at all.
    """
    if live is not None and not live["metadata"].get("managedFields"):
        check_untracked(live, type_.schema if type_ is not None else None)
    _check(live, patch_obj, type_)
    api_version = patch_obj["apiVersion"]
    before = (
        _without_managed_fields(live)
        if live is not None
        else empty_object(api_version, patch_obj["kind"])
    )
    try:
        managed = decode((live or {}).get("metadata", {}).get("managedFields"))
        if not managed:  # never tracked: whatever is there belongs to those before us
            changed, gone = changes(
                empty_object(api_version, patch_obj["kind"]),
                before,
                api_version,
                type_,
                reset_fields,
            )
            record_update(
                managed,
                changed,
                gone,
                manager=BEFORE_FIRST_APPLY,
                api_version=api_version,
                subresource=subresource,
                now=now,
            )
        if type_ is None:
            forget_strangers(managed, api_version, patch_obj["kind"])
        attempt = _Apply(
            before,
            patch_obj,
            manager or "unknown",
            subresource,
            now,
            type_,
            reset_fields,
        )
        try:
            new = attempt.run(managed, force)
        except Conflicts as conflicts:
            if manager != KUBECTL or not allowed_by_last_applied(
                before, patch_obj, conflicts.fields()
            ):
                raise conflicts.status_error() from None
            new = attempt.run(managed, True)
    except ValueError as wrong:
        raise failure(500, "", str(wrong)) from None
    if manager == KUBECTL:
        refresh_last_applied(new, patch_obj)
    return new


def _check(live: Object | None, patch_obj: Object, type_: Type | None) -> None:
    api_version, kind = patch_obj.get("apiVersion", ""), patch_obj.get("kind", "")
    if live is not None and (
        live.get("apiVersion", api_version),
        live.get("kind", kind),
    ) != (api_version, kind):
        group, _, version = api_version.rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    metadata = patch_obj.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    unreadable = ""
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        unreadable = _unreadable(entries)
        if not unreadable:
            raise bad_request("metadata.managedFields must be nil")
    check_config(patch_obj, type_.schema if type_ is not None else None)
    if unreadable:
        raise _not_convertible(patch_obj, unreadable)


def _unreadable(entries: list[Object]) -> str:
    """Why entries cannot be read: those are taken for none until all is converted."""
    try:
        for entry in entries:
            normal_form("meta/v1.ManagedFieldsEntry", entry)
    except ValueError as error:
        return str(error)
    return ""


def _not_convertible(patch_obj: Object, why: str) -> StatusError:
    group, _, version = patch_obj["apiVersion"].rpartition("/")
    gvk = f"{group}/{version}, Kind={patch_obj['kind']}"
    metadata = patch_obj["metadata"]
    name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return failure(
        500,
        "",
        f"failed to convert new object ({name}; {gvk}) to proper version: unable to"
        f" convert unstructured object to {gvk}: {why}",
    )


def _without_managed_fields(obj: Object) -> Object:
    return {
        **obj,
        "metadata": {
            key: value
            for key, value in obj["metadata"].items()
            if key != "managedFields"
        },
    }


class _Apply:
    """One apply; may be run twice, without force and then with."""

    def __init__(
        self,
        live: Object,
        config: Object,
        manager: str,
        subresource: str,
        now: str,
        type_: Type | None,
        reset_fields: Fields,
    ) -> None:
        self.live = live
        self.config = config
        self.reset_fields = reset_fields
        self.now = now
        self.api_version = config["apiVersion"]
        self.type: Type = type_ or type_for(self.api_version, config["kind"])
        fields = without_reset_fields(field_set(self.type, config), reset_fields)
        self.mine = Entry(manager, APPLY, self.api_version, "", fields, subresource)

    def run(self, managed: Managed, force: bool) -> Object:
        """The new object. Raises Conflicts. Does not change `managed`."""
        managed = dict(managed)
        last = managed.get(self.mine.identifier)
        managed[self.mine.identifier] = self.mine
        new = merge(self.type, self.live, self.config)
        if last is not None and last.fields:
            new = self._prune(new, managed, last.fields)
        self._settle(managed, new, force)
        mine = managed.get(self.mine.identifier)
        if mine is not None:
            fields = difference(mine.fields, STRIP_SET)
            if fields:
                time = (
                    self.now
                    if new != self.live
                    else last.time
                    if last is not None
                    else ""
                )
                managed[mine.identifier] = mine._replace(fields=fields, time=time)
            else:
                del managed[mine.identifier]
        out = {**new, "metadata": dict(new.get("metadata") or {})}
        if managed:
            out["metadata"]["managedFields"] = encode(managed)
        return out

    def _prune(self, merged: Object, managed: Managed, last: Fields) -> Object:
        """Take away what only this applier owned and no longer names."""
        t = self.type
        owned: Fields = {}
        for entry in managed.values():
            owned = union(owned, entry.fields)
        pruned = remove(t, merged, with_named_fields(t, last))
        everything = with_named_fields(t, field_set(t, merged))
        kept = union(
            with_named_fields(t, field_set(t, pruned)), with_named_fields(t, owned)
        )
        pruned = remove(t, merged, difference(everything, kept))
        left = with_named_fields(t, field_set(t, pruned))
        dangling = intersection(
            difference(everything, left), with_named_fields(t, last)
        )
        pruned_object: Object = remove(t, merged, dangling)
        return pruned_object

    def _settle(self, managed: Managed, new: Object, force: bool) -> None:
        """Find conflicts, or hand the fields over. Changes `managed`."""
        changed, gone = changes(
            {**self.live, "kind": self.config["kind"]},
            new,
            self.api_version,
            self.type,
            self.reset_fields,
        )
        disputed: list[tuple[Entry, Fields]] = []
        for identifier, entry in list(managed.items()):
            if identifier == self.mine.identifier:
                continue
            theirs = intersection(entry.fields, changed)
            if theirs:
                disputed.append((entry, theirs))
            left = difference(difference(entry.fields, theirs), gone)
            if not left:
                del managed[identifier]
            elif left is not entry.fields:
                managed[identifier] = entry._replace(fields=left)
        if disputed and not force:
            raise conflicts_from(disputed)
