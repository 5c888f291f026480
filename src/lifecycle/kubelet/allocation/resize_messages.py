"""What the events of a resize say: in words, then as JSON what it is about.

Upstream: `pkg/kubelet/events/pod_resize.go` (`podResizeMessage`,
`makeResourceSummaryFromPod`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object


def pod_resize_started_message(pod: Object, generation: int) -> str:
    """Of the event `ResizeStarted`."""
    return _message(pod, generation, "", "Pod resize started")


def pod_resize_completed_message(pod: Object, generation: int) -> str:
    """Of the event `ResizeCompleted`."""
    return _message(pod, generation, "", "Pod resize completed")


def pod_resize_error_message(pod: Object, generation: int, error: str) -> str:
    """Of the event `ResizeError`."""
    return _message(pod, generation, error, "Pod resize error")


def pod_resize_pending_message(
    pod: Object, reason: str, message: str, generation: int
) -> str:
    """Of the events `ResizeDeferred` and `ResizeInfeasible`."""
    return _message(pod, generation, message, f"Pod resize {reason}")


def _message(pod: Object, generation: int, error: str, prefix: str) -> str:
    summary: dict[str, Any] = {}
    for key in ("initContainers", "containers"):
        if pod["spec"].get(key):
            summary[key] = [
                {"name": c["name"], "resources": _sorted(c.get("resources") or {})}
                for c in pod["spec"][key]
            ]
    summary["generation"] = generation
    if error:
        summary["error"] = error
    return f"{prefix}: {fast_json.dumps(summary).decode()}"


def _sorted(resources: Object) -> Object:
    return {
        key: dict(sorted(resources[key].items()))
        for key in ("limits", "requests")
        if resources.get(key)
    }
