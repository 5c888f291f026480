"""A day with kubernetes_asyncio: typed and dynamic, watches, exec over a websocket, patches, deletion."""

import asyncio

from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.client.rest import ApiException
from kubernetes_asyncio.dynamic import DynamicClient
from kubernetes_asyncio.stream import WsApiClient

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "talker", "labels": {"app": "talker"}},
    "spec": {
        "containers": [{"name": "c", "image": "busybox", "command": ["sh", "-c", "echo hello; sleep 3600"]}],
        "terminationGracePeriodSeconds": 0,
    },
}


async def ready(core: client.CoreV1Api, namespace: str, name: str) -> None:
    stream = watch.Watch().stream(
        core.list_namespaced_pod, namespace, field_selector=f"metadata.name={name}", timeout_seconds=60
    )
    async with stream:
        async for event in stream:
            conditions = event["object"].status.conditions or []
            if any(each.type == "Ready" and each.status == "True" for each in conditions):
                return
    raise AssertionError("it never was ready")


async def main() -> None:
    await config.load_kube_config()
    namespace = config.list_kube_config_contexts()[1]["context"]["namespace"]
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        await core.create_namespaced_pod(namespace, POD)
        await ready(core, namespace, "talker")
        assert await core.read_namespaced_pod_log("talker", namespace) == "hello\n"

        async with WsApiClient() as socket:
            answer = await client.CoreV1Api(socket).connect_get_namespaced_pod_exec(
                "talker",
                namespace,
                command=["echo", "from", "inside"],
                stderr=True,
                stdin=False,
                stdout=True,
                tty=False,
            )
            assert answer == "from inside\n", answer

        dynamic = await DynamicClient(api)
        maps = await dynamic.resources.get(api_version="v1", kind="ConfigMap")
        await maps.server_side_apply(
            body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}},
            namespace=namespace,
            field_manager="asyncio",
        )
        assert (await maps.get(name="m", namespace=namespace)).data.a == "1"
        for body in ({"data": {"b": "2"}}, [{"op": "replace", "path": "/data/a", "value": "x"}]):
            await core.patch_namespaced_config_map("m", namespace, body)
        assert (await core.read_namespaced_config_map("m", namespace)).data == {"a": "x", "b": "2"}

        try:
            await core.read_namespaced_secret("none", namespace)
        except ApiException as error:
            assert error.status == 404, error
        else:
            raise AssertionError("there is no such Secret")
        await core.delete_collection_namespaced_pod(namespace)


asyncio.run(main())
print("done")
