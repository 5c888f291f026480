"""The phase: a pod's whole state in one word.

Only three things are looked at: what the init containers say, what the containers say,
and whether anything may be restarted.

Upstream: `pkg/kubelet/kubelet_pods.go` (`getPhase`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import (
    FAILED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    is_restartable_init_container,
)
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.kubelet.container.container_facts import (
    has_any_regular_container_started,
)
from lifecycle.kubelet.container.restart_all import RESTARTING_ALL_CONTAINERS


def _last_terminated(status: Object) -> Object | None:
    return (status.get("lastState") or {}).get("terminated")


@dataclass(slots=True)
class _Counted:
    """How many containers are in which state. `for_good`: those of the stopped that
    will not be started again.
    """

    pending_init: int = 0
    pending_sidecars: int = 0
    failed_init: int = 0
    unknown: int = 0
    waiting: int = 0
    running: int = 0
    stopped: int = 0
    for_good: int = 0
    succeeded: int = 0


def _for_good(spec: Object, container: Object, ended: Object) -> bool:
    """Whether a container that ended like this is not started again, be it alone or
    with all the others.
    """
    return ended.get(
        "reason"
    ) != RESTARTING_ALL_CONTAINERS and not container_should_restart(
        spec, container, ended["exitCode"]
    )


def _count_init(counted: _Counted, spec: Object, by_name: Mapping[str, Object]) -> None:
    """Init containers: who has not done its work, and who never will. A sidecar that
    ended does not matter.
    """
    for container in spec.get("initContainers") or ():
        status = by_name.get(container["name"])
        if is_restartable_init_container(container):
            _count_sidecar(counted, status)
            continue
        state = (status or {}).get("state") or {}
        ended = state.get("terminated") or (
            _last_terminated(status) if status and "waiting" in state else None
        )
        if ended is None:
            counted.pending_init += 1
        elif ended["exitCode"] != 0:
            counted.failed_init += _for_good(spec, container, ended)


def _count_sidecar(counted: _Counted, status: Object | None) -> None:
    state = (status or {}).get("state") or {}
    if status is None:
        counted.unknown += 1
    elif "running" in state:
        counted.pending_sidecars += not status.get("started")
        counted.running += 1
    elif "waiting" in state and not _last_terminated(status):
        counted.pending_sidecars += 1
        counted.waiting += 1
    elif not state:
        counted.pending_sidecars += 1
        counted.unknown += 1


def _count(spec: Object, by_name: Mapping[str, Object]) -> _Counted:
    counted = _Counted()
    _count_init(counted, spec, by_name)
    for container in spec["containers"]:
        state = (by_name.get(container["name"]) or {}).get("state") or {}
        if "running" in state:
            counted.running += 1
        elif "terminated" in state or "waiting" in state:
            ended = state.get("terminated")
            counted.succeeded += ended is not None and ended["exitCode"] == 0
            ended = ended or _last_terminated(by_name[container["name"]])
            if ended is None:
                counted.waiting += 1
                continue
            counted.stopped += 1
            counted.for_good += _for_good(spec, container, ended)
        else:
            counted.unknown += 1
    return counted


def get_phase(
    spec: Object,
    statuses: Iterable[Object],
    pod_is_terminal: bool,
    pod_has_initialized: bool | None = None,
    *,
    static: bool = False,
) -> str:
    """The phase for a pod with these container statuses (init containers' included).

    `pod_is_terminal`: nothing runs any more and nothing will be started.
    `pod_has_initialized`: one of its own containers was started in the sandbox in use;
    told from the statuses if not given. A `static` pod is never over before its
    containers are over for good.
    """
    by_name = {status["name"]: status for status in statuses}
    counted = _count(spec, by_name)
    if pod_has_initialized is None:
        pod_has_initialized = has_any_regular_container_started(spec, by_name)
    if counted.failed_init:
        return FAILED
    if (
        counted.pending_init
        or (counted.pending_sidecars and not pod_has_initialized)
        or counted.waiting
    ):
        return PENDING
    if counted.unknown:
        return PENDING
    if counted.running:
        return RUNNING
    if not counted.stopped:
        return PENDING
    if (not pod_is_terminal or static) and counted.stopped != counted.for_good:
        return RUNNING  # something is about to be started again
    return SUCCEEDED if counted.stopped == counted.succeeded else FAILED
