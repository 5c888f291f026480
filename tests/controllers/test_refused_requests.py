"""What controllers say and do when a request of theirs is refused: told once, tried again, and silent where all goes away."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import pytest
from tests.controllers.alone import TERMINATING, alone, refusing
from tests.controllers.pods_and_slices import pod as service_pod

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.controllers.cronjob.cronjob_controller import CronJobController
from lifecycle.controllers.daemonset.daemon_set_controller import DaemonSetController
from lifecycle.controllers.deployment.deployment_controller import DeploymentController
from lifecycle.controllers.endpoints.endpoints_controller import EndpointsController
from lifecycle.controllers.endpointslice.endpointslice_controller import EndpointSliceController
from lifecycle.controllers.job.job_controller import JobController
from lifecycle.controllers.manager import CONTROLLERS
from lifecycle.controllers.replicaset.replica_set_controller import ReplicaSetController
from lifecycle.controllers.statefulset.stateful_set_controller import StatefulSetController

LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
NODE = ("nodes", {"metadata": {"name": "node", "uid": "n"}, "spec": {}, "status": {"allocatable": {"pods": "9"}}})
WORK: dict[str, Object] = {
    "deployments.apps": {"replicas": 3, "strategy": {"type": "RollingUpdate"}, "progressDeadlineSeconds": 600},
    "replicasets.apps": {"replicas": 5},
    "daemonsets.apps": {"updateStrategy": {"type": "RollingUpdate"}},
    "statefulsets.apps": {"replicas": 1, "serviceName": "web", "updateStrategy": {"type": "RollingUpdate"}},
    "jobs.batch": {"parallelism": 1, "completions": 1, "backoffLimit": 6},
    "cronjobs.batch": {"schedule": "0 * * * *"},
    "services": {"selector": LABELS, "clusterIP": "10.96.0.9", "ipFamilies": ["IPv4"], "ports": [{"port": 80}]},
}


def work(kind: str, **more: Any) -> tuple[str, Object]:
    """Something that a controller has to do with."""
    meta = {
        "name": "web",
        "namespace": "ns",
        "uid": "u",
        "generation": 1,
        "labels": LABELS,
        "creationTimestamp": format_time(VIRTUAL_EPOCH - 3601),
    }
    spec = {**WORK[kind], **more}
    if kind == "cronjobs.batch":
        job = {"spec": {"template": TEMPLATE}}
        return kind, {"metadata": meta, "spec": {"jobTemplate": job, **spec}, "status": {}}
    if kind != "services":
        spec = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE, **spec}
    return kind, {"metadata": meta, "spec": spec, "status": {}}


MAKERS: list[tuple[Any, list[tuple[str, Object]], str, tuple[str, str]]] = [
    (
        DeploymentController,
        [work("deployments.apps")],
        "replicasets.apps",
        ("ReplicaSetCreateError", 'Failed to create new replica set "web-HASH": no more'),
    ),
    (ReplicaSetController, [work("replicasets.apps")], "pods", ("FailedCreate", "Error creating: no more")),
    (DaemonSetController, [NODE, work("daemonsets.apps")], "pods", ("FailedCreate", "Error creating: no more")),
    (JobController, [work("jobs.batch")], "pods", ("FailedCreate", "Error creating: no more")),
    (
        StatefulSetController,
        [work("statefulsets.apps")],
        "pods",
        ("FailedCreate", "Create Pod web-0 in StatefulSet web failed error: no more"),
    ),
    (CronJobController, [work("cronjobs.batch")], "jobs.batch", ("FailedCreate", "Error creating job: no more")),
    (
        EndpointsController,
        [work("services"), ("pods", service_pod(1))],
        "endpoints",
        ("FailedToCreateEndpoint", "Failed to create endpoint for service ns/web: no more"),
    ),
    (
        EndpointSliceController,
        [NODE, work("services")],
        "endpointslices.discovery.k8s.io",
        (
            "FailedToUpdateEndpointSlices",
            "Error updating Endpoint Slices for Service ns/web:"
            " failed to create EndpointSlice for Service ns/web: no more",
        ),
    ),
]
SILENT = [each for each in MAKERS if each[0] is not StatefulSetController]
"""Who looks for the reason of a refusal before telling of it."""

LOUD = [each for each in MAKERS if each[0] is not EndpointSliceController]
"""Who tries again with a word in the log."""


def plain(message: str) -> str:
    """Without the hash that a template has."""
    return re.sub(r"web-[0-9a-z]{6,10}\b", "web-HASH", message)


@pytest.mark.parametrize(("make", "objects", "what", "told"), MAKERS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_refused_create_is_told_and_tried_again_until_it_is_done(
    make: Any, objects: list[tuple[str, Object]], what: str, told: tuple[str, str]
) -> None:
    async def main() -> None:
        where = f"/{what.partition('.')[0]}"
        async with alone(make, *objects, refuse=refusing("POST", where)) as stage:
            await asyncio.sleep(30)
            assert {(kind, reason, plain(message)) for kind, reason, message in stage.told()} == {("Warning", *told)}
            asked = [path for _, path in stage.writes("POST") if path.endswith(where)]
            assert 1 < len(asked) < 40
            stage.api.refuse = lambda request: None
            await asyncio.sleep(1000)
            assert stage.items(what)
            said = {reason for kind, reason, _ in stage.told() if kind == "Warning"}
            assert said == {told[0]}, "nothing else went wrong"

    run_virtual(main())


@pytest.mark.parametrize(("make", "objects", "what", "told"), SILENT, ids=lambda each: getattr(each, "__name__", ""))
def test_in_a_namespace_that_goes_away_nobody_is_told(
    make: Any, objects: list[tuple[str, Object]], what: str, told: tuple[str, str]
) -> None:
    async def main() -> None:
        where = f"/{what.partition('.')[0]}"
        async with alone(make, *objects, refuse=refusing("POST", where, TERMINATING)) as stage:
            await asyncio.sleep(10)
            assert stage.told() == []
            assert [path for _, path in stage.writes("POST") if path.endswith(where)]

    run_virtual(main())


@pytest.mark.parametrize(("make", "objects", "what", "told"), LOUD, ids=lambda each: getattr(each, "__name__", ""))
def test_what_fails_is_logged_under_the_name_of_the_controller(
    make: Any, objects: list[tuple[str, Object]], what: str, told: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Its traces have the same name: one that the manager knows it or its account by."""

    async def main() -> None:
        async with alone(make, *objects, refuse=refusing("POST", f"/{what.partition('.')[0]}")):
            await asyncio.sleep(1)

    with caplog.at_level(logging.DEBUG, "lifecycle.client.keyed_worker"):
        run_virtual(main())
    (known,) = [{name, account} for name, (account, kind) in CONTROLLERS.items() if kind is make]
    logged = {str(record.args[0]) for record in caplog.records if isinstance(record.args, tuple) and record.args}
    assert logged
    assert logged <= known
