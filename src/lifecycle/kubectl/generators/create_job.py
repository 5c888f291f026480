"""`kubectl create job`, from an image or from a CronJob's template, and `kubectl create
cronjob`.

Upstream: `kubectl/pkg/cmd/create/create_job.go`, `create_cronjob.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object


def _template(name: str, image: str, command: Sequence[str], restart: str) -> Object:
    container: Object = {"name": name, "image": image}
    if command:
        container["command"] = list(command)
    return {"spec": {"containers": [container], "restartPolicy": restart}}


def create_job(name: str, image: str, command: Sequence[str] = ()) -> Object:
    """A Job that runs once."""
    spec = {"template": _template(name, image, command, "Never")}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": spec,
    }


def create_job_from_cronjob(name: str, cronjob: Object) -> Object:
    """What the CronJob would make, now and by hand; it counts as the CronJob's own."""
    template = cronjob["spec"]["jobTemplate"]
    about = template.get("metadata") or {}
    metadata: Object = {"name": name}
    if about.get("labels"):
        metadata["labels"] = about["labels"]
    metadata["annotations"] = {
        "cronjob.kubernetes.io/instantiate": "manual",
        **(about.get("annotations") or {}),
    }
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": cronjob["metadata"]["name"],
    }
    metadata["ownerReferences"] = [
        {**owner, "uid": cronjob["metadata"].get("uid", ""), "controller": True}
    ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


def create_cronjob(
    name: str,
    image: str,
    schedule: str,
    command: Sequence[str] = (),
    restart: str = "OnFailure",
) -> Object:
    """A CronJob. Neither the schedule nor the restart policy is checked by the
    client.
    """
    job = {
        "metadata": {"name": name},
        "spec": {"template": _template(name, image, command, restart)},
    }
    spec = {"schedule": schedule, "jobTemplate": job}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name},
        "spec": spec,
    }
