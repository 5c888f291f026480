"""What failed of a pod's volumes: why, and when it is tried again.

Processing a claim, waiting until its volume is attached, and mounting are operations of
their own, each with its own back-off.

Upstream: `pkg/volume/util/nestedpendingoperations/nestedpendingoperations.go`
(`NestedPendingOperations`), `pkg/util/goroutinemap/exponentialbackoff`
(`ExponentialBackoff`), `pkg/kubelet/volumemanager/volume_manager.go`
(`WaitForAttachAndMount`: what it says), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

INITIAL_BACK_OFF, MAX_BACK_OFF = 0.5, 122.0
"""Seconds between tries of one volume: the first, and the longest."""

UNPROCESSED_BACK_OFF = 10.0
"""Seconds between looks at a claim that leads nowhere: the pod worker's, after which it
looks at all the pod again.
"""


class Operation(Enum):
    """What was tried."""

    MOUNT = auto()
    ATTACH = auto()
    PROCESS = auto()


@dataclass(slots=True, frozen=True)
class Failure:
    """Of an operation. `wait`: seconds from then until `again_at`."""

    operation: Operation
    reason: str
    wait: float
    again_at: float


class PendingOperations:
    """Failures by the uid of a pod and the name of its volume."""

    def __init__(self) -> None:
        self._failures: dict[str, dict[str, Failure]] = {}

    def is_due(self, uid: str, volume: str, now: float) -> bool:
        """Whether a volume may be tried."""
        failure = self._failures.get(uid, {}).get(volume)
        return failure is None or now >= failure.again_at

    def failed(
        self, uid: str, volume: str, operation: Operation, reason: str, now: float
    ) -> None:
        """The next try waits twice as long as this one did, if that failed at the
        same.
        """
        failures, wait = self._failures.setdefault(uid, {}), INITIAL_BACK_OFF
        last = failures.get(volume)
        if operation is Operation.PROCESS:
            wait = UNPROCESSED_BACK_OFF
        elif last is not None and last.operation is operation:
            wait = min(last.wait * 2, MAX_BACK_OFF)
        failures[volume] = Failure(operation, reason, wait, now + wait)

    def succeeded(self, uid: str, volume: str) -> None:
        """Whatever failed before."""
        self._failures.get(uid, {}).pop(volume, None)

    def failures(self, uid: str, volumes: Iterable[str]) -> dict[str, Failure]:
        """The last of each of these volumes that has not succeeded since."""
        failures = self._failures.get(uid, {})
        return {name: failures[name] for name in volumes if name in failures}

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._failures.pop(uid, None)


def unprocessed(unmounted: Mapping[str, Failure]) -> str:
    """What is said of all the volumes that a pod waits for, be it since now or since
    some time. A claim that is used twice is told once.
    """

    def named(*operations: Operation) -> str:
        names = (name for name, it in unmounted.items() if it.operation in operations)
        return " ".join(sorted(names))

    reasons = {
        each.reason
        for each in unmounted.values()
        if each.operation is Operation.PROCESS
    }
    return (
        f"Unable to attach or mount volumes: unmounted volumes=[{named(*Operation)}],"
        f" unattached volumes=[{named(Operation.ATTACH)}], failed to process"
        f" volumes=[{named(Operation.PROCESS)}]: {'; '.join(sorted(reasons))}"
    )
