"""What a runtime tells of by itself: a container, or a sandbox, has begun or ended.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`ContainerEventResponse`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ContainerEventType(Enum):
    """`runtime.v1.ContainerEventType`."""

    CREATED = "CONTAINER_CREATED_EVENT"
    STARTED = "CONTAINER_STARTED_EVENT"
    STOPPED = "CONTAINER_STOPPED_EVENT"
    DELETED = "CONTAINER_DELETED_EVENT"


@dataclass(slots=True, frozen=True)
class ContainerEventResponse:
    """Something happened to a container (or, if `container_id` is the sandbox's, to a
    sandbox).
    """

    container_id: str
    type: ContainerEventType
    created_at: int
    pod_sandbox_id: str
    pod_uid: str
