"""Claims about the generators of `kubectl run`: true of the model of 1.5 to 1.17, and
of no kubectl that was recorded.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.compare.claims import rebuilt
from lifecycle.historical.kubectl.generators import default_generator, run
from lifecycle.kubectl.failures import CommandError

FIRST, LAST = 5, 17
"""Minor versions: the oldest that the model knows, and the last before `run` made pods
only.
"""
DEPLOYMENTS = {
    5: "extensions/v1beta1",
    6: "apps/v1beta1",
    13: "apps/v1beta1",
    14: "apps/v1",
    17: "apps/v1",
}
"""Minor version → in which group version its deployments were made."""


def _made(
    minor: int,
    restart: str = "Always",
    schedule: str = "",
    served: Collection[str] | None = None,
    generator: str = "",
) -> tuple[str, str]:
    """Group version and kind."""
    obj = run(
        minor,
        "web",
        "nginx",
        restart=restart,
        schedule=schedule,
        served=served,
        generator=generator,
    ).obj
    return obj["apiVersion"], obj["kind"]


@rebuilt("generators-run-creates-several-kinds", model=True)
def several_kinds() -> bool:
    """Five of them, by four ways to type the line and one old server."""
    lines = (
        _made(LAST),
        _made(LAST, restart="OnFailure"),
        _made(LAST, restart="Never"),
        _made(LAST, schedule="@hourly"),
        _made(LAST, served=()),
    )
    return [kind for _, kind in lines] == [
        "Deployment",
        "Job",
        "Pod",
        "CronJob",
        "ReplicationController",
    ]


@rebuilt("generators-kind-inferred-when-unspecified", model=True)
def inferred() -> bool:
    """A schedule counts before a policy; a policy before what the server has; and of
    what the server has, the newest that this kubectl knows.
    """
    return (
        _made(LAST, restart="Never", schedule="@hourly") == ("batch/v1beta1", "CronJob")
        and _made(8, schedule="@hourly") == ("batch/v1beta1", "CronJob")
        and _made(7, schedule="@hourly") == ("batch/v2alpha1", "CronJob")
        and _made(LAST, restart="OnFailure", served=()) == ("batch/v1", "Job")
        and _made(LAST, served=["extensions/v1beta1"])
        == ("extensions/v1beta1", "Deployment")
        and _made(LAST, served=["apps/v1beta1"]) == ("v1", "ReplicationController")
        and _made(FIRST, served=["apps/v1"]) == ("v1", "ReplicationController")
        and _made(LAST + 1) == ("v1", "Pod")
        and default_generator(LAST + 1, schedule="@hourly") == "run-pod/v1"
    )


@rebuilt("generators-restart-policy-always-is-deployment", model=True)
def always_is_deployment() -> bool:
    """In every version, each time in the group version of its day."""
    return all(
        _made(minor) == (version, "Deployment")
        for minor, version in DEPLOYMENTS.items()
    )


@rebuilt("generators-restart-policy-never-is-pod", model=True)
def never_is_pod() -> bool:
    """A Pod because of the policy: without it there would be none."""
    return all(
        _made(minor, restart="Never") == ("v1", "Pod") != _made(minor)
        for minor in DEPLOYMENTS
    )


@rebuilt("generators-generator-flag-selects-kind", model=True)
def flag_selects() -> bool:
    """Whatever the policy says; and a generator that nobody has is refused."""
    try:
        _made(LAST, generator="teapot/v1")
    except CommandError:
        return (
            _made(LAST, generator="job/v1") == ("batch/v1", "Job")
            and _made(LAST, generator="run/v1") == ("v1", "ReplicationController")
            and _made(LAST, generator="deployment/apps.v1beta1")
            == ("apps/v1beta1", "Deployment")
            and _made(LAST, restart="OnFailure", generator="run-pod/v1")
            == ("v1", "Pod")
        )
    return False


@rebuilt("generators-deployment-apps-v1-generator", model=True)
def deployment_generator() -> bool:
    """From 1.14 on it was the one that nobody had to name."""
    chosen = {minor: run(minor, "web", "nginx").generator for minor in (13, 14, LAST)}
    return chosen == {
        13: "deployment/apps.v1beta1",
        14: "deployment/apps.v1",
        LAST: "deployment/apps.v1",
    }
