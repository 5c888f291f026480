"""`metadata.managedFields`: who owns which fields, one entry for each manager,
operation, version and subresource.

Inside, entries live in a dict from identifier to entry; outside they are a list in a
fixed order: applies before updates, older before newer, then by name. No more than ten
updaters are kept apart; the oldest are put together as `ancient-changes`.

Upstream: `apimachinery/pkg/util/managedfields/internal/managedfields.go`
(`DecodeManagedFields`, `BuildManagerIdentifier`, `sortEncodedManagedFields`),
`capmanagers.go`, `apiserver/pkg/endpoints/handlers/fieldmanager/equality.go`, v1.36.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lifecycle.api.fieldpath.field_sets import Fields, normalized, union
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.gotypes import struct_for

MAX_UPDATE_MANAGERS = 10
ANCIENT = "ancient-changes"
APPLY = "Apply"
UPDATE = "Update"

Identifier = tuple[str, str, str, str]
"""(operation, manager, API version – empty for applies, which have one entry for all
versions –, subresource).
"""


class Entry(NamedTuple):
    """One manager's fields. `time` is a `metav1.Time`, or empty where upstream knows
    none.
    """

    manager: str
    operation: str
    api_version: str
    time: str
    fields: Fields
    subresource: str = ""

    @property
    def identifier(self) -> Identifier:
        """What makes it the same manager."""
        return (
            self.operation,
            self.manager,
            "" if self.operation == APPLY else self.api_version,
            self.subresource,
        )

    @property
    def applied(self) -> bool:
        """Whether the manager applies, rather than updates."""
        return self.operation == APPLY

    def encoded(self) -> Object:
        """The entry as it stands in the object."""
        out: Object = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
        }
        if self.time:
            out["time"] = self.time
        out["fieldsType"] = "FieldsV1"
        out["fieldsV1"] = self.fields
        if self.subresource:
            out["subresource"] = self.subresource
        return out


Managed = dict[Identifier, Entry]


def decode(encoded: Any, *, trusted: bool = True) -> Managed:
    """Entries by identifier. `trusted` entries were written by this server; others are
    checked and put in normal form.

    Raises ValueError for an entry that upstream would not decode.
    """
    managed: Managed = {}
    for i, encoded_entry in enumerate(encoded or ()):
        operation = encoded_entry.get("operation", "")
        if operation not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not encoded_entry.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        fields_type = encoded_entry.get("fieldsType", "")
        if not fields_type:
            raise ValueError(f"missing fieldsType in managed fields entry {i}")
        if fields_type != "FieldsV1":
            raise ValueError(
                f'invalid fieldsType "{fields_type}" in managed fields entry {i}'
            )
        fields = encoded_entry.get("fieldsV1") or {}
        entry = Entry(
            encoded_entry.get("manager", ""),
            operation,
            encoded_entry["apiVersion"],
            encoded_entry.get("time") or "",
            fields if trusted else normalized(fields),
            encoded_entry.get("subresource", ""),
        )
        managed[entry.identifier] = entry
    return managed


def forget_strangers(managed: Managed, api_version: str, kind: str) -> None:
    """Take out whoever wrote by a version in which there is no such kind, or none any
    more: their fields have no names here. Upstream: `IsMissingVersionError` in
    `structured-merge-diff/merge/update.go`, `isNoCorrespondingTypeError`.
    """
    for identifier, entry in list(managed.items()):
        version = entry.api_version
        if version != api_version and struct_for(version, kind) is None:
            del managed[identifier]


def encode(managed: Managed) -> list[Object]:
    """The list for `metadata.managedFields`, in upstream's order."""
    entries = list(managed.values())
    if len(entries) > 1:
        entries.sort(
            key=lambda e: (e.operation, e.time, e.manager, e.api_version, e.subresource)
        )
    return [entry.encoded() for entry in entries]


def cap_update_managers(managed: Managed) -> None:
    """Fold the oldest updaters of each version into one bucket until ten are left.
    Changes `managed`.
    """
    updaters = sorted(
        (e for e in managed.values() if not e.applied),
        key=lambda e: (e.time, e.identifier),
    )
    excess = len(updaters) - MAX_UPDATE_MANAGERS
    if excess <= 0:
        return
    first: dict[str, Entry] = {}
    for entry in updaters:
        if excess <= 0:
            return
        version = entry.api_version
        if version not in first:
            first[version] = entry
            continue
        bucket: Identifier = (UPDATE, ANCIENT, version, "")
        if bucket not in managed:
            oldest = managed.pop(first[version].identifier)
            managed[bucket] = oldest._replace(manager=ANCIENT, subresource="")
        managed[bucket] = managed[bucket]._replace(
            fields=union(entry.fields, managed[bucket].fields),
            time=entry.time,
        )
        managed.pop(entry.identifier, None)
        excess -= 1


def ignore_timestamps(new: Object, old: Object) -> None:
    """Give `new` the old times back if nothing else differs, so that writing the same
    again changes nothing. Changes `new`'s metadata.
    """
    mine, theirs = (
        new["metadata"].get("managedFields"),
        old["metadata"].get("managedFields"),
    )
    if not mine or not theirs or len(mine) != len(theirs) or mine == theirs:
        return
    if any({**a, "time": ""} != {**b, "time": ""} for a, b in zip(mine, theirs)):
        return
    if {**new, "metadata": {**new["metadata"], "managedFields": theirs}} == old:
        new["metadata"]["managedFields"] = theirs
