"""Who is killed first when memory runs out."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.pods.qos import compute_pod_qos, get_pod_qos


def pod(*resources: dict[str, Any], **spec: Any) -> dict[str, Any]:
    containers = [{"name": f"c{i}", "image": "i:1", "resources": r} for i, r in enumerate(resources)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "0"}}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": {"memory": "10E"}}], "Burstable"),  # more than an int64 can say
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}], "Guaranteed"),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}], "Burstable"),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}, {}], "Burstable"),
    ],
)
def test_quality_of_service_is_decided_by_requests_and_limits(resources: list[dict[str, Any]], qos: str) -> None:
    assert compute_pod_qos(pod(*resources)) == qos


def test_what_the_status_says_holds() -> None:
    assert get_pod_qos(pod({})) == "BestEffort"
    assert get_pod_qos({**pod({}), "status": {"qosClass": "Burstable"}}) == "Burstable"


def test_what_a_pod_asks_for_as_a_whole_wins_over_its_containers() -> None:
    both = {"cpu": "1", "memory": "1Gi"}
    whole = pod({"requests": {"cpu": "1"}}, resources={"requests": both, "limits": both})
    assert compute_pod_qos(whole) == "Guaranteed"
