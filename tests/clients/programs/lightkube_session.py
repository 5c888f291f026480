"""A day with lightkube: create, read, list, watch, patch, apply, scale, a kind of one's own, logs, and an end."""

import asyncio

from lightkube import ApiError, AsyncClient, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Node, Pod
from lightkube.types import PatchType

LABELS = {"app": "web"}


def session() -> None:
    client = Client(field_manager="lightkube")
    assert [node.metadata.name for node in client.list(Node)]
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=LABELS), spec=PodSpec(containers=[Container(name="nginx", image="nginx")])
    )
    spec = DeploymentSpec(replicas=2, selector=LabelSelector(matchLabels=LABELS), template=template)
    client.create(Deployment(metadata=ObjectMeta(name="web"), spec=spec))
    ready = client.wait(Deployment, "web", for_conditions=["Available"])
    assert ready.status.readyReplicas == 2

    client.patch(Deployment.Scale, "web", {"spec": {"replicas": 3}}, patch_type=PatchType.MERGE)
    for _, deployment in client.watch(Deployment, fields={"metadata.name": "web"}):
        if deployment.status.readyReplicas == 3:
            break
    pods = list(client.list(Pod, labels=LABELS, chunk_size=2))
    assert len(pods) == 3
    assert isinstance(list(client.log(pods[0].metadata.name)), list)

    applied = client.apply(
        ConfigMap(metadata=ObjectMeta(name="settings"), data={"a": "1"}, apiVersion="v1", kind="ConfigMap")
    )
    assert applied.metadata.managedFields[0].manager == "lightkube"
    try:
        client.apply(
            ConfigMap(metadata=ObjectMeta(name="settings"), data={"a": "2"}, apiVersion="v1", kind="ConfigMap"),
            field_manager="another",
        )
    except ApiError as error:
        assert error.status.code == 409, error.status
    else:
        raise AssertionError("two managers own one field")
    applied.data = {"a": "3"}
    assert client.replace(applied).data == {"a": "3"}
    client.delete(ConfigMap, "settings")
    try:
        client.get(ConfigMap, "settings")
    except ApiError as error:
        assert error.status.reason == "NotFound"
    else:
        raise AssertionError("it is still there")
    client.deletecollection(Deployment)


def kind_of_ones_own() -> None:
    client = Client(field_manager="lightkube")
    definition = {
        "metadata": {"name": "cups.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"kind": "Cup", "plural": "cups"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                        }
                    },
                }
            ],
        },
    }
    client.create(CustomResourceDefinition.from_dict(definition))
    client.wait(CustomResourceDefinition, "cups.example.org", for_conditions=["Established"])
    cups = create_namespaced_resource("example.org", "v1", "Cup", "cups")
    client.create(cups(metadata={"name": "blue"}, spec={"size": 3}))
    assert [cup.spec["size"] for cup in client.list(cups)] == [3]
    try:
        client.create(cups(metadata={"name": "red"}, spec={"size": "big"}))
    except ApiError as error:
        assert error.status.code == 422 and "spec.size" in error.status.message, error.status
    else:
        raise AssertionError("a word for a number")
    client.delete(CustomResourceDefinition, "cups.example.org")


async def at_the_same_time() -> None:
    client = AsyncClient()
    names = [f"c{number}" for number in range(20)]
    await asyncio.gather(*(client.create(ConfigMap(metadata=ObjectMeta(name=name), data={})) for name in names))
    seen = {item.metadata.name async for item in client.list(ConfigMap, chunk_size=7)}
    assert seen >= set(names)
    await client.delete(ConfigMap, "c0")


session()
kind_of_ones_own()
asyncio.run(at_the_same_time())
print("done")
