"""The arithmetic of a disruption budget.

How many pods there *should* be is asked of the controllers that own the selected pods,
since pods that do not exist yet count, too; only a plain number in `minAvailable` needs
no controller. How many are *healthy* is counted: ready, not on their way out, and not
promised to an eviction that is still to delete them.

Upstream: `pkg/controller/disruption/disruption.go` (`getExpectedPodCount`,
`countHealthyPods`, `buildDisruptedPodMap`, `updatePdbStatus`),
`component-helpers/apps/poddisruptionbudget/helpers.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lifecycle.api.conditions import set_status_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.controllers.int_or_percent import scaled_value
from lifecycle.controllers.owner_references import get_controller_of
from lifecycle.controllers.pod_readiness import is_pod_ready

DELETION_TIMEOUT = 120.0
"""How long (seconds) an eviction may take from its approval to the deletion."""

CONDITION = "DisruptionAllowed"

ScaleOf = Callable[[Object, Object], tuple[str, int] | None]
"""The uid and the size of what stands behind a controller reference (second) of a pod
(first); None: nobody known.
"""


class NoControllerError(Exception):
    """A pod's controller is none whose size can be asked for; the text is the
    event's.
    """


def expected_scale(pods: Iterable[Object], scale_of: ScaleOf) -> tuple[int, list[str]]:
    """The sum over the pods' controllers, and the names of pods without one. Raises
    NoControllerError.
    """
    controller_scale: dict[str, int] = {}
    unmanaged: list[str] = []
    for pod in pods:
        reference = get_controller_of(pod)
        if reference is None:
            unmanaged.append(pod["metadata"]["name"])
            continue
        controller = scale_of(pod, reference)
        if controller is None:
            raise NoControllerError(
                f'found no controllers for pod "{pod["metadata"]["name"]}"'
            )
        controller_scale[controller[0]] = controller[1]
    return sum(controller_scale.values()), unmanaged


def expected_pod_count(
    pdb: Object, pods: Sequence[Object], scale_of: ScaleOf
) -> tuple[int, int, list[str]]:
    """How many pods there should be, how many of them must be healthy, and the pods
    without a controller.
    """
    spec = pdb["spec"]
    if spec.get("maxUnavailable") is not None:
        expected, unmanaged = expected_scale(pods, scale_of)
        return (
            expected,
            max(
                0,
                expected
                - scaled_value(spec["maxUnavailable"], expected, round_up=True),
            ),
            unmanaged,
        )
    least = spec.get("minAvailable")
    if isinstance(least, str):
        expected, unmanaged = expected_scale(pods, scale_of)
        return expected, scaled_value(least, expected, round_up=True), unmanaged
    return len(pods), least or 0, []


def disrupted_pods(
    pdb: Object, pods: Iterable[Object], now: float
) -> tuple[dict[str, str], list[Object]]:
    """The approved evictions that are still to delete their pod, and the pods whose
    eviction took too long.
    """
    listed = (pdb.get("status") or {}).get("disruptedPods") or {}
    waiting: dict[str, str] = {}
    late: list[Object] = []
    for pod in pods:
        name = pod["metadata"]["name"]
        if name not in listed or "deletionTimestamp" in pod["metadata"]:
            continue
        if parse_time(listed[name]) + DELETION_TIMEOUT < now:
            late.append(pod)
        else:
            waiting[name] = listed[name]
    return waiting, late


def count_healthy_pods(pods: Iterable[Object], disrupted: Mapping[str, str]) -> int:
    """Ready, staying, and not promised away."""
    return sum(
        "deletionTimestamp" not in pod["metadata"]
        and pod["metadata"]["name"] not in disrupted
        and is_pod_ready(pod)
        for pod in pods
    )


def budget_status(
    pdb: Object,
    healthy: int,
    desired: int,
    expected: int,
    disrupted: dict[str, str],
    now: float,
) -> Object:
    """The status. A budget that selects no pod yet allows nothing: its first pods would
    be unprotected.
    """
    allowed = max(0, healthy - desired) if expected > 0 else 0
    generation = pdb["metadata"].get("generation", 0)
    status: Object = {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
    }
    if disrupted:
        status["disruptedPods"] = disrupted
    reason, value = (
        ("SufficientPods", "True") if allowed else ("InsufficientPods", "False")
    )
    return with_condition(status, pdb, value, reason, "", now, generation)


def with_condition(
    status: Object,
    pdb: Object,
    value: str,
    reason: str,
    message: str,
    now: float,
    observed: int,
) -> Object:
    """The status with its one condition; its time moves only with its value.
    `observed`: the generation it speaks of.
    """
    conditions = list((pdb.get("status") or {}).get("conditions") or ())
    condition: Object = {
        "type": CONDITION,
        "status": value,
        "reason": reason,
        "message": message,
    }
    if observed:
        condition["observedGeneration"] = observed
    set_status_condition(conditions, condition, format_time(now))
    return {**status, "conditions": conditions}
