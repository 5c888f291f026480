"""A pod's status must not become too long by what its containers say at their end.

Upstream: `pkg/kubelet/status/status_manager.go` (`normalizeStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

MAX_POD_MESSAGE_LENGTH = 12 * 1024
"""Bytes of all messages of a pod together, shared out evenly among its containers."""


def normalize_status(status: Object) -> Object:
    """A pod's status with messages cut so that all of them together are no longer than
    `MAX_POD_MESSAGE_LENGTH`.
    """
    keys = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    count = sum(len(status.get(key) or ()) for key in keys)
    longest = MAX_POD_MESSAGE_LENGTH // count if count else 0
    if all(
        len(message.encode()) <= longest
        for key in keys
        for entry in status.get(key) or ()
        for message in _messages(entry)
    ):
        return status
    return {
        **status,
        **{
            key: [_cut(entry, longest) for entry in status[key]]
            for key in keys
            if status.get(key)
        },
    }


def _messages(entry: Object) -> list[str]:
    ends = (
        (entry.get(state) or {}).get("terminated") or {}
        for state in ("state", "lastState")
    )
    return [end["message"] for end in ends if end.get("message")]


def _cut(entry: Object, longest: int) -> Object:
    shortened = dict(entry)
    for state in ("state", "lastState"):
        ended: Object = (entry.get(state) or {}).get("terminated") or {}
        message = (ended.get("message") or "").encode()
        if len(message) > longest:
            text = message[:longest].decode(errors="surrogateescape")
            shortened[state] = {"terminated": {**ended, "message": _readable(text)}}
    return shortened


def _readable(text: str) -> str:
    """Without the bytes of a character that was cut in two, each of which is marked as
    Go's encoder marks it.
    """
    return "".join("\ufffd" if "\udc80" <= each <= "\udcff" else each for each in text)
