"""The autoscaler's arithmetic: which pods count, what the unmeasured are taken for, how fast it may go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time
from lifecycle.controllers.podautoscaler.metrics_client import MetricsError, PodMetric
from lifecycle.controllers.podautoscaler.replica_calculator import (
    Proposal,
    ReplicaCalculator,
    Tolerances,
    calculate_requests,
    group_pods,
    utilization,
)
from lifecycle.controllers.podautoscaler.scaling_rules import Bounds, ScaleHistory, normalize

NOW = 1_800_000_000.0
LIMITED = {
    "ScaleUpLimit": "the desired replica count is increasing faster than the maximum scale rate",
    "ScaleDownLimit": "the desired replica count is decreasing faster than the maximum scale rate",
    "TooManyReplicas": "the desired replica count is more than the maximum replica count",
    "TooFewReplicas": "the desired replica count is less than the minimum replica count",
    "DesiredWithinRange": "the desired count is within the acceptable range",
}
HELD_BACK = "recent recommendations were lower than current one, applying the lowest recent recommendation"
NOT_YET = "recent recommendations were higher than current one, applying the highest recent recommendation"


class FixedClock(Clock):
    def now(self) -> float:
        return NOW


def pod(number: int, ready: str = "True", phase: str = "Running", age: float = 3600, changed: float = 3600) -> Object:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": format_time(NOW - changed)}
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    status = {"phase": phase, "startTime": format_time(NOW - age), "conditions": [condition]}
    return {"metadata": {"name": f"p{number}"}, "spec": {"containers": containers}, "status": status}


def measured(*values: int | None) -> dict[str, PodMetric]:
    return {f"p{i}": PodMetric(value, NOW, 60.0) for i, value in enumerate(values) if value is not None}


def calculate(pods: list[Object], *values: int | None, target: int = 100, tolerance: float = 0.1) -> int:
    """Replicas for a CPU target in percent; every pod requests one whole CPU, and there are as many as wanted."""
    calculator = ReplicaCalculator(pods, len(pods), Tolerances(tolerance, tolerance), FixedClock())
    return calculator.resource_replicas(measured(*values), target, "cpu").replicas


def running(count: int) -> list[Object]:
    return [pod(number) for number in range(count)]


@pytest.mark.parametrize(
    ("values", "target", "replicas"),
    [
        ((300, 500, 700), 30, 5),  # 50 % of 30 %
        ((100, 300, 500, 250, 250), 50, 3),
        ((1010, 1030, 1020), 100, 3),  # within a tenth
        ((1110, 1110), 100, 3),
        ((890, 890, 890, 890, 890, 890, 890, 890, 890, 890), 100, 9),
    ],
)
def test_as_many_times_the_pods_as_the_usage_is_above_its_target(
    values: tuple[int, ...], target: int, replicas: int
) -> None:
    assert calculate(running(len(values)), *values, target=target) == replicas


def test_a_tolerance_may_differ_by_direction() -> None:
    calculator = ReplicaCalculator(running(10), 10, Tolerances(0.5, 0.0), FixedClock())
    assert calculator.resource_replicas(measured(*[510] * 10), 100, "cpu").replicas == 10
    assert calculator.resource_replicas(measured(*[1010] * 10), 100, "cpu").replicas == 11


def test_pods_that_tell_nothing_speak_against_the_change() -> None:
    assert calculate(running(4), 400, 500, 700, None, target=100) == 3  # down: as if it used all it asked for
    assert calculate(running(4), 1000, 2000, 3000, None, target=100) == 6  # up: as if it used nothing
    assert calculate(running(2), 1150, None, target=100) == 2  # and if that turns it round, nothing happens
    assert calculate(running(3), 1400, 1400, None, target=200) == 3  # a target above 100 % is what it is taken for


def test_pods_that_are_not_ready_count_nothing_on_the_way_up_and_are_left_out_on_the_way_down() -> None:
    fresh = [pod(0), pod(1, ready="False", age=60, changed=60), pod(2, phase="Pending")]
    assert calculate(fresh, 2500, 9000, None, target=50) == 5
    assert calculate(fresh, 200, 9000, None, target=50) == 1
    with pytest.raises(MetricsError, match=r"did not receive metrics for targeted pods \(pods might be unready\)$"):
        calculate([pod(0, ready="False", age=60)], 100)


@pytest.mark.parametrize(
    ("shape", "group"),
    [
        ({"phase": "Pending"}, "unready"),
        ({"phase": "Failed"}, "ignored"),
        ({"age": 60, "changed": 30}, "unready"),  # no whole window measured since it became ready
        ({"age": 120, "changed": 90}, "ready"),
        ({"ready": "False", "age": 120, "changed": 90}, "unready"),
        ({"ready": "False", "age": 3600, "changed": 3580}, "unready"),  # it never was ready
        ({"ready": "False", "age": 3600, "changed": 60}, "ready"),  # it was, and will be
    ],
)
def test_whose_cpu_counts(shape: dict[str, Any], group: str) -> None:
    groups = group_pods([pod(0, **shape)], measured(10), "cpu", NOW)
    found = {"ready"} if groups.ready else {name for name in ("unready", "missing", "ignored") if getattr(groups, name)}
    assert found == {group}
    if group == "unready" and shape.get("phase") != "Pending":
        assert group_pods([pod(0, **shape)], measured(10), "memory", NOW).ready == 1


def test_requests_of_pods_containers_and_sidecars() -> None:
    body = pod(0)
    body["spec"]["initContainers"] = [
        {"name": "once", "resources": {"requests": {"cpu": "9"}}},
        {"name": "beside", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}}},
    ]
    assert calculate_requests([body], "", "cpu") == {"p0": 1250}
    assert calculate_requests([body], "beside", "cpu") == {"p0": 250}
    with pytest.raises(MetricsError, match=r"container other not found in Pod p0$"):
        calculate_requests([body], "other", "cpu")
    with pytest.raises(MetricsError, match=r"missing request for memory in container c of Pod p0$"):
        calculate_requests([body], "", "memory")
    body["spec"]["resources"] = {"requests": {"cpu": "3"}}
    assert calculate_requests([body], "", "cpu") == {"p0": 3000}
    with pytest.raises(MetricsError, match=r"^missing pod-level request for memory in Pod p0$"):
        calculate_requests([body], "", "memory")
    assert calculate_requests([body], "c", "cpu") == {"p0": 1000}


def test_values_of_one_thing_for_all() -> None:
    calculator = ReplicaCalculator(running(3), 3, Tolerances(), FixedClock())
    assert calculator.value_replicas(20_000, 15_000) == Proposal(4, 20_000)
    assert calculator.value_replicas(16_000, 15_000).replicas == 3
    assert calculator.per_pod_replicas(40_000, 10_000, 3) == Proposal(4, 13_334)
    assert calculator.per_pod_replicas(30_500, 10_000, 3).replicas == 3
    assert ReplicaCalculator([], 0, Tolerances(), FixedClock()).value_replicas(20_000, 15_000).replicas == 2
    assert calculator.plain_replicas(measured(20_000, 10_000, 30_000), 15_000).replicas == 4


RULES = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": []}


def behavior(direction: str, *policies: tuple[str, int, int], **rules: Any) -> Object:
    given = [{"type": kind, "value": value, "periodSeconds": period} for kind, value, period in policies]
    other = {"scaleUp": "scaleDown", "scaleDown": "scaleUp"}[direction]
    return {direction: {**RULES, **rules, "policies": given}, other: RULES}


@pytest.mark.parametrize(
    ("rules", "current", "desired", "replicas", "reason"),
    [
        (None, 1, 100, 4, "ScaleUpLimit"),
        (None, 10, 100, 20, "ScaleUpLimit"),
        (None, 10, 15, 15, "DesiredWithinRange"),
        (None, 30, 60, 50, "TooManyReplicas"),
        (None, 10, 0, 2, "TooFewReplicas"),
        (behavior("scaleUp", ("Pods", 4, 60), ("Percent", 100, 60)), 10, 100, 20, "ScaleUpLimit"),
        (behavior("scaleUp", ("Pods", 4, 60), ("Percent", 100, 60), selectPolicy="Min"), 10, 100, 14, "ScaleUpLimit"),
        (behavior("scaleUp", ("Percent", 1, 60)), 5, 100, 6, "ScaleUpLimit"),  # rounded up
        (behavior("scaleUp", ("Pods", 4, 60), selectPolicy="Disabled"), 10, 100, 10, "ScaleUpLimit"),
        (behavior("scaleDown", ("Pods", 4, 60), ("Percent", 50, 60)), 20, 3, 10, "ScaleDownLimit"),
        (behavior("scaleDown", ("Pods", 4, 60), ("Percent", 50, 60), selectPolicy="Min"), 20, 3, 16, "ScaleDownLimit"),
        (behavior("scaleDown", ("Percent", 100, 60)), 20, 0, 2, "TooFewReplicas"),
        (behavior("scaleDown", ("Pods", 18, 60)), 20, 0, 2, "TooFewReplicas"),  # both would stop it there
        (behavior("scaleDown", ("Percent", 100, 60), selectPolicy="Disabled"), 20, 3, 20, "ScaleDownLimit"),
    ],
)
def test_how_much_at_once(rules: Object | None, current: int, desired: int, replicas: int, reason: str) -> None:
    found = normalize(ScaleHistory(), rules, Bounds(current, 2, 50), desired, NOW)
    assert (found.replicas, found.limited) == (replicas, replicas != desired)
    assert found.limit == (reason, LIMITED[reason])


def test_what_was_changed_within_the_period_counts_towards_the_limit() -> None:
    rules = behavior("scaleUp", ("Pods", 4, 60))
    history = ScaleHistory()
    history.store_scale_event(rules, 10, 13, NOW - 30)
    assert normalize(history, rules, Bounds(13, 1, 50), 100, NOW).replicas == 14
    assert normalize(history, rules, Bounds(13, 1, 50), 100, NOW + 31).replicas == 17
    history.store_scale_event(behavior("scaleDown"), 13, 11, NOW - 10)  # what went may come back
    assert normalize(history, rules, Bounds(11, 1, 50), 100, NOW).replicas == 14


def test_windows_hold_back_both_ways() -> None:
    rules = behavior("scaleUp", ("Percent", 900, 15), stabilizationWindowSeconds=60)
    history = ScaleHistory([(5, NOW - 50)])
    up = normalize(history, rules, Bounds(5, 1, 50), 20, NOW)
    assert (up.replicas, up.able) == (5, ("ScaleUpStabilized", HELD_BACK))
    up = normalize(history, rules, Bounds(5, 1, 50), 20, NOW + 20)
    assert (up.replicas, up.able) == (20, ("ReadyForNewScale", "recommended size matches current size"))
    down = normalize(ScaleHistory([(9, NOW - 299)]), None, Bounds(10, 1, 50), 3, NOW)
    assert (down.replicas, down.able) == (9, ("ScaleDownStabilized", NOT_YET))
    down = normalize(ScaleHistory([(9, NOW - 301)]), None, Bounds(10, 1, 50), 3, NOW)
    assert down.replicas == 3


def test_what_one_window_has_forgotten_the_other_may_still_know() -> None:
    """The longest period of all policies counts as well: what was done is remembered for that long."""
    rules = behavior("scaleDown", ("Percent", 100, 15), stabilizationWindowSeconds=600)
    history = ScaleHistory([(9, NOW - 400)])
    for later in (0, 100):
        down = normalize(history, rules, Bounds(10, 1, 50), 3, NOW + later)
        assert (down.replicas, down.able[0]) == (9, "ScaleDownStabilized")
    stays = normalize(ScaleHistory([(12, NOW - 400)]), rules, Bounds(10, 1, 50), 3, NOW)
    assert (stays.replicas, stays.able[0]) == (10, "ScaleDownStabilized")
    rules = behavior("scaleUp", ("Pods", 4, 10), ("Pods", 6, 600), selectPolicy="Min")
    history = ScaleHistory()
    history.store_scale_event(rules, 10, 13, NOW - 300)
    history.store_scale_event(rules, 13, 14, NOW - 20)
    assert normalize(history, rules, Bounds(14, 1, 50), 100, NOW).replicas == 16  # two of the six are left


@given(
    st.lists(st.tuples(st.integers(0, 60), st.floats(0, 700)), max_size=8),
    st.integers(1, 40),
    st.integers(0, 100),
    st.sampled_from([None, behavior("scaleUp", ("Pods", 3, 60)), behavior("scaleDown", ("Percent", 20, 30))]),
)
def test_it_never_leaves_its_bounds(
    past: list[tuple[int, float]], current: int, desired: int, rules: Object | None
) -> None:
    history = ScaleHistory([(value, NOW - ago) for value, ago in past])
    found = normalize(history, rules, Bounds(current, 1, 40), desired, NOW)
    assert 1 <= found.replicas <= 40
    assert (desired, NOW) in history.recommendations


def calculator(there: int, current: int | None = None) -> ReplicaCalculator:
    return ReplicaCalculator(running(there), there if current is None else current, Tolerances(0.1, 0.1), FixedClock())


def test_where_nothing_is_missing_the_ratio_alone_decides() -> None:
    """Also if there are fewer pods than were asked for: four of three pods' load is fewer than five."""
    for asked in (3, 5, 9):
        assert calculator(3, asked).resource_replicas(measured(1200, 1200, 1200), 100, "cpu").replicas == 4
    assert calculator(3, 5).resource_replicas(measured(1000, 1000, 1000), 100, "cpu").replicas == 5


def test_a_guess_never_turns_the_way() -> None:
    """Down to a number that is above the present one is no way down, and the other way round."""
    assert calculator(4, 2).resource_replicas(measured(500, 500, 500, None), 100, "cpu").replicas == 2
    assert calculator(4, 9).resource_replicas(measured(2000, 2000, 2000, None), 100, "cpu").replicas == 9


def test_the_missing_say_nothing_where_the_target_is_met() -> None:
    metrics = measured(1000, 1000, None)
    assert calculator(3).resource_replicas(metrics, 100, "cpu").replicas == 3
    assert set(metrics) == {"p0", "p1"}


def test_an_average_per_pod() -> None:
    assert calculator(3).plain_replicas(measured(20, 30, 40), 10, "") == Proposal(9, 30)
    assert calculator(3).plain_replicas(measured(20, 30, None), 10, "") == Proposal(5, 25)  # it uses nothing
    assert calculator(3).plain_replicas(measured(2, 4, None), 10, "") == Proposal(2, 3)  # it uses ten: 16 of 30
    with pytest.raises(MetricsError, match=r"no pods returned by selector while calculating replica count$"):
        calculator(0, 3).plain_replicas(measured(20), 10, "")


def test_one_value_for_all_pods_together() -> None:
    assert calculator(3).value_replicas(20, 10) == Proposal(6, 20)
    assert calculator(3).value_replicas(109, 100) == Proposal(3, 109)
    assert calculator(3, 7).value_replicas(109, 100) == Proposal(7, 109)
    assert calculator(0, 0).value_replicas(25, 10) == Proposal(3, 25)
    with pytest.raises(
        MetricsError,
        match=r"unable to calculate ready pods: no pods returned by selector while calculating replica count$",
    ):
        calculator(0, 3).value_replicas(20, 10)
    some = ReplicaCalculator(
        [pod(0), pod(1, ready="False"), pod(2, phase="Pending"), pod(3, phase="Failed")],
        4,
        Tolerances(0.1, 0.1),
        FixedClock(),
    )
    assert some.value_replicas(30, 10) == Proposal(3, 30), "only who runs and is ready counts"
    assert calculator(2).value_replicas(2**31, 1).replicas == 2**31 - 1


def test_one_value_shared_among_the_pods() -> None:
    assert calculator(3).per_pod_replicas(50, 10, 3) == Proposal(5, 17)
    assert calculator(3).per_pod_replicas(32, 10, 3) == Proposal(3, 11)
    assert calculator(3).per_pod_replicas(50, 10, 0) == Proposal(5, 50)
    assert calculator(3).per_pod_replicas(2**40, 1, 3).replicas == 2**31 - 1


def test_usage_of_nobody_known_is_an_error() -> None:
    with pytest.raises(MetricsError, match=r"no metrics returned matched known pods$"):
        utilization(measured(10), {"other": 1}, 50)
