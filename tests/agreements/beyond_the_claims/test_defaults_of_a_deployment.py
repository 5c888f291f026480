"""What a Deployment says that has said nothing; and that what it has said stays, if it is nothing at all."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.apps.deployment import set_defaults

QUARTER = {"maxUnavailable": "25%", "maxSurge": "25%"}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": QUARTER}
DEFAULTS = {"replicas": 1, "strategy": ROLLING, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
SAID: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"replicas": 0}, {"replicas": 0}),
    ({"replicas": 7}, {"replicas": 7}),
    ({"replicas": None}, {}),
    ({"revisionHistoryLimit": 0}, {"revisionHistoryLimit": 0}),
    ({"progressDeadlineSeconds": 2147483647}, {"progressDeadlineSeconds": 2147483647}),
    ({"strategy": {}}, {}),
    ({"strategy": None}, {}),
    ({"strategy": {"type": "Recreate"}}, {"strategy": {"type": "Recreate"}}),
    ({"strategy": {"type": "RollingUpdate"}}, {}),
    ({"strategy": {"type": ""}}, {}),
    ({"strategy": {"rollingUpdate": None}}, {}),
    ({"strategy": {"rollingUpdate": {}}}, {}),
    (
        {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
        {"strategy": {**ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}}},
    ),
    (
        {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}},
        {"strategy": {**ROLLING, "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}},
    ),
]


@pytest.mark.parametrize(("said", "other"), SAID)
def test_what_is_not_said_is_filled_in(said: dict[str, Any], other: dict[str, Any]) -> None:
    """Upstream: `pkg/apis/apps/v1/defaults.go` (`SetDefaults_Deployment`) and its table."""
    deployment: dict[str, Any] = {"spec": {**said, "paused": True}}
    set_defaults(deployment)
    template = deployment["spec"].pop("template")
    assert deployment["spec"] == {**DEFAULTS, **other, "paused": True}
    assert (template["spec"]["restartPolicy"], template["spec"]["dnsPolicy"]) == ("Always", "ClusterFirst")


def test_one_that_has_no_spec_gets_one() -> None:
    deployment: dict[str, Any] = {}
    set_defaults(deployment)
    assert deployment["spec"]["replicas"] == 1
