"""A recorded journey as its audit log and its watches tell it: every request of every
component, and every state of the objects that they saw.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from lifecycle.api.http.wire import Object
from lifecycle.client.store import meta_namespace_key
from lifecycle.inspector import Recording

AGE_OF_CACHE = "age of a controller's cache"


class RecordedJourney:
    """The journey as its audit log and its watches tell it."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @cached_property
    def _requests(self) -> list[Object]:
        return [
            event
            for event in self.recording.audit("journey")
            if event["stage"] == "ResponseComplete"
        ]

    def requests(
        self, component: str, verb: str = "", part: str = "", code: int = 0
    ) -> list[Object]:
        """Audit events of a component's finished requests: of one verb, with `part` in
        the URI, with one status.
        """
        return [
            event
            for event in self._requests
            if event["user"]["username"].endswith(f":{component}")
            and verb in ("", event["verb"])
            and part in event["requestURI"]
            and code in (0, event["responseStatus"]["code"])
        ]

    @cached_property
    def _watched(self) -> dict[str, list[tuple[int, str, Object]]]:
        """Plural → (revision, event type, object), as informers keep it: without
        managed fields.
        """
        watched: dict[str, list[tuple[int, str, Object]]] = defaultdict(list)
        for line in self.recording.watch("journey"):
            event, obj = line["event"], line["event"]["object"]
            if event["type"] != "BOOKMARK":
                plural = line["path"].partition("?")[0].rpartition("/")[2]
                meta = {
                    key: value
                    for key, value in obj["metadata"].items()
                    if key != "managedFields"
                }
                watched[plural].append(
                    (
                        int(meta["resourceVersion"]),
                        event["type"],
                        {**obj, "metadata": meta},
                    )
                )
        return watched

    def as_of(self, plural: str, revision: int) -> list[Object]:
        """The objects of a resource as they were just before a revision."""
        state: dict[str, Object] = {}
        for version, kind, obj in self._watched[plural]:
            if version >= revision:
                continue
            if kind == "DELETED":
                state.pop(meta_namespace_key(obj), None)
            else:
                state[meta_namespace_key(obj)] = obj
        return list(state.values())

    def has(self, plural: str, reference: Object, revision: str) -> bool:
        """Whether it was this object that a revision wrote."""
        return any(
            version == int(revision) and obj["metadata"]["uid"] == reference["uid"]
            for version, _, obj in self._watched[plural]
        )
