"""Which numbers the users of a pod have on the machine: CRI's `UserNamespace`.

A pod with a user namespace of its own counts its users from 0, and the machine knows
each by another number: first `host_id`, then the next. Both sides of CRI have to agree
on a single range, which begins with user 0, for users and for groups.

Upstream: containerd `internal/cri/server/sandbox_run_linux.go` (`parseUsernsIDs`,
`parseUsernsIDMap`), v2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.message import Fields


class IDMapping(NamedTuple):
    """`length` ids, inside from `container_id` on, outside from `host_id` on."""

    container_id: int
    host_id: int
    length: int

    def __str__(self) -> str:
        """A line of `/proc/PID/uid_map`."""
        return f"{self.container_id} {self.host_id} {self.length}"

    def on_host(self, inside: int) -> int:
        """Raises ValueError for an id that is not in the range."""
        if not self.container_id <= inside < self.container_id + self.length:
            raise ValueError(f"id {inside} is not mapped to the machine")
        return self.host_id + inside - self.container_id


class IDMappings(NamedTuple):
    """Of users and of groups."""

    uids: IDMapping
    gids: IDMapping


def id_mappings(namespace_options: Fields) -> IDMappings | None:
    """Those of a pod; None: it has the machine's users. Raises RuntimeServiceError."""
    options = namespace_options.get("userns_options") or {}
    mode = options.get("mode") or ("POD" if options else "NODE")
    uids, gids = options.get("uids") or (), options.get("gids") or ()
    if mode == "NODE":
        if uids or gids:
            raise _refused("can't use user namespace mode NODE with mappings")
        return None
    if mode != "POD":
        raise _refused(f'unsupported user namespace mode "{mode}"')
    return IDMappings(_one("uid", uids), _one("gid", gids))


def oci_id_mappings(namespace_options: Fields) -> dict[str, Any]:
    """`uidMappings` and `gidMappings` of an OCI spec's `linux`, if the pod has any."""
    mappings = id_mappings(namespace_options)
    if mappings is None:
        return {}
    return {
        key: [
            {
                "containerID": mapping.container_id,
                "hostID": mapping.host_id,
                "size": mapping.length,
            }
        ]
        for key, mapping in (
            ("uidMappings", mappings.uids),
            ("gidMappings", mappings.gids),
        )
    }


def read_oci_id_mappings(linux: dict[str, Any]) -> IDMappings | None:
    """And back."""
    if not linux.get("uidMappings"):
        return None
    uids, gids = (
        IDMapping(*(linux[key][0][name] for name in ("containerID", "hostID", "size")))
        for key in ("uidMappings", "gidMappings")
    )
    return IDMappings(uids, gids)


def _one(kind: str, mappings: Sequence[Fields]) -> IDMapping:
    if len(mappings) != 1:
        raise _refused(
            f"{kind} mappings: only one mapping per user namespace is supported, got"
            f" {len(mappings)}"
        )
    fields = mappings[0]
    mapping = IDMapping(
        fields.get("container_id", 0), fields.get("host_id", 0), fields.get("length", 0)
    )
    if mapping.length < 1:
        raise _refused(f"{kind} mappings: invalid length {mapping.length}")
    if mapping.host_id == 0:
        raise _refused(f"{kind} mappings: id 0 of the machine is not given away")
    return mapping


def _refused(why: str) -> RuntimeServiceError:
    return RuntimeServiceError(
        f"rpc error: code = Unknown desc = user namespace configuration: {why}"
    )
