"""What has to be done to make a pod's containers what its spec wants?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import (
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kuberuntime.container_config import hash_container
from lifecycle.kubelet.kuberuntime.pod_actions import compute_pod_actions

CONTRACT = """\
actions(spec, sandbox, containers) -> {"sandbox": bool, "start": [name, …],
"kill": [name, …], "over": bool}

spec:       containers, each with a name and an image, and the restartPolicy. No init
            containers.
sandbox:    "none", "ready", or "dead" (there was one, and it is not in use any more).
containers: what is known of each, by name: {"state": "created" or "running",
            "image": …, "unhealthy": bool} or {"state": "exited", "exit_code": …}.
            Of one that was never made nothing is known.

"over":    nothing runs that may go on and nothing is to be started: the pod is ended.
"sandbox": a new one is needed, since there is none ready. Then all containers are
           started, but those that have succeeded under OnFailure. There is no new
           sandbox, and the pod is over, if the policy is Never and there was a sandbox
           with a container in it, or if nothing is left to start.
"kill":    runs, and either its image is not the spec's any more, or it is unhealthy. It
           is started again; but under Never one that is only unhealthy is not.
"start":   in the spec's order: what was never made, what was made and never started,
           what is killed as above, and what has ended, if the policy lets it: Always,
           OnFailure if the exit code is not 0, Never not at all."""

STARTER = '''\
def actions(spec, sandbox, containers):
    """What is to be done next."""
    names = [container["name"] for container in spec["containers"]]
    missing = [name for name in names if name not in containers]
    return {
        "sandbox": sandbox == "none",
        "start": missing,
        "kill": [],
        "over": False,
    }
'''

POLICIES = ("Always", "OnFailure", "Never")
STATES: dict[str, Object | None] = {
    "unknown": None,
    "created": {"state": "created", "image": "nginx", "unhealthy": False},
    "running": {"state": "running", "image": "nginx", "unhealthy": False},
    "old image": {"state": "running", "image": "nginx:old", "unhealthy": False},
    "unhealthy": {"state": "running", "image": "nginx", "unhealthy": True},
    "succeeded": {"state": "exited", "exit_code": 0},
    "failed": {"state": "exited", "exit_code": 1},
}


OVER = ("unknown", "created", "succeeded", "failed")
"""What a container can be whose sandbox is dead."""


def cases() -> Iterator[Case]:
    """One container and two, in all states, under each policy."""
    for policy in POLICIES:
        yield _case("no sandbox", policy, "none", ("unknown",))
        yield _case("no sandbox", policy, "none", ("unknown", "unknown"))
        for sandbox, states in (("ready", tuple(STATES)), ("dead", OVER)):
            for first in states:
                yield _case("one container", policy, sandbox, (first,))
            for pair in product(states, states):
                yield _case(f"two, sandbox {sandbox}", policy, sandbox, pair)


def _case(group: str, policy: str, sandbox: str, states: tuple[str, ...]) -> Case:
    names = ("nginx", "log")[: len(states)]
    spec: Object = {
        "restartPolicy": policy,
        "containers": [{"name": name, "image": "nginx"} for name in names],
    }
    containers = {
        name: STATES[state]
        for name, state in zip(names, states, strict=True)
        if STATES[state] is not None
    }
    return Case(
        group,
        f"{policy}, sandbox {sandbox}, {', '.join(states)}",
        actions(spec, sandbox, containers),
        lambda attempt: attempt(spec, sandbox, containers),
        [spec, containers],
        [spec, sandbox, containers],
    )


def actions(
    spec: Object, sandbox: str, containers: dict[str, Object | None]
) -> dict[str, object]:
    """As the book's kubelet decides."""
    runtime, unhealthy = PodStatus(), {}
    if sandbox != "none":
        ready = sandbox == "ready"
        state = PodSandboxState.READY if ready else PodSandboxState.NOTREADY
        metadata = PodSandboxMetadata("nginx", "uid", "default")
        runtime.sandboxes.append(PodSandboxStatus("s", metadata, state, 0))
    for name, known in containers.items():
        assert known is not None
        made_of = {"name": name, "image": known.get("image", "nginx")}
        note = {"io.kubernetes.container.hash": hash_container(made_of)}
        runtime.containers.append(
            ContainerStatus(
                name,
                "s",
                ContainerMetadata(name),
                ContainerState[known["state"].upper()],
                0,
                "",
                "",
                exit_code=known.get("exit_code", 0),
                annotations=note,
            )
        )
        if known.get("unhealthy"):
            unhealthy[name] = "liveness"
    found = compute_pod_actions({"metadata": {}, "spec": spec}, runtime, unhealthy)
    return {
        "sandbox": found.create_sandbox,
        "start": [container["name"] for container in found.containers_to_start],
        "kill": list(found.containers_to_kill),
        "over": found.kill_pod,
    }


def ours() -> Attempt:
    """The book's."""
    return actions


EXERCISE = Exercise(
    "container-actions",
    "What to do with a pod's containers",
    CONTRACT,
    STARTER,
    "the book's own kubelet",
    cases,
    ours,
    ("container-startup", "pod-actions"),
)
