"""The phase of a pod: its whole state in one word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording
from lifecycle.kubelet.kubelet_pods.phase import get_phase

CONTRACT = """\
get_phase(spec, statuses, pod_is_terminal) -> "Pending" | "Running" | "Succeeded" |
"Failed"

spec:            the pod's spec (containers, initContainers, restartPolicy).
statuses:        container statuses as in the API, those of init containers included:
        name, state, lastState, started.
pod_is_terminal: whether nothing runs any more and nothing will be started."""

STARTER = '''\
def get_phase(spec, statuses, pod_is_terminal):
    """The phase of a pod whose containers say this."""
    if any("waiting" in status["state"] for status in statuses):
        return "Pending"
    return "Running"
'''

STATES: dict[str, Object] = {
    "waiting": {"state": {"waiting": {"reason": "ContainerCreating"}}},
    "running": {"state": {"running": {}}, "started": True},
    "done": {"state": {"terminated": {"exitCode": 0}}},
    "failed": {"state": {"terminated": {"exitCode": 1}}},
    "backing off": {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1}},
    },
}


def cases() -> Iterator[Case]:
    """Every status that the recorded kubelets wrote, and two containers in all states,
    with and without an init container.
    """
    yield from _recorded()
    for policy, first, second in product(
        ("Always", "OnFailure", "Never"), STATES, STATES
    ):
        for init in ("", *STATES):
            for terminal in (False, True):
                spec: Object = {
                    "restartPolicy": policy,
                    "containers": [{"name": "a"}, {"name": "b"}],
                }
                statuses = [
                    {"name": "a", **STATES[first]},
                    {"name": "b", **STATES[second]},
                ]
                if init:
                    spec["initContainers"] = [{"name": "i"}]
                    statuses.insert(0, {"name": "i", **STATES[init]})
                label = (
                    f"{policy}, {first}, {second}, init {init or 'none'},"
                    f" {'over' if terminal else 'going on'}"
                )
                yield _case(
                    "containers in all states",
                    label,
                    get_phase(spec, statuses, terminal),
                    spec,
                    statuses,
                    terminal,
                )
    yield from _beside_a_sidecar()
    yield from _unreported()


def _beside_a_sidecar() -> Iterator[Case]:
    """An init container that stays, in all states, beside one container in all
    states.
    """
    for policy, side, main in product(
        ("Always", "Never"), [*STATES, "starting"], STATES
    ):
        init = [{"name": "s", "restartPolicy": "Always"}]
        spec: Object = {
            "restartPolicy": policy,
            "initContainers": init,
            "containers": [{"name": "a"}],
        }
        status = (
            {"state": {"running": {}}, "started": False}
            if side == "starting"
            else STATES[side]
        )
        statuses = [{"name": "s", **status}, {"name": "a", **STATES[main]}]
        label = f"{policy}, sidecar {side}, container {main}"
        yield _case(
            "a sidecar", label, get_phase(spec, statuses, False), spec, statuses, False
        )


def _unreported() -> Iterator[Case]:
    """A container of the spec of which no status speaks."""
    for policy, known in product(("Always", "OnFailure", "Never"), ("", *STATES)):
        spec: Object = {
            "restartPolicy": policy,
            "containers": [{"name": "a"}, {"name": "b"}],
        }
        statuses = [{"name": "a", **STATES[known]}] if known else []
        label = f"{policy}, one {known or 'unknown'}, the other unknown"
        yield _case(
            "nobody speaks of a container",
            label,
            get_phase(spec, statuses, False),
            spec,
            statuses,
            False,
        )


def _recorded() -> Iterator[Case]:
    seen: set[str] = set()
    for line in open_recording().watch("kubelet"):
        pod = line["event"]["object"]
        status = pod.get("status") or {}
        if (
            pod.get("kind") != "Pod"
            or "containerStatuses" not in status
            or status.get("reason")
        ):
            # a reason: the phase was decreed (a deadline, a refusal), not computed
            continue
        if _held_back(pod["spec"], status):
            continue
        statuses = [
            *(status.get("initContainerStatuses") or ()),
            *status["containerStatuses"],
        ]
        label = f"{pod['metadata']['name']} at {pod['metadata']['resourceVersion']}"
        if label not in seen:
            seen.add(label)
            over = is_pod_phase_terminal(status["phase"])
            yield _case(
                "the recorded pods", label, status["phase"], pod["spec"], statuses, over
            )


def _held_back(spec: Object, status: Object) -> bool:
    """All is over and the server does not know yet: the kubelet tells the last phase
    only when nothing of the pod runs any more.
    """
    over = all(
        "terminated" in container["state"] for container in status["containerStatuses"]
    )
    ended = [
        c["state"]["terminated"]
        for c in status.get("initContainerStatuses") or ()
        if "terminated" in c["state"]
    ]
    hopeless = spec.get("restartPolicy") == "Never" and any(
        end["exitCode"] for end in ended
    )
    return (
        (over or hopeless)
        and spec.get("restartPolicy") != "Always"
        and not is_pod_phase_terminal(status["phase"])
    )


def _case(
    group: str,
    label: str,
    phase: str,
    spec: Object,
    statuses: list[Object],
    terminal: bool,
) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: attempt(spec, statuses, terminal)  # noqa: E731
    return Case(group, label, phase, ask, [spec, statuses])


def ours() -> Attempt:
    """The book's."""
    return get_phase


EXERCISE = Exercise(
    "pod-phase",
    "The phase of a pod",
    CONTRACT,
    STARTER,
    "statuses that recorded kubelets wrote",
    cases,
    ours,
    ("phase", "phase-computation"),
)
