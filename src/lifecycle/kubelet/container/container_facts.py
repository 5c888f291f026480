"""Small questions about containers that several rooms ask.

Upstream: `pkg/kubelet/container/helpers.go` (`ExpandContainerCommandOnlyStatic`,
`HasAnyRegularContainerStarted`, `HasAnyActiveRegularContainerStarted`),
`pkg/kubelet/util/format/pod.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerState
from lifecycle.kubelet.container.expansion import Expansion
from lifecycle.kubelet.container.runtime import PodStatus

STATUS_UNKNOWN = "ContainerStatusUnknown"


LOST_KILLED = 137
"""The exit code of a run whose end nobody saw."""


def ended_unseen(reason: str, message: str, exit_code: int) -> Object:
    """An end that is not the runtime's word: there are no times and no container to go
    with it.
    """
    times = {"startedAt": None, "finishedAt": None}
    return {
        "terminated": {
            "exitCode": exit_code,
            "reason": reason,
            "message": message,
            **times,
        }
    }


def expand_command_only_static(
    command: Iterable[str], envs: Iterable[Object]
) -> tuple[str, ...]:
    """A probe's command, with what the container's variables say by themselves; of
    those that refer to something: nothing. Raises ExpansionError.
    """
    known = {variable["name"]: variable.get("value") or "" for variable in envs}
    expansion = Expansion()
    return tuple(expansion.expand(word, known.get) for word in command)


def has_any_regular_container_started(
    spec: Object, by_name: Mapping[str, Object]
) -> bool:
    """Whether one of the pod's own containers runs or has run."""
    states = (
        (by_name.get(container["name"]) or {}).get("state") or {}
        for container in spec["containers"]
    )
    return any(state.keys() & {"running", "terminated"} for state in states)


def has_any_active_regular_container_started(pod: Object, runtime: PodStatus) -> bool:
    """Whether one of the pod's own containers has been started in the sandbox in
    use.
    """
    names = {container["name"] for container in pod["spec"]["containers"]}
    started = (ContainerState.RUNNING, ContainerState.EXITED)
    return any(
        run.metadata.name in names and run.state in started for run in runtime.active
    )


def format_pod(pod: Object) -> str:
    """`name_namespace(uid)`. Upstream: `format.Pod`."""
    metadata = pod["metadata"]
    return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
