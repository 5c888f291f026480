"""Whoever refuses a pod first is who is told of; and of which run of a container the log is meant."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.lifecycle.interfaces import ADMITTED, PodAdmitAttributes, PodAdmitResult, can_admit_pod
from lifecycle.kubelet.server.container_logs import NoLogsError, container_for_logs


def _refused(reason: str) -> PodAdmitResult:
    return PodAdmitResult(False, reason, f"because of {reason}")


@pytest.mark.parametrize(
    ("answers", "result", "asked"),
    [
        ([], ADMITTED, 0),
        ([ADMITTED, ADMITTED], ADMITTED, 2),
        ([_refused("a"), _refused("b")], _refused("a"), 1),
        ([ADMITTED, _refused("b"), ADMITTED], _refused("b"), 2),
        ([_refused("a"), ADMITTED], _refused("a"), 1),
    ],
)
def test_the_first_refusal_counts_and_nobody_is_asked_after_it(
    answers: list[PodAdmitResult], result: PodAdmitResult, asked: int
) -> None:
    heard = list[int]()

    def handler(number: int) -> Any:
        def admit(_: PodAdmitAttributes) -> PodAdmitResult:
            heard.append(number)
            return answers[number]

        return admit

    told = can_admit_pod([handler(number) for number in range(len(answers))], PodAdmitAttributes({}, [], {}))
    assert (told, heard) == (result, list(range(asked)))


RUNS, ENDED, BEFORE = (
    {"running": {}},
    {"terminated": {"containerID": "containerd://now"}},
    {"containerID": "containerd://before"},
)
FAILED_TO_START = {"terminated": {"containerID": ""}}


@pytest.mark.parametrize(
    ("state", "last", "previous", "which"),
    [
        (RUNS, None, False, "now"),
        (RUNS, BEFORE, False, "now"),
        (RUNS, BEFORE, True, "before"),
        (ENDED, BEFORE, False, "now"),
        (ENDED, BEFORE, True, "before"),
        (FAILED_TO_START, BEFORE, False, "before"),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, BEFORE, False, "before"),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, BEFORE, True, "before"),
        (RUNS, None, True, 'previous terminated container "c" in pod "p" not found'),
        (ENDED, None, True, 'previous terminated container "c" in pod "p" not found'),
        (FAILED_TO_START, None, False, 'container "c" in pod "p" is terminated'),
        ({}, None, False, 'container "c" in pod "p" is waiting to start - no logs yet'),
    ],
)
def test_whose_log_is_meant(state: Object, last: Object | None, previous: bool, which: str) -> None:
    """Upstream: `validateContainerLogStatus`."""
    entry: Object = {"name": "c", "containerID": "containerd://now", "state": state}
    if last is not None:
        entry["lastState"] = {"terminated": last}
    status = {"containerStatuses": [entry]}
    if " " in which:
        with pytest.raises(NoLogsError) as refused:
            container_for_logs("p", status, "c", previous)
        assert str(refused.value) == which
    else:
        assert container_for_logs("p", status, "c", previous) == which


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("ContainerCreating", "ContainerCreating"),
        ("ErrImagePull", "image can't be pulled"),
        ("ImagePullBackOff", "trying and failing to pull image"),
        ("CrashLoopBackOff", "CrashLoopBackOff"),
        ("CreateContainerConfigError", "CreateContainerConfigError"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("of", ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"])
def test_why_one_that_never_ran_has_no_log(reason: str, said: str, of: str) -> None:
    """Upstream: `validateContainerLogStatus`, which has words of its own for an image that does not come."""
    other = {"name": "other", "containerID": "containerd://other", "state": {"running": {}}}
    entry = {"name": "c", "state": {"waiting": {"reason": reason} if reason else {}}}
    status = {"containerStatuses": [other], of: [other, entry]}
    with pytest.raises(NoLogsError) as refused:
        container_for_logs("p", status, "c", previous=False)
    assert str(refused.value) == f'container "c" in pod "p" is waiting to start: {said}'
    assert container_for_logs("p", status, "other", previous=False) == "other"
