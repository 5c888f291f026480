"""What `kubectl run` made of its flags, version by version, if nobody said what to make."""

from __future__ import annotations

import pytest

from lifecycle.historical.kubectl.generators import default_generator

ALL = frozenset({"apps/v1", "apps/v1beta1", "extensions/v1beta1"})


@pytest.mark.parametrize(
    ("minor", "restart", "schedule", "served", "made"),
    [
        # upstream: `pkg/kubectl/cmd/run.go` (`getDefaultGenerator`…) of those versions
        (4, "Always", "", None, "deployment/v1beta1"),
        (5, "Always", "", None, "deployment/v1beta1"),
        (6, "Always", "", None, "deployment/apps.v1beta1"),
        (13, "Always", "", None, "deployment/apps.v1beta1"),
        (14, "Always", "", None, "deployment/apps.v1"),
        (17, "Always", "", None, "deployment/apps.v1"),
        (18, "Always", "", None, "run-pod/v1"),
        (36, "Always", "", None, "run-pod/v1"),
        (17, "Never", "", None, "run-pod/v1"),
        (17, "OnFailure", "", None, "job/v1"),
        (7, "Always", "* * * * *", None, "cronjob/v2alpha1"),
        (8, "Always", "* * * * *", None, "cronjob/v1beta1"),
        (8, "Never", "* * * * *", None, "cronjob/v1beta1"),
        (18, "Never", "* * * * *", None, "run-pod/v1"),
        (18, "OnFailure", "", None, "run-pod/v1"),
        # a server that is older
        (14, "Always", "", ALL, "deployment/apps.v1"),
        (14, "Always", "", frozenset({"extensions/v1beta1"}), "deployment/v1beta1"),
        (6, "Always", "", frozenset({"apps/v1beta1", "extensions/v1beta1"}), "deployment/apps.v1beta1"),
        (6, "Always", "", frozenset({"extensions/v1beta1"}), "deployment/v1beta1"),
        (6, "Always", "", frozenset({"v1"}), "run/v1"),
        (4, "Always", "", frozenset(), "run/v1"),
        (17, "Never", "", frozenset(), "run-pod/v1"),
        (17, "OnFailure", "", frozenset(), "job/v1"),
    ],
)
def test_what_was_made_depended_on_the_version_the_policy_and_the_server(
    minor: int, restart: str, schedule: str, served: frozenset[str] | None, made: str
) -> None:
    assert default_generator(minor, restart, schedule, served) == made
