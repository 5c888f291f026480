"""What happened to an object, as it stands below most descriptions.

Upstream: `kubectl/pkg/describe/describe.go` (`searchEvents`, `DescribeEvents`),
`kubectl/pkg/util/event/sorted_event_list.go` (`SortableEvents`), `client-go`
(`GetFieldSelector` of events), v1.36.
"""

from __future__ import annotations

import contextlib

from lifecycle.api.fields import escape_value
from lifecycle.api.go.sort import go_sorted
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.moments import translate_timestamp_since
from lifecycle.kubectl.describe.writer import PrefixWriter

MIRROR_POD = "kubernetes.io/config.mirror"


async def events_of(client: Clientset, obj: Object) -> list[Object] | None:
    """The events of an object; None if they are not asked for. What the server refuses
    is taken for none.
    """
    if not client.settings.show_events:
        return None
    meta = obj["metadata"]
    kind, uid = obj["kind"], meta.get("uid", "")
    if kind == "Pod":  # a static pod's kubelet knows it under another uid
        kind, uid = "", (meta.get("annotations") or {}).get(MIRROR_POD, uid)
    namespace, name = meta.get("namespace", ""), meta["name"]
    events = await _events_if_allowed(client, kind, namespace, name, uid)
    if obj["kind"] == "Node":
        # kubelets speak of their node by name, where others write its uid
        events += await _events_if_allowed(client, kind, namespace, name, name)
    return events


async def _events_if_allowed(
    client: Clientset, kind: str, namespace: str, name: str, uid: str
) -> list[Object]:
    with contextlib.suppress(StatusError):
        return await search_events(client, kind, namespace, name, uid)
    return []


async def search_events(
    client: Clientset, kind: str, namespace: str, name: str, uid: str
) -> list[Object]:
    """The events that are about something, in the order of the server. Raises
    StatusError.
    """
    involved = {"kind": kind, "name": name, "namespace": namespace, "uid": uid}
    selector = ",".join(
        f"involvedObject.{key}={escape_value(value)}"
        for key, value in involved.items()
        if value or key in ("name", "namespace")
    )
    return await client.list_all("events", namespace, {"fieldSelector": selector})


def describe_events(events: list[Object] | None, w: PrefixWriter) -> None:
    """A table of events, those that happened last at its end; those of one second in
    the order that Go's sorting leaves. Nothing if they were not asked for.
    """
    if events is None:
        return
    if not events:
        w.field(0, "Events", "<none>")
        return
    w.write(0, "Events:\n")
    w.header(1, "Type", "Reason", "Age", "From", "Message", rules=(4, 6, 4, 4, 7))
    for event in go_sorted(events, lambda each: each.get("lastTimestamp") or ""):
        source = (event.get("source") or {}).get("component")
        message = event.get("message", "").strip()
        if path := event["involvedObject"].get("fieldPath"):
            message = f"{path}: {message}"
        w.row(
            1,
            event.get("type", ""),
            event.get("reason", ""),
            _interval(event),
            source or event.get("reportingComponent", ""),
            message,
        )


def _interval(event: Object) -> str:
    """When it happened, and if it did so several times, since when."""
    first = translate_timestamp_since(
        event.get("eventTime") or event.get("firstTimestamp")
    )
    series, count = event.get("series"), event.get("count", 0)
    if series is not None:
        last = translate_timestamp_since(series.get("lastObservedTime"))
        return f"{last} (x{series.get('count', 0)} over {first})"
    if count > 1:
        last = translate_timestamp_since(event.get("lastTimestamp"))
        return f"{last} (x{count} over {first})"
    return first
