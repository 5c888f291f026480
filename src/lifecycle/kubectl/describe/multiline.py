"""Maps and lists that take a line for each entry: the title stands before the first.

Upstream: `kubectl/pkg/describe/describe.go` (`printLabelsMultiline`,
`printAnnotationsMultiline`, `printTaintsMultilineWithIndent`,
`printTolerationsMultilineWithIndent`, `printPodsMultiline`, `printController`),
`k8s.io/api/core/v1/taint.go` (`Taint.ToString`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lifecycle.api.go.sort import go_sorted
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.describe.writer import PrefixWriter
from lifecycle.kubectl.last_applied import LAST_APPLIED

MAX_ANNOTATION_LEN = 140


def print_multiline(
    w: PrefixWriter, title: str, lines: Sequence[str], indent: str = ""
) -> None:
    """The lines below one another, `<none>` if there are none."""
    w.write(0, f"{indent}{title}:\t")
    if not lines:
        w.write_line("<none>")
    for i, line in enumerate(lines):
        if i:
            w.write(0, indent)
            w.write(0, "\t")
        w.write(0, f"{line}\n")


def print_labels_multiline(
    w: PrefixWriter, title: str, labels: Mapping[str, str] | None, indent: str = ""
) -> None:
    """`key=value`, sorted by keys."""
    labels = labels or {}
    print_multiline(
        w, title, [f"{key}={labels[key]}" for key in sorted(labels)], indent
    )


def print_annotations_multiline(
    w: PrefixWriter, title: str, annotations: Mapping[str, str] | None
) -> None:
    """`key: value`, sorted by keys; long values and those of several lines below their
    keys, and cut. What `kubectl apply` notes for itself is not shown.
    """
    w.write(0, f"{title}:\t")
    annotations = annotations or {}
    keys = sorted(key for key in annotations if key != LAST_APPLIED)
    if not keys:
        w.write_line("<none>")
    for i, key in enumerate(keys):
        if i:
            w.write(0, "\t")
        value = annotations[key].removesuffix("\n")
        length = len(value.encode()) + len(key) + 2
        if length <= MAX_ANNOTATION_LEN and "\n" not in value:
            w.write(0, f"{key}: {value}\n")
            continue
        w.write(0, f"{key}:\n")
        for line in value.split("\n"):
            w.write(0, f"\t  {shorten(line, MAX_ANNOTATION_LEN - 2)}\n")


def shorten(text: str, max_length: int) -> str:
    """The text, cut after so many bytes of UTF-8."""
    encoded = text.encode()
    if len(encoded) <= max_length:
        return text
    return encoded[:max_length].decode(errors="replace") + "..."


def print_metadata(w: PrefixWriter, obj: Object, *, namespaced: bool = True) -> None:
    """How most descriptions begin: name, namespace, labels and annotations."""
    meta = obj["metadata"]
    w.field(0, "Name", meta["name"])
    if namespaced:
        w.field(0, "Namespace", meta.get("namespace", ""))
    print_labels_and_annotations(w, obj)


def print_labels_and_annotations(w: PrefixWriter, obj: Object) -> None:
    """The labels, and the annotations."""
    print_labels_multiline(w, "Labels", obj["metadata"].get("labels"))
    print_annotations_multiline(w, "Annotations", obj["metadata"].get("annotations"))


def format_labels(labels: Mapping[str, str] | None) -> str:
    """All labels in one line. Upstream: `labels.FormatLabels`."""
    labels = labels or {}
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or "<none>"


def print_controller(w: PrefixWriter, obj: Object) -> None:
    """Who made the object, and looks after it."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            w.field(0, "Controlled By", f"{owner['kind']}/{owner['name']}")
            return


def print_taints_multiline(w: PrefixWriter, taints: Iterable[Object]) -> None:
    """`key=value:effect`, sorted by effect and key."""
    ordered = sorted(taints, key=lambda taint: f"{taint['effect']},{taint['key']}")
    print_multiline(w, "Taints", [_taint(taint) for taint in ordered])


def _taint(taint: Object) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def print_pod_tolerations_multiline(
    w: PrefixWriter, title: str, tolerations: Iterable[Object] | None
) -> None:
    """What a pod puts up with, sorted by keys."""
    ordered = go_sorted(tolerations or (), lambda each: str(each.get("key", "")))
    print_multiline(w, title, [_toleration(each) for each in ordered])


def _toleration(each: Object) -> str:
    text = str(each.get("key", ""))
    if each.get("value"):
        text += f"={each['value']}"
    if each.get("effect"):
        text += f":{each['effect']}"
    if each.get("operator") == "Exists" and not each.get("value"):
        text += " op=Exists" if each.get("key") or each.get("effect") else "op=Exists"
    if each.get("tolerationSeconds") is not None:
        text += f" for {each['tolerationSeconds']}s"
    return text


def print_pods_multiline(w: PrefixWriter, title: str, pods: Iterable[Object]) -> None:
    """The names of pods, in order."""
    print_multiline(w, title, sorted(pod["metadata"]["name"] for pod in pods))


def print_conditions(w: PrefixWriter, obj: Object) -> None:
    """The conditions of a workload: type, status and reason."""
    conditions = (obj.get("status") or {}).get("conditions")
    if not conditions:
        return
    w.write(0, "Conditions:\n")
    w.header(1, "Type", "Status", "Reason", rules=(4, 6, 6))
    for each in conditions:
        w.row(1, f"{each['type']} ", each["status"], each.get("reason", ""))
