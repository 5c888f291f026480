"""What a container's status says where the runtime and what was said before do not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.kubelet.container.runtime import PodStatus, StartFailure
from lifecycle.kubelet.kubelet_pods.container_statuses import ContainerStatuses, StatusInputs

LOST = "The container could not be located when the pod was {}"
RUNNING = {"running": {"startedAt": "2027-01-01T00:00:00Z"}}
ENDED: Object = {"terminated": {"exitCode": 3, "containerID": "containerd://old"}}


def run(name: str, state: ContainerState, code: int = 0, *, id: str = "new", attempt: int = 0, **more: Any) -> Any:
    metadata = ContainerMetadata(name, attempt)
    return ContainerStatus(id, "s", metadata, state, 0, "image:1", "image@sha256:1", exit_code=code, **more)


def reported(state: Object, name: str = "c", restarts: int = 0, last: Object | None = None) -> Object:
    return {"name": name, "state": state, "lastState": last or {}, "restartCount": restarts}


def unseen(reason: str, message: str, code: int = 137) -> Object:
    return {
        "terminated": {
            "exitCode": code,
            "reason": reason,
            "message": message,
            "startedAt": None,
            "finishedAt": None,
        }
    }


def of(
    runs: list[ContainerStatus],
    *before: Object,
    inputs: StatusInputs | None = None,
    init: bool = False,
    restarting: bool = False,
    deleted: bool = False,
) -> Object:
    """The status of one container: of `i`, which is an init container, or of `c`."""
    containers = {"containers": [{"name": "c", "image": "x"}], "initContainers": [{"name": "i", "image": "x"}]}
    meta = {"deletionTimestamp": "2027-01-01T00:00:00Z"} if deleted else {}
    pod = {"metadata": meta, "spec": containers if init else {"containers": containers["containers"]}}
    statuses = ContainerStatuses(pod, PodStatus([], runs), inputs or StatusInputs(), before, restarting=restarting)
    (status,) = statuses.of_init_containers() if init else statuses.of_containers()
    return status


def test_one_that_ran_and_is_gone_is_lost_and_counts_as_started_again() -> None:
    status = of([], reported(RUNNING, restarts=2))
    assert status["state"] == {"waiting": {"reason": "ContainerCreating"}}
    gone = LOST.format("deleted") + ".  The container used to be Running"
    assert status["lastState"] == unseen("ContainerStatusUnknown", gone)
    assert status["restartCount"] == 3


def test_of_a_pod_that_is_being_deleted_it_is_not_started_again() -> None:
    status = of([], reported(RUNNING, restarts=2), deleted=True)
    assert (status["restartCount"], status["lastState"]["terminated"]["exitCode"]) == (2, 137)


def test_what_was_said_of_its_last_end_is_kept() -> None:
    status = of([], reported(RUNNING, restarts=2, last=ENDED))
    assert (status["lastState"], status["restartCount"]) == (ENDED, 2)
    assert of([], reported(ENDED, restarts=1))["state"] == ENDED


def test_one_whose_state_the_runtime_does_not_know_any_more_has_ended_if_it_ran() -> None:
    lost = run("c", ContainerState.UNKNOWN)
    status = of([lost], reported(RUNNING, restarts=4))
    assert status["state"] == unseen("ContainerStatusUnknown", LOST.format("terminated"))
    assert status["restartCount"] == 5
    all_again = of([lost], reported(RUNNING), restarting=True)
    assert all_again["state"] == unseen("RestartingAllContainers", LOST.format("terminated"))
    for before in ([], [reported({"waiting": {}})]):
        assert of([lost], *before)["state"] == {"waiting": {"reason": "ContainerCreating"}}


@pytest.mark.parametrize("before", [RUNNING, ENDED])
def test_where_all_containers_start_again_one_that_was_removed_waits_for_it(before: Object) -> None:
    status = of([], reported(before, restarts=1), restarting=True)
    why = "The container is removed because RestartAllContainers in place"
    assert status["state"] == {"waiting": {"reason": "RestartingAllContainers", "message": why}}
    assert status["lastState"] == unseen("RestartingAllContainers", why)
    assert status["restartCount"] == 2


def test_an_init_container_of_which_nothing_is_left_has_ended_well_once_the_others_were_made() -> None:
    ran = run("c", ContainerState.RUNNING)
    status = of([ran], init=True)
    why = (
        "Unable to get init container status from container runtime and pod has been initialized, treat it as exited"
        " normally"
    )
    assert status["state"] == unseen("Completed", why, 0)
    assert status["ready"]
    assert of([], init=True)["state"] == {"waiting": {"reason": "PodInitializing"}}


def test_who_could_not_be_started_waits_for_the_reason_and_has_its_end_behind_it() -> None:
    failed = StatusInputs(failures={"c": StartFailure("CrashLoopBackOff", "back-off 10s")})
    status = of([run("c", ContainerState.EXITED, 3, reason="Error")], inputs=failed)
    assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}
    assert status["lastState"]["terminated"] == {
        "exitCode": 3,
        "reason": "Error",
        "startedAt": "1970-01-01T00:00:00Z",
        "finishedAt": "1970-01-01T00:00:00Z",
        "containerID": "containerd://new",
    }
    silent = StatusInputs(failures={"c": StartFailure("CreateContainerError")})
    assert of([], inputs=silent)["state"] == {"waiting": {"reason": "CreateContainerError"}}
    running = of([run("c", ContainerState.RUNNING)], inputs=failed)
    assert list(running["state"]) == ["running"]


@pytest.mark.parametrize(
    ("state", "attempt", "before", "restarts"),
    [
        (ContainerState.RUNNING, 2, None, 2),
        (ContainerState.RUNNING, 2, reported(RUNNING, restarts=1), 2),
        (ContainerState.RUNNING, 0, reported(RUNNING, restarts=3), 3),
        (ContainerState.RUNNING, 0, reported(ENDED, restarts=3), 4),  # what counted was removed
        (ContainerState.RUNNING, 3, reported(ENDED, restarts=3), 4),
        (ContainerState.RUNNING, 4, reported(ENDED, restarts=3), 4),
        (ContainerState.EXITED, 3, reported(ENDED, restarts=3), 3),
    ],
)
def test_starts_are_counted_on(state: ContainerState, attempt: int, before: Object | None, restarts: int) -> None:
    status = of([run("c", state, attempt=attempt)], *([] if before is None else [before]))
    assert status["restartCount"] == restarts


def test_the_run_before_is_the_last_state_or_what_was_said_of_another_container() -> None:
    now = run("c", ContainerState.RUNNING)
    earlier = run("c", ContainerState.EXITED, 9, id="earlier")
    assert of([now, earlier])["lastState"]["terminated"]["exitCode"] == 9
    assert of([now])["lastState"] == {}
    old = {**reported(ENDED), "containerID": "containerd://old"}
    assert of([now], old)["lastState"] == ENDED
    same = {**reported(ENDED, last=RUNNING), "containerID": "containerd://new"}
    assert of([now], same)["lastState"] == RUNNING


def test_probes_say_whether_it_has_started_and_is_ready() -> None:
    ran = [run("c", ContainerState.RUNNING)]

    def said(**probes: Any) -> tuple[bool, bool]:
        status = of(ran, inputs=StatusInputs(**probes))
        return status["started"], status["ready"]

    assert said() == (True, True)
    assert said(ready={"new": False}) == (True, False)
    assert said(started={"new": False}) == (False, False)
    assert said(started={"new": False}, ready={"new": True}) == (False, False)
    waiting = of([])
    assert (waiting["started"], waiting["ready"]) == (False, False)
