"""Any object at all, for kinds without a describer of their own: everything that it
says, field by field.

Upstream: `kubectl/pkg/describe/describe.go` (`genericDescriber`,
`printUnstructuredContent`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.multiline import (
    print_annotations_multiline,
    print_labels_multiline,
)
from lifecycle.kubectl.describe.smart_label import smart_label_for
from lifecycle.kubectl.describe.writer import PrefixWriter

SKIPPED = frozenset(
    f".metadata.{field}"
    for field in ("managedFields", "name", "namespace", "labels", "annotations")
)
"""What stands above already, and what nobody wants to read."""


async def describe_anything(
    client: Clientset, resource: Resource, namespace: str, name: str
) -> str:
    """Describe an object of any resource. Raises StatusError."""
    obj = await client.get_anything(resource.path(namespace, name))
    events = await events_of(client, obj)
    w = PrefixWriter()
    meta = obj["metadata"]
    w.field(0, "Name", meta["name"])
    w.field(0, "Namespace", meta.get("namespace", ""))
    print_labels_multiline(w, "Labels", meta.get("labels"))
    print_annotations_multiline(w, "Annotations", meta.get("annotations"))
    print_unstructured_content(w, 0, obj, "")
    describe_events(events, w)
    return w.tabbed


def print_unstructured_content(
    w: PrefixWriter, level: int, content: Object, path: str
) -> None:
    """The fields of an object, sorted; what is in them one level deeper."""
    for field in sorted(content):
        value, here = content[field], f"{path}.{field}"
        if here in SKIPPED:
            continue
        title = smart_label_for(field)
        if isinstance(value, dict):
            w.write(level, f"{title}:\n")
            print_unstructured_content(w, level + 1, value, here)
        elif isinstance(value, list):
            w.write(level, f"{title}:\n")
            for child in value:
                if isinstance(child, dict):
                    print_unstructured_content(w, level + 1, child, here)
                else:
                    w.row(level + 1, child)
        else:
            w.field(level, title, value)
