"""Every recorded scenario, asked again of an embedded cluster at the recorded pace: codes and fields."""

from __future__ import annotations

import pytest

from lifecycle.cluster.agree import agreement_with
from lifecycle.inspector import open_recording

EXPLAINED: dict[str, dict[str, int]] = {
    "admission": {},
    "authn": {},
    "authz": {},
    "corpus": {},
    "discovery": {},
    "etcd": {},
    "kubelet": {"image-id-of-two-names": 6, "programs-do-not-run": 12},
    "objects": {},
    "scheduling": {},
    "services": {},
    "storage": {},
}
"""Scenario → the known disagreements, counted."""

UNEXPLAINED = {
    "kubelet": {
        # when the pods were looked at, the pull was being tried again, and the real programs did not listen yet
        "/body/items/kubelet no-image/status/containerStatuses/0/state/waiting/reason",
        "/body/items/kubelet no-image/status/containerStatuses/0/state/waiting/message",
        "/body/items/kubelet post-start-http/status/containerStatuses/0/lastState/terminated",
        "/body/items/kubelet post-start-http/status/containerStatuses/0/restartCount",
        "/body/items/kubelet post-start-http.<hash> FailedPostStartHook PostStartHook failed",
        "/body/items/kubelet post-start-http.<hash> Killing FailedPostStartHook",
        "/body/items/kubelet post-start-http.<hash> BackOff Back-off restarting failed container c in pod post-",
        '/body/items/kubelet readiness-fails.<hash> Unhealthy Readiness probe failed: Get "http://<ip of Pod ku',
        "/body/message",  # why there is no log of no-image
        "/body",  # the environment of the pod env: hollow kubelets list no Services
    },
}
"""Scenario → the places that differ without a reason that a reader would accept. Nothing else may."""


@pytest.mark.parametrize("scenario", EXPLAINED)
def test_a_scenario_agrees_but_for_what_is_listed(scenario: str) -> None:
    table = agreement_with(open_recording(), scenario)
    assert {d.path for _, d in table.unexplained} == UNEXPLAINED.get(scenario, set())
    assert {known.id: count for known, count in table.known.items()} == EXPLAINED[scenario]
    codes = [d for row in table.rows for d in row.comparison.differences if d.path == "/code"]
    assert codes == []


def test_only_the_logs_of_one_pod_differ_whole() -> None:
    table = agreement_with(open_recording(), "kubelet")
    whole = [question for question, d in table.unexplained if d.path == "/body"]
    assert [question.rpartition("/pods/")[2] for question in whole] == ["env/log?container=c&tailLines=60"]


@pytest.mark.parametrize("scenario", ["admission", "scheduling", "storage", "corpus"])
def test_the_second_recording_agrees_as_well(scenario: str) -> None:
    table = agreement_with(open_recording("kind-1.36.2-again"), scenario)
    assert table.unexplained == []
