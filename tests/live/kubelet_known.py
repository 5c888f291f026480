"""Where the real kubelet and ours are known to differ, and why: the only place that excuses a difference between them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_HASH = "[0-9a-f]{32}"
_ENDED = r"pods/items/environment(?:-\d)? told/"


@dataclass(slots=True, frozen=True)
class Known:
    """`where`: a scene and what of it is looked at; `line`: the difference, all of it, as it is told."""

    where: str
    line: str
    reason: str


KNOWN = (
    Known(
        "static-pod object",
        r"pods/items/static-pod(?:-\d)? static-lifecycle-worker/metadata/annotations/kubernetes\.io/config\.(?:hash|mirror): "
        rf"{_HASH} ≠ {_HASH}",
        "The hash goes over the manifest's path, which is in each side's own folder, and over Go's way to print a struct.",
    ),
    Known(
        "node object",
        r'nodes/items/lifecycle-worker/metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/f:conditions/k:\{"type":"Ready"\}'
        r"/f:lastTransitionTime: (?:\(absent\) ≠ \{\}|\{\} ≠ \(absent\))",
        "Both register as not ready and say a little later that they are. If that is in the same second, the time is the same text, "
        "and its owner stays who wrote it first.",
    ),
    Known(
        "node event",
        r"theirs only: \('kubelet kubelet', 'Node', 'lifecycle-worker', 'Warning InvalidDiskCapacity', "
        r"'invalid capacity 0 on image filesystem'\)",
        "The real kubelet looks for images to remove before it has measured the disk for the first time; ours measures when it looks.",
    ),
    *(
        Known(
            "environment object",
            rf"{_ENDED}{path}: (?:{value} ≠ \(absent\)|\(absent\) ≠ {value})",
            "What a pod has is read from its cgroup, as long as there is one; of a pod that has ended the real kubelet removes it "
            "every two seconds, maybe between its last two looks.",
        )
        for path, value in (
            ("status/resources/limits", r"\{'cpu': '500m', 'memory': '64Mi'\}"),
            ("status/resources/requests/cpu", "500m"),
            (
                "metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/f:resources/f:limits",
                r"\{'\.': \{\}, 'f:cpu': \{\}, 'f:memory': \{\}\}",
            ),
            ("metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/f:resources/f:requests/f:cpu", r"\{\}"),
        )
    ),
    *(
        Known(
            "static-pod-taken-away way",
            rf"fleeting-lifecycle-worker {fields}: ours {opening} → {runs} → {ended}, theirs (?:{opening} → )?{runs}",
            "A mirror is taken away by the real kubelet when it tidies up the next time, every two seconds, and that may be before the "
            "pod's last status is written; ours takes it away after that.",
        )
        for fields, opening, runs, ended in (
            ("(?:Containers)?Ready", "False ContainersNotReady", "True", "False ContainersNotReady"),
            ("(?:PodReadyToStartContainers|containerStatuses/c/(?:ready|started))", "False", "True", "False"),
            ("containerStatuses/c/state", "waiting ContainerCreating", "running", "terminated Completed 0"),
        )
    ),
)


def excused(where: str, lines: Iterable[str], known: tuple[Known, ...] = KNOWN) -> list[str]:
    """The differences that nobody knows of."""
    mine = [each for each in known if re.fullmatch(each.where, where)]
    return [line for line in lines if not any(re.fullmatch(each.line, line, re.DOTALL) for each in mine)]
