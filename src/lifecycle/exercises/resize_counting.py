"""A pod that is being resized: with how much does it count?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import PodResourcesOptions, pod_requests
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
counted(pod) -> {"cpu": thousandths, "memory": bytes}: with how much the scheduler
counts a pod.

For each container and resource the largest of three counts: what is desired
(spec.containers[].resources.requests), what is allocated
(status.containerStatuses[].allocatedResources) and what is in force
(status.containerStatuses[].resources.requests). Statuses are found by the container's
name; without one, or as long as it has no "resources", only the desired counts. All
containers are added up.
If the pod has the condition PodResizePending with the reason Infeasible, the desired
amounts of such containers do not count.
What nobody names is left out. Amounts are whole CPUs ("2"), thousandths ("200m"), and
memory in Mi or Gi."""

STARTER = '''\
def counted(pod):
    """What a pod counts with."""
    cpu = 0
    for container in pod["spec"]["containers"]:
        cpu += int(container["resources"]["requests"]["cpu"].removesuffix("m"))
    return {"cpu": cpu}
'''

CPU = ("200m", "500m", "2")
MEMORY = ("64Mi", "1Gi", "256Mi")
REASONS = ("", "Deferred", "Infeasible")
COUNTING = PodResourcesOptions(use_status_resources=True)


def cases() -> Iterator[Case]:
    """One container in all moments of a resize, two of which only one is resized, and
    statuses that say little.
    """
    for desired, allocated, in_force, reason in product(CPU, CPU, CPU, REASONS):
        pod = _pod(
            [({"cpu": desired}, {"cpu": allocated}, {"cpu": in_force})], reason=reason
        )
        label = f"{desired} desired, {allocated} allocated, {in_force} in force"
        yield _case("one container", f"{label}{reason and ', '}{reason}", pod)
    for memory, allocated, reason in product(MEMORY, MEMORY, REASONS):
        both = {"cpu": "200m", "memory": memory}
        pod = _pod(
            [
                (both, {"cpu": "500m", "memory": allocated}, {"memory": "64Mi"}),
                ({"cpu": "100m"}, {"cpu": "100m"}, {"cpu": "100m"}),
            ],
            reason=reason,
        )
        label = f"{memory} desired, {allocated} allocated"
        yield _case("two containers", f"{label}{reason and ', '}{reason}", pod)
    for reason in REASONS:
        for name, entry in {
            "no status": None,
            "nothing in force": ({"cpu": "500m"}, None),
            "nothing allocated": (None, {"cpu": "500m"}),
            "nothing at all": (None, None),
        }.items():
            told = entry if entry is not None else ("", "")
            pod = _pod([({"cpu": "200m"}, *told)], reason=reason)
            yield _case("little is told", f"{name}{reason and ', '}{reason}", pod)
        pod = _pod([({}, {"cpu": "500m"}, {})], reason=reason)
        yield _case("little is told", f"nothing desired{reason and ', '}{reason}", pod)
        pod = _pod([({"cpu": "2"}, {"cpu": "500m"}, {"cpu": "200m"})], reason=reason)
        pod["status"]["conditions"] = [
            {"type": "PodResizeInProgress", "reason": reason, "status": "True"},
            {"type": "Ready", "reason": reason, "status": "False"},
        ]
        yield _case("another condition", reason or "no reason", pod)


def _pod(
    amounts: list[tuple[Object, Object | str | None, Object | str | None]],
    *,
    reason: str,
) -> Object:
    names = [f"nginx-{number}" for number in range(len(amounts))]
    containers, statuses = [], []
    for name, (desired, allocated, in_force) in zip(names, amounts, strict=True):
        containers.append({"name": name, "resources": {"requests": desired}})
        status: Object = {"name": name}
        if isinstance(allocated, dict):
            status["allocatedResources"] = allocated
        if in_force != "":
            status["resources"] = {} if in_force is None else {"requests": in_force}
        statuses.append(status)
    pod: Object = {
        "spec": {"containers": containers},
        "status": {"containerStatuses": statuses[::-1]},
    }
    if reason:
        condition = {"type": "PodResizePending", "reason": reason, "status": "True"}
        pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}, condition]
    return pod


def _case(group: str, label: str, pod: Object) -> Case:
    return Case(group, label, counted(pod), lambda attempt: attempt(pod), pod)


def counted(pod: Object) -> dict[str, int]:
    """As the book's scheduler counts."""
    requests = pod_requests(pod, COUNTING)
    return {
        name: amount.milli() if name == "cpu" else amount.value()
        for name, amount in requests.items()
    }


def ours() -> Attempt:
    """The book's."""
    return counted


EXERCISE = Exercise(
    "resize-counting",
    "A pod that is being resized",
    CONTRACT,
    STARTER,
    "the book's own scheduler and quota",
    cases,
    ours,
    ("in-place-resize",),
)
