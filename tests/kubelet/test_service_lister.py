"""What containers of hollow kubelets are told of Services, and how many informers that takes."""

from __future__ import annotations

import asyncio

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.kubelet.service_lister import ServiceLister
from tests.kubelet.small_cluster import SmallCluster, small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, sleeper

SERVICES = resource("services")


async def serve(cluster: SmallCluster, name: str) -> None:
    spec = {"ports": [{"port": 80}], "selector": {"app": name}}
    await cluster.admin.create(
        SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}, "default"
    )


def names(objects: list[Object]) -> set[str]:
    return {obj["metadata"]["name"] for obj in objects}


def test_a_container_is_told_of_the_services_that_were_there_before_it() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await serve(cluster, "web")
            await asyncio.sleep(1)
            await cluster.create_pod(sleeper("p"))
            await cluster.create_pod(sleeper("unlinked", enableServiceLinks=False))
            await asyncio.sleep(1)
            runtime = cluster.runtimes[ONE_NODE[0]]
            told = {}
            for container in await runtime.list_containers():
                answer = await runtime.exec_sync(container.id, ("env",), 0)
                told[container.labels["io.kubernetes.pod.name"]] = dict(
                    line.split("=", 1) for line in answer.stdout.splitlines()
                )
            service = await cluster.admin.get(SERVICES, "web", "default")
            assert told["p"]["WEB_SERVICE_HOST"] == service["spec"]["clusterIP"]
            assert told["p"]["WEB_PORT_80_TCP_PROTO"] == "tcp"
            assert "WEB_SERVICE_HOST" not in told["unlinked"]
            for variables in told.values():  # of the API server everybody is told
                assert variables["KUBERNETES_SERVICE_PORT"] == "443"

    run_virtual(main())


def test_those_that_share_one_informer_list_once_and_leave_it_running() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            listed = 0

            async def counted(request: object) -> None:
                nonlocal listed
                listed += "/services" in str(request)

            cluster.first = counted  # type: ignore[assignment]
            client = cluster.client("kubelet", "admin", ("system:masters",))
            shared = SharedInformer(client, SERVICES)
            one, another = ServiceLister(client, shared), ServiceLister(client, shared)
            await one.wait_for_sync()
            asked = listed
            await another.wait_for_sync()
            assert names(one.list()) == names(another.list()) == {"kubernetes"}
            assert listed == asked
            await one.stop()
            await serve(cluster, "late")
            await asyncio.sleep(1)
            assert names(another.list()) == {"kubernetes", "late"}
            await shared.stop()

            alone = ServiceLister(client)
            await alone.wait_for_sync()
            await alone.stop()
            await serve(cluster, "too-late")
            await asyncio.sleep(1)
            assert names(alone.list()) == {"kubernetes", "late"}

    run_virtual(main())
