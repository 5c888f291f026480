"""What a quota's names stand for, and which changes may have given something back: tables."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.resourcequota.resource_quota_controller import (
    ResourceQuotaController,
    _should_replenish,
    counted_resource,
)

PODS, SERVICES, CLAIMS = (resource(name) for name in ("pods", "services", "persistentvolumeclaims"))


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        *((name, "pods") for name in ("pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "limits.memory")),
        ("requests.example.com/gpu", "pods"),
        ("hugepages-2Mi", "pods"),
        ("requests.hugepages-2Mi", "pods"),
        *((name, name) for name in ("services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps")),
        *((name, "persistentvolumeclaims") for name in ("persistentvolumeclaims", "requests.storage")),
        ("gold.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims"),
        ("gold.storageclass.storage.k8s.io/persistentvolumeclaims", "persistentvolumeclaims"),
        ("services.nodeports", "services"),
        ("services.loadbalancers", "services"),
        ("count/pods", "pods"),
        ("count/deployments.apps", "deployments.apps"),
        ("count/nothing.example.com", None),
        ("example.com/gpu", None),
        ("deployments.apps", None),
    ],
)
def test_what_is_counted_for_a_name(name: str, counted: str | None) -> None:
    assert counted_resource(name) == (None if counted is None else resource(counted))


def container(name: str = "c", /, **resources: Any) -> Object:
    return {"name": name, **({"resources": resources} if resources else {})}


def pod(phase: str = "Running", *containers: Object, init: tuple[Object, ...] = (), **more: Any) -> Object:
    status: Object = {"phase": phase, "containerStatuses": list(containers), "initContainerStatuses": list(init)}
    return {"metadata": {"name": "p", **more.pop("metadata", {})}, "spec": more, "status": status}


SMALL, LARGE = ({"requests": {"cpu": cpu}} for cpu in ("100m", "200m"))


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        (pod(), pod(), False),
        (pod("Pending"), pod(), False),
        (pod(), pod("Succeeded"), True),
        (pod(), pod("Failed"), True),
        (pod("Failed"), pod("Succeeded"), False),
        (pod("Failed"), pod(), False),
        (pod(), pod(activeDeadlineSeconds=9), True),  # another scope's now
        (pod(activeDeadlineSeconds=9), pod(activeDeadlineSeconds=8), False),
        (pod("Running", container(**SMALL)), pod("Running", container(**SMALL)), False),
        (pod("Running", container(**LARGE)), pod("Running", container(**SMALL)), True),
        (pod("Running", container(**SMALL)), pod("Running", container(limits={"cpu": "100m"})), True),
        (pod("Running", container(requests={"cpu": "0.1"})), pod("Running", container(**SMALL)), False),
        (pod("Running", container(**SMALL)), pod("Running", container()), True),
        (pod("Running"), pod("Running", container(**SMALL)), False),  # told for the first time
        (pod("Running", container("a", **SMALL)), pod("Running", container("b", **LARGE)), False),
        (pod(init=(container(**SMALL),)), pod(init=(container(**LARGE),)), True),
        (pod("Running", container(**SMALL)), pod(init=(container(**LARGE),)), False),
    ],
)
def test_which_changes_of_a_pod_count(old: Object, new: Object, counts: bool) -> None:
    assert _should_replenish(PODS, old, new) is counts


def service(kind: str = "", *ports: int) -> Object:
    spec: Object = {"ports": [{"port": port} for port in ports]}
    return {"metadata": {"name": "s"}, "spec": {**spec, "type": kind} if kind else spec}


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        (service("NodePort", 1, 2), service("NodePort", 1), False),
        (service("NodePort", 1), service("ClusterIP", 1), True),
        (service("LoadBalancer", 1), service("NodePort", 1), True),
        (service("ClusterIP"), service("ExternalName"), False),
        (service(), service("ClusterIP"), False),
        (service(), service("LoadBalancer"), True),
    ],
)
def test_which_changes_of_a_service_count(old: Object, new: Object, counts: bool) -> None:
    assert _should_replenish(SERVICES, old, new) is counts


def claim(size: str) -> Object:
    return {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": size}}}}


def test_which_changes_of_other_things_count() -> None:
    assert _should_replenish(CLAIMS, claim("1Gi"), claim("2Gi"))
    assert not _should_replenish(CLAIMS, claim("1Gi"), claim("1024Mi"))
    for name in ("configmaps", "deployments.apps", "pods.metrics.k8s.io"):
        try:
            row = resource(name)
        except KeyError:
            continue
        assert not _should_replenish(row, claim("1Gi"), claim("2Gi"))


def a_quota(status: Object | None = None, /, **hard: str) -> tuple[str, Object]:
    meta = {"name": "q", "namespace": "ns"}
    return "resourcequotas", {"metadata": meta, "spec": {"hard": hard}, "status": status or {}}


def config_map(name: str, namespace: str = "ns") -> tuple[str, Object]:
    return "configmaps", {"metadata": {"name": name, "namespace": namespace}}


def used(stage: Alone, name: str = "q") -> Object:
    (found,) = [each["status"] for each in stage.items("resourcequotas") if each["metadata"]["name"] == name]
    return found


def test_what_goes_away_is_given_back_at_once_and_what_comes_is_seen_after_five_minutes() -> None:
    async def main() -> None:
        objects = (a_quota(configmaps="5"), config_map("a"), config_map("b"), config_map("c", "elsewhere"))
        async with alone(ResourceQuotaController, *objects) as stage:
            assert used(stage) == {"hard": {"configmaps": "5"}, "used": {"configmaps": "2"}}
            await stage.client.delete(resource("configmaps"), "a", "ns")
            await asyncio.sleep(0.1)
            assert used(stage)["used"] == {"configmaps": "1"}
            writes = len(stage.api.log)
            for name in ("d", "e"):  # admission has charged these, where there is one
                body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}
                await stage.client.create(resource("configmaps"), body, "ns")
            await asyncio.sleep(200)
            assert used(stage)["used"] == {"configmaps": "1"}
            await asyncio.sleep(100)
            assert used(stage)["used"] == {"configmaps": "3"}
            assert len(stage.api.log) == writes + 3
            await asyncio.sleep(600)
            assert len(stage.api.log) == writes + 3, "what is right is not written again"

    run_virtual(main())


def test_a_status_keeps_what_somebody_else_counts_and_drops_what_is_no_longer_limited() -> None:
    async def main() -> None:
        known = {"hard": {"other.example.com/things": "9"}, "used": {"other.example.com/things": "4", "secrets": "1"}}
        hard = {"configmaps": "5", "other.example.com/things": "9"}
        quota = (
            "resourcequotas",
            {"metadata": {"name": "q", "namespace": "ns"}, "spec": {"hard": hard}, "status": known},
        )
        async with alone(ResourceQuotaController, quota) as stage:
            assert used(stage) == {"hard": hard, "used": {"configmaps": "0", "other.example.com/things": "4"}}
            assert list(used(stage)["hard"]) == sorted(hard)
            same = {"hard": {"configmaps": "5"}, "used": {"configmaps": "0"}}
        async with alone(ResourceQuotaController, a_quota(same, configmaps="5")) as stage:
            assert stage.api.log == []
        equal = {"hard": {"configmaps": "5000m"}, "used": {"configmaps": "0"}}
        async with alone(ResourceQuotaController, a_quota(equal, configmaps="5")) as stage:
            assert stage.api.log == [], "the same amount in other words"

    run_virtual(main())


def test_a_changed_limit_is_looked_at_and_another_change_is_not() -> None:
    async def main() -> None:
        async with alone(ResourceQuotaController, a_quota(configmaps="5")) as stage:
            quotas = resource("resourcequotas")
            body = await stage.client.get(quotas, "q", "ns")
            await stage.client.update(quotas, {**body, "spec": {"hard": {"configmaps": "7"}}})
            await asyncio.sleep(0.1)
            assert used(stage)["hard"] == {"configmaps": "7"}
            looked: list[str] = []
            stage.controller._queue.add = looked.append
            body = await stage.client.get(quotas, "q", "ns")
            await stage.client.update(quotas, {**body, "metadata": {**body["metadata"], "labels": {"a": "b"}}})
            await asyncio.sleep(0.1)
            assert looked == []

    run_virtual(main())


def test_a_kind_that_is_defined_later_is_counted_from_then_on() -> None:
    async def main() -> None:
        async with alone(ResourceQuotaController, a_quota(**{"count/bells.example.com": "2"})) as stage:
            assert used(stage)["used"] == {}
            looked: list[str] = []
            stage.controller._queue.add = looked.append
            names = {"plural": "bells", "kind": "Bell", "singular": "bell", "listKind": "BellList"}
            version = {"name": "v1", "served": True, "storage": True}
            body: Object = {
                "metadata": {"name": "bells.example.com"},
                "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
                "status": {"conditions": [{"type": "Established", "status": "True"}], "acceptedNames": names},
            }
            definitions = resource("customresourcedefinitions.apiextensions.k8s.io")
            for name in ("bells.example.com", "whistles.example.com"):
                stage.api.write("ADDED", definitions, {
                    **body, "kind": definitions.kind, "apiVersion": definitions.api_version,
                    "metadata": {"name": name, "uid": name, "creationTimestamp": format_time(VIRTUAL_EPOCH)},
                })  # fmt: skip
            await asyncio.sleep(0.1)
            assert looked == ["ns/q"]

    run_virtual(main())
