"""Which numbers the users of a pod have on this node.

A pod that says `hostUsers: false` gets 65,536 ids of the machine for itself, and no two
pods share one: whoever leaves one pod is still nobody in the next. The ids below 65,536
are the machine's own and never given away. Where a range begins is chance. What is
given is noted in the pod's directory, so a kubelet that starts again goes on with it,
and is free again when nothing of the pod runs any more.

Upstream: `pkg/kubelet/userns/userns_manager.go` (`UsernsManager`),
`pkg/kubelet/kubelet_pods.go` (`getKubeletMappings`), v1.36. Left out: ids that the
machine sets aside for a user `kubelet` (`getsubids`), `idsPerPod`.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubelet.config.directories import PodDirectories

IDS_PER_POD = 65536
FIRST_ID = 65536
MAPPED_IDS = (1 << 32) - FIRST_ID
MAPPINGS_FILE = "userns"
NODE: dict[str, Any] = {"mode": "NODE"}


class UsernsError(Exception):
    """The pod's users cannot be mapped; the text is what the event says."""


class UsernsManager:
    """One per node. `directories`: where pods have theirs; None: on paper, nothing is
    kept. `supports(handler)`: whether the runtime's handler of that name has user
    namespaces; raises LookupError if there is none.

    Raises UsernsError if what is noted on the disk contradicts itself.
    """

    def __init__(
        self,
        directories: PodDirectories | None,
        supports: Callable[[str], bool],
        rng: random.Random,
        mapped_ids: int = MAPPED_IDS,
    ) -> None:
        self._directories = directories
        self._supports = supports
        self._rng = rng
        self._slots = mapped_ids // IDS_PER_POD
        self._used_by: dict[str, int] = {}
        """The first id of a pod's range, by its uid."""
        for uid in directories.list_pods() if directories else ():
            try:
                self._record_from_disk(uid)
            except UsernsError as error:
                raise UsernsError(
                    f"record pod mappings for existing pod {go_quote(uid)}: {error}"
                ) from None

    def get_or_create_user_namespace_mappings(
        self, pod: Object, runtime_handler: str = ""
    ) -> dict[str, Any]:
        """CRI's `UserNamespace` of the pod. Raises UsernsError."""
        if pod["spec"].get("hostUsers") is not False:
            return dict(NODE)
        self._refuse_where_not_supported(runtime_handler)
        uid = pod["metadata"]["uid"]
        try:
            first = self._record_from_disk(uid)
        except UsernsError as error:
            raise UsernsError(f"user namespace: {error}") from None
        if first is None:
            first = self._used_by.get(uid)
        if first is None:
            first = self._create(uid)
        mapping = {"container_id": 0, "host_id": first, "length": IDS_PER_POD}
        return {"mode": "POD", "uids": [mapping], "gids": [dict(mapping)]}

    def _refuse_where_not_supported(self, handler: str) -> None:
        which = f"RuntimeClass handler {go_quote(handler)}" if handler else "runtime"
        why = (
            f"can't set `spec.hostUsers: false`, {which} does not support user"
            " namespaces"
        )
        try:
            supported = self._supports(handler)
        except LookupError as error:
            raise UsernsError(f"{why}: {error.args[0]}") from None
        if not supported:
            raise UsernsError(why)

    def pod_allocated(self, uid: str) -> bool:
        """Whether ids are the pod's."""
        return uid in self._used_by

    def release(self, uid: str) -> None:
        """Its ids are free. Again does no harm."""
        if self._used_by.pop(uid, None) is not None and self._directories:
            self._file(self._directories, uid).unlink(missing_ok=True)

    def clean_up_orphaned_pod_userns_allocations(self, known: Container[str]) -> None:
        """Release what pods have that nobody knows."""
        for uid in [uid for uid in self._used_by if uid not in known]:
            self.release(uid)

    @staticmethod
    def _file(directories: PodDirectories, uid: str) -> Path:
        return directories.pod(uid) / MAPPINGS_FILE

    def _create(self, uid: str) -> int:
        taken = set(self._used_by.values())
        offset = self._rng.randrange(self._slots)
        for step in range(self._slots):
            first = FIRST_ID + (offset + step) % self._slots * IDS_PER_POD
            if first not in taken:
                break
        else:
            raise UsernsError(
                "create user namespace: could not find an empty slot to allocate a"
                " user namespace"
            )
        try:
            self._write(uid, first)
        except OSError as error:
            raise UsernsError(f"create user namespace: {error}") from None
        self._used_by[uid] = first
        return first

    def _write(self, uid: str, first: int) -> None:
        """All of it or nothing, and for good: the directory is synced, too."""
        if self._directories is None:
            return
        file = self._file(self._directories, uid)
        file.parent.mkdir(parents=True, exist_ok=True)
        mapping = {"hostId": first, "containerId": 0, "length": IDS_PER_POD}
        new = file.with_name(f".{MAPPINGS_FILE}.new")
        with new.open("w") as output:
            json.dump({"uidMappings": [mapping], "gidMappings": [mapping]}, output)
            output.flush()
            os.fsync(output.fileno())
        new.rename(file)
        parent = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)

    def _record_from_disk(self, uid: str) -> int | None:
        """The first id that is noted for the pod, if one is. Raises UsernsError."""
        if self._directories is None:
            return None
        try:
            text = self._file(self._directories, uid).read_text()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsernsError(str(error)) from None
        first = parse_mappings(text)
        self._record(uid, first)
        return first

    def _record(self, uid: str, first: int) -> None:
        if first % IDS_PER_POD:
            raise UsernsError(f"wrong user namespace offset specified {first}")
        former = self._used_by.get(uid)
        if former is not None and former != first:
            raise UsernsError(
                f"different user namespace range already used by pod {go_quote(uid)}"
            )
        if not FIRST_ID <= first < FIRST_ID + self._slots * IDS_PER_POD:
            raise UsernsError(f"id {first} is out of range")
        if former is None and first in self._used_by.values():
            raise UsernsError(f"range picked for pod {go_quote(uid)} already taken")
        self._used_by[uid] = first


def parse_mappings(text: str) -> int:
    """The first id of the range in a mappings file. Raises UsernsError. Upstream:
    `parseUserNsFileAndRecord`.
    """
    try:
        document = json.loads(text)
        uids, gids = (document.get(key) or [] for key in ("uidMappings", "gidMappings"))
    except (ValueError, AttributeError) as error:
        raise UsernsError(f"invalid user namespace mappings file: {error}") from None
    wrong = "invalid user namespace configuration: "
    if len(uids) != 1:
        raise UsernsError(f"{wrong}no more than one mapping allowed.")
    if len(uids) != len(gids):
        raise UsernsError(f"{wrong}GID and UID mappings should be identical.")
    if uids != gids:
        raise UsernsError(f"{wrong}GID and UID mapping should be identical")
    if uids[0].get("containerId"):
        raise UsernsError(f"{wrong}UID 0 must be mapped")
    if uids[0].get("length") != IDS_PER_POD:
        raise UsernsError(f"wrong user namespace length {uids[0].get('length', 0)}")
    return int(uids[0].get("hostId", 0))
