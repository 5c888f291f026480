"""Who changed what: the bookkeeping of every create, update and patch.

Compare the object with what it was. What is new or different now belongs to the one who
wrote it, and no longer to anybody else; what is gone belongs to nobody. Identity and
bookkeeping fields of the metadata are nobody's, and neither are fields that the write
is not allowed to touch (`status` outside of `/status`).

Upstream: `apimachinery/pkg/util/managedfields/internal/fieldmanager.go`
(`FieldManager.Update`, `decodeLiveOrNew`), `structuredmerge.go`,
`managedfieldsupdater.go`, `stripmeta.go`, `skipnonapplied.go`,
`structured-merge-diff/merge/update.go` (`Updater.Update`), v1.36. Left out: in an
apply, managers that own fields of other versions (built-in versions agree on the names
of most of what they share).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.fieldpath.field_sets import (
    LEAF,
    Fields,
    difference,
    recursive_difference,
    shared,
    union,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode as normal_form
from lifecycle.api.schema.empties import Empty, restored, within
from lifecycle.apiserver.managedfields.compare import compare
from lifecycle.apiserver.managedfields.entries import (
    UPDATE,
    Entry,
    Managed,
    cap_update_managers,
    decode,
    encode,
    forget_strangers,
)
from lifecycle.apiserver.managedfields.typed import KEYED, SET, Type, type_for

_STRIPPED = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
STRIP_SET: Fields = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {".": {}, **{f"f:{name}": {} for name in _STRIPPED}},
}


Conversions = Mapping[str, Callable[[Object], Object]]
"""To each other version in which an object is served, by `apiVersion`."""
NO_CONVERSIONS: Conversions = MappingProxyType({})


@short_pair_cache(1024)
def empty_object(api_version: str, kind: str) -> Object:
    """A new object of a kind before anything was said about it: its structs are there,
    empty. A create is compared with this.
    """
    type_meta = {"apiVersion": api_version, "kind": kind}
    return normal_form(type_meta, api_version, kind)[0]


def _is_reset(entries: list[Object] | None) -> bool:
    return entries is not None and (not entries or entries == [{}])


def _managed_before(
    live: Object | None, entries: list[Object] | None, subresource: str
) -> Managed:
    """The entries to start from: those the client sent back, unless it may not, sent
    none, or sent nonsense.
    """
    recorded = (live or {}).get("metadata", {}).get("managedFields")
    if entries is not None and not subresource:
        if _is_reset(entries):
            return {}
        try:
            managed = decode(
                entries, trusted=entries is recorded or entries == recorded
            )
        except ValueError:
            managed = {}
        if managed:
            return managed
    try:
        return decode(recorded)
    except ValueError:
        return {}


def changes(
    live: Object,
    new: Object,
    api_version: str,
    type_: Type | None = None,
    reset_fields: Fields = LEAF,
) -> tuple[Fields, Fields]:
    """(changed, gone) between two objects, metadata bookkeeping and reset fields left
    out. Raises ValueError for unusable lists.
    """
    t = type_ or type_for(api_version, new.get("kind") or live.get("kind", ""))
    changed, gone = compare(t, live, new)
    if not changed and not gone:
        return LEAF, LEAF
    return (
        without_reset_fields(difference(changed, STRIP_SET), reset_fields),
        without_reset_fields(difference(gone, STRIP_SET), reset_fields),
    )


def without_reset_fields(fields: Fields, reset_fields: Fields) -> Fields:
    """A set without the fields that a write cannot touch, so that nobody comes to own
    them by it. Upstream: `fieldpath.NewExcludeSetFilter`.
    """
    if any(element in fields for element in reset_fields):
        return recursive_difference(fields, reset_fields)
    return fields


def update_managed_fields(
    live: Object | None,
    new: Object,
    *,
    manager: str,
    api_version: str,
    subresource: str = "",
    now: str,
    type_: Type | None = None,
    reset_fields: Fields = LEAF,
    conversions: Conversions = NO_CONVERSIONS,
    empties: Collection[Empty] = (),
) -> None:
    """Set `new["metadata"]["managedFields"]` for a create (`live` is None), an update
    or a patch other than an apply.

    `new` is in normal form, its metadata belongs to the caller; `manager` is the field
    manager (or the first part of the user agent); `api_version` is that of the request;
    `now` is a `metav1.Time`; `type_` is given for custom resources; `reset_fields` is
    what a write this way cannot touch (the kind's strategy says it). Who wrote by
    another version has their fields compared in that one, if there is a way to it in
    `conversions`; `empties` is what the normal form left out. A client may hand in the
    entries itself: `[]` resets the tracking.
    """
    metadata = new["metadata"]
    entries = metadata.pop("managedFields", None)
    managed = _managed_before(live, entries, subresource)
    if not managed and live is not None and live.get("metadata", {}).get("uid"):
        # untracked, or the tracking was reset: starts again with the first apply
        return
    before = (
        live
        if live is not None
        else empty_object(new.get("apiVersion", api_version), new.get("kind", ""))
    )
    try:
        with restored(_in_atomic_lists(new, api_version, type_, empties)):
            changed, gone = changes(before, new, api_version, type_, reset_fields)
    except ValueError:
        return  # lists that cannot be keyed: upstream drops the tracking as well
    elsewhere: dict[str, Fields] = {}
    for version in {entry.api_version for entry in managed.values()}:
        if version in conversions and version != api_version:
            convert = conversions[version]
            elsewhere[version] = union(
                *changes(convert(before), convert(new), version, None, reset_fields)
            )
    if type_ is None:
        forget_strangers(managed, api_version, new.get("kind", ""))
    record_update(
        managed,
        changed,
        gone,
        manager=manager,
        api_version=api_version,
        subresource=subresource,
        now=now,
        elsewhere=elsewhere,
    )
    if managed:
        metadata["managedFields"] = encode(managed)


def _in_atomic_lists(
    new: Object, api_version: str, type_: Type | None, empties: Collection[Empty]
) -> list[Empty]:
    """What makes a list that is one value differ. Upstream: `listReflect.EqualsUsing`,
    which compares deeply.
    """
    if not empties:
        return []
    found: list[Empty] = []
    pending: list[tuple[Type, Any]] = [
        (type_ or type_for(api_version, new.get("kind", "")), new)
    ]
    while pending:
        t, value = pending.pop()
        if isinstance(value, list) and (t.leaf or t.shape not in (KEYED, SET)):
            found += within(value, empties)
        elif isinstance(value, list):
            pending += [(t.element, item) for item in value]
        elif isinstance(value, dict):
            for key, part in value.items():
                child = t if t.leaf else t.child(f"f:{key}")
                pending.append((child, part))
    return found


def record_update(
    managed: Managed,
    changed: Fields,
    gone: Fields,
    *,
    manager: str,
    api_version: str,
    subresource: str,
    now: str,
    elsewhere: Mapping[str, Fields] = MappingProxyType({}),
) -> None:
    """Hand what changed to `manager`, take it and what is gone from everybody. Changes
    `managed`. `elsewhere`: what changed or is gone as other versions name it.
    """
    touched = union(changed, gone)
    if touched or elsewhere:
        for identifier, entry in list(managed.items()):
            theirs = elsewhere.get(entry.api_version, touched)
            left = difference(entry.fields, theirs) if theirs else entry.fields
            if left is entry.fields:
                continue
            if left:
                managed[identifier] = entry._replace(fields=shared(left))
            else:
                del managed[identifier]
    if changed:
        mine = Entry(
            manager or "unknown", UPDATE, api_version, now, changed, subresource
        )
        previous = managed.get(mine.identifier)
        owned = changed if previous is None else union(previous.fields, changed)
        managed[mine.identifier] = mine._replace(fields=shared(owned))
    if len(managed) > 10:
        cap_update_managers(managed)
