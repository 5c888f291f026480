"""`kubectl run` through the ages."""

from __future__ import annotations

import pytest

from lifecycle.historical.kubectl.generators import default_generator, run
from lifecycle.kubectl.failures import CommandError
from tests.kubectl.test_dry_run import recorded


@pytest.mark.parametrize(
    ("minor", "flags", "generator", "kind"),
    [
        (8, {}, "deployment/apps.v1beta1", "Deployment"),
        (17, {}, "deployment/apps.v1", "Deployment"),
        (17, {"restart": "OnFailure"}, "job/v1", "Job"),
        (17, {"restart": "Never"}, "run-pod/v1", "Pod"),
        (17, {"schedule": "*/5 * * * *"}, "cronjob/v1beta1", "CronJob"),
        (7, {"schedule": "*/5 * * * *"}, "cronjob/v2alpha1", "CronJob"),
        (17, {"generator": "run/v1"}, "run/v1", "ReplicationController"),
        (17, {"served": ["extensions/v1beta1"]}, "deployment/v1beta1", "Deployment"),
        (17, {"served": []}, "run/v1", "ReplicationController"),
        (18, {}, "run-pod/v1", "Pod"),
        (20, {"generator": "deployment/apps.v1", "replicas": 3}, "run-pod/v1", "Pod"),
        (36, {"restart": "OnFailure"}, "run-pod/v1", "Pod"),
    ],
)
def test_the_kind_once_followed_from_the_flags(minor, flags, generator, kind):
    made = run(minor, "nginx", "nginx", **flags)
    assert (made.generator, made.obj["kind"]) == (generator, kind)
    assert made.obj["metadata"]["labels"] == {"run": "nginx"}


def test_deprecated_in_1_12_without_effect_since_1_18_gone_in_1_21():
    assert run(11, "n", "i").warnings == ()
    assert run(12, "n", "i").warnings[0].startswith("kubectl run --generator=deployment/apps.v1beta1 is DEPRECATED")
    assert run(17, "n", "i", restart="Never").warnings == ()
    assert run(20, "n", "i", replicas=3).warnings == (
        "Flag --replicas has been deprecated, has no effect and will be removed in the future.",
    )
    with pytest.raises(CommandError) as refused:
        run(36, "nginx", "nginx", generator="deployment/apps.v1")
    assert f"error: {refused.value}\n" == recorded("run-generator")[3]
    with pytest.raises(
        CommandError, match=r"""^generator "nope" not found\nSee 'kubectl run -h' for help and examples$"""
    ):
        run(17, "n", "i", generator="nope")


def test_nothing_is_guessed_any_more():
    assert {default_generator(36, restart) for restart in ("Always", "OnFailure", "Never")} == {"run-pod/v1"}


def test_the_deployment_of_the_old_articles():
    obj = run(10, "nginx", "nginx", replicas=3, port="80").obj
    assert obj["spec"]["replicas"] == 3
    assert obj["spec"]["template"]["spec"] == {
        "containers": [{"name": "nginx", "image": "nginx", "ports": [{"containerPort": 80}]}]
    }
