"""PodResizeValidator: what a pod's node could never give it, it need not wish for.

The kubelet would find out as well, and say *infeasible* in the pod's status; here
whoever asks is told at once. What others on the node have is not looked at: that
changes.

Upstream: `plugin/pkg/admission/podresize/admission.go`, v1.36 (new in it).
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import pod_requests, resource_list
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

NODE_CAPACITY, UNSUPPORTED_PLATFORM = "NodeCapacity", "UnsupportedPlatform"
OS_LABEL = "kubernetes.io/os"
_ZERO = parse_quantity("0")


class PodResizeValidator(Plugin):
    """Looks at resizes of pods that have a node."""

    name = "PodResizeValidator"
    operations = frozenset({UPDATE})
    resources = frozenset({("", "pods")})
    subresources = frozenset({"resize"})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._nodes = resource("nodes")

    def validate(self, attributes: Attributes) -> None:
        """Refuse more than the whole node has, and nodes that resize nothing."""
        pod, old = attributes.obj, attributes.old_obj
        name = pod["spec"].get("nodeName") if pod else ""
        if pod is None or old is None or not name or pod["spec"] == old["spec"]:
            return
        node = self._reader.get(self._nodes, "", name)
        if node is None:
            raise attributes.forbidden(f'node "{name}" not found')
        system = (node["metadata"].get("labels") or {}).get(OS_LABEL, "linux")
        if system != "linux":
            why = (
                "pod resize is only supported on linux nodes, node"
                f' "{name}" is "{system}"'
            )
            raise _with_cause(attributes.forbidden(why), UNSUPPORTED_PLATFORM)
        if short := _short(pod, node):
            why = f"node didn't have enough allocatable resources: {'; '.join(short)}"
            raise _with_cause(attributes.forbidden(why), NODE_CAPACITY)


def _short(pod: Object, node: Object) -> list[str]:
    allocatable = resource_list((node.get("status") or {}).get("allocatable"))
    requests = pod_requests(pod)
    cpu, memory = (requests.get(name, _ZERO) for name in ("cpu", "memory"))
    cpus, memories = (allocatable.get(name, _ZERO) for name in ("cpu", "memory"))
    short = []
    if cpu > cpus:
        short.append(f"cpu, requested: {cpu.milli()}, allocatable: {cpus.milli()}")
    if memory > memories:
        short.append(
            f"memory, requested: {memory.value()}, allocatable: {memories.value()}"
        )
    return short


def _with_cause(refusal: StatusError, reason: str) -> StatusError:
    details = refusal.status.setdefault("details", {})
    details["causes"] = [*(details.get("causes") or ()), {"reason": reason}]
    return refusal
