"""What `kubectl run` used to make: the generators of 1.5 to 1.17, and how the kind was
guessed.

Until 1.17, `kubectl run nginx --image=nginx` made a Deployment. The kind followed from
the flags (`--schedule`, `--restart`) and from what the server offered, or was chosen
with `--generator`. Everything but `run-pod/v1` was deprecated in 1.12 and gone in 1.18;
the flag itself, without effect since, in 1.21. Nothing in kubectl 1.36 uses this
module; it is here so that the old articles can be run.

Upstream: `pkg/kubectl/cmd/run/run.go` (`getDefaultGenerator`),
`pkg/kubectl/generate/versioned/run.go` (`DeploymentAppsV1`, `JobV1`, `CronJobV1Beta1`,
`BasicReplicationController`, `BasicPod`) at v1.17; removed in
kubernetes/kubernetes#87077.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.run import run_pod

DEPLOYMENT_KINDS = {
    "deployment/apps.v1": "apps/v1",
    "deployment/apps.v1beta1": "apps/v1beta1",
    "deployment/v1beta1": "extensions/v1beta1",
}
DEPRECATION = (
    "kubectl run --generator={} is DEPRECATED and will be removed in a future version. "
    "Use kubectl run --generator=run-pod/v1 or kubectl create instead."
)
NO_EFFECT = (
    "Flag --{} has been deprecated, has no effect and will be removed in the future."
)


@dataclass(slots=True, frozen=True)
class RunResult:
    """What a `kubectl run` of some version did: the object, the generator's name, and
    what it printed to stderr.
    """

    obj: Object
    generator: str
    warnings: tuple[str, ...] = ()


def default_generator(
    minor: int,
    restart: str = "Always",
    schedule: str = "",
    served: Collection[str] | None = None,
) -> str:
    """The generator that kubectl 1.`minor` chose if none was named. `served` are the
    group versions that the server offers.

    Since 1.18 there is no choice.
    """
    if minor >= 18:
        return "run-pod/v1"
    if schedule:
        return "cronjob/v1beta1" if minor >= 8 else "cronjob/v2alpha1"
    if restart == "OnFailure":
        return "job/v1"
    if restart == "Never":
        return "run-pod/v1"
    preferred = (
        ["deployment/apps.v1"]
        if minor >= 14
        else ["deployment/apps.v1beta1"]
        if minor >= 6
        else []
    )
    for name in [*preferred, "deployment/v1beta1"]:
        if served is None or DEPLOYMENT_KINDS[name] in served:
            return name
    return "run/v1"


def run(
    minor: int,
    name: str,
    image: str,
    *,
    generator: str = "",
    replicas: int | None = None,
    restart: str = "Always",
    schedule: str = "",
    port: str = "",
    args: Sequence[str] = (),
    served: Collection[str] | None = None,
) -> RunResult:
    """What kubectl 1.`minor` (5 to 36) made of `kubectl run NAME --image=IMAGE …`.
    Raises CommandError for what it refused.
    """
    if minor >= 21:
        for flag, value in (
            ("generator", generator),
            ("replicas", replicas),
            ("schedule", schedule),
        ):
            if value not in ("", None):
                raise CommandError(
                    f"unknown flag: --{flag}\nSee 'kubectl run --help' for usage."
                )
    warnings = []
    if minor >= 18:
        given = (
            ("generator", generator),
            ("replicas", replicas),
            ("schedule", schedule),
        )
        warnings = [
            NO_EFFECT.format(flag) for flag, value in given if value not in ("", None)
        ]
        return RunResult(
            run_pod(name, image, restart=restart, port=port, args=args),
            "run-pod/v1",
            tuple(warnings),
        )
    chosen = generator or default_generator(minor, restart, schedule, served)
    make = GENERATORS.get(chosen)
    if make is None:
        raise CommandError(
            f"generator \"{chosen}\" not found\nSee 'kubectl run -h' for help and"
            " examples"
        )
    if minor >= 12 and chosen != "run-pod/v1":
        warnings.append(DEPRECATION.format(chosen))
    obj = make(
        chosen,
        name,
        _pod_spec(name, image, restart, port, args),
        1 if replicas is None else replicas,
        schedule,
    )
    return RunResult(obj, chosen, tuple(warnings))


def _pod_spec(
    name: str, image: str, restart: str, port: str, args: Sequence[str]
) -> Object:
    spec: Object = run_pod(name, image, restart=restart, port=port, args=args)["spec"]
    return spec


def _without_policies(spec: Object) -> Object:
    return {"containers": spec["containers"]}


def _deployment(
    generator: str, name: str, spec: Object, replicas: int, schedule: str
) -> Object:
    labels = {"run": name}
    return {
        "apiVersion": DEPLOYMENT_KINDS[generator],
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": _without_policies(spec),
            },
        },
    }


def _replication_controller(
    generator: str, name: str, spec: Object, replicas: int, schedule: str
) -> Object:
    labels = {"run": name}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": labels,
            "template": {
                "metadata": {"labels": labels},
                "spec": _without_policies(spec),
            },
        },
    }


def _job_template(name: str, spec: Object) -> Object:
    labels = {"run": name}
    policy = spec["restartPolicy"] if spec["restartPolicy"] != "Always" else "OnFailure"
    return {
        "metadata": {"labels": labels},
        "spec": {
            "template": {
                "metadata": {"labels": labels},
                "spec": {**_without_policies(spec), "restartPolicy": policy},
            }
        },
    }


def _job(
    generator: str, name: str, spec: Object, replicas: int, schedule: str
) -> Object:
    template = _job_template(name, spec)
    metadata = {"name": name, **template["metadata"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": template["spec"],
    }


def _cron_job(
    generator: str, name: str, spec: Object, replicas: int, schedule: str
) -> Object:
    body = {
        "schedule": schedule,
        "concurrencyPolicy": "Allow",
        "jobTemplate": {"spec": _job_template(name, spec)["spec"]},
    }
    metadata = {"name": name, "labels": {"run": name}}
    return {
        "apiVersion": f"batch/{generator.partition('/')[2]}",
        "kind": "CronJob",
        "metadata": metadata,
        "spec": body,
    }


def _pod(
    generator: str, name: str, spec: Object, replicas: int, schedule: str
) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"run": name}},
        "spec": spec,
    }


GENERATORS: dict[str, Callable[[str, str, Object, int, str], Object]] = {
    "run/v1": _replication_controller,
    "run-pod/v1": _pod,
    "job/v1": _job,
    "cronjob/v2alpha1": _cron_job,
    "cronjob/v1beta1": _cron_job,
    **dict.fromkeys(DEPLOYMENT_KINDS, _deployment),
}
"""The generators of `kubectl run` by name, as `--generator` took them."""
