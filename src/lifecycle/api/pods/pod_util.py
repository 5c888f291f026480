"""The phases of a pod, and small questions about pods that many ask.

Upstream: `pkg/api/v1/pod/util.go` (`IsPodPhaseTerminal`,
`IsRestartableInitContainer`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

PENDING = "Pending"
RUNNING = "Running"
SUCCEEDED = "Succeeded"
FAILED = "Failed"


def is_pod_phase_terminal(phase: str | None) -> bool:
    """Whether a pod in this phase is over."""
    return phase in (SUCCEEDED, FAILED)


def is_restartable_init_container(container: Object) -> bool:
    """Whether an init container stays: a sidecar."""
    return container.get("restartPolicy") == "Always"
