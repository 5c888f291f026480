"""Initializers as they were: stored and hidden, worked on one after the other, and then there for everybody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.client.rest import Client
from lifecycle.etcd.memory import MemoryStore
from lifecycle.historical.apiserver.server_with_initializers import create_server_with_initializers
from lifecycle.historical.controllers.initializer_controller import IncludeUninitialized, InitializerController
from lifecycle.historical.controllers.initializer_examples import (
    initializer_configuration,
    inject_sidecar,
    mount_test_certificate,
    refuse_short_secret,
)
from tests.apiserver.admission_server import ROOT, Asker, config_map, started

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1alpha1/initializerconfigurations"
MAPS, DEPLOYMENTS, SECRETS = resource("configmaps"), resource("deployments.apps"), resource("secrets")


def play(scene: Callable[[Asker, Client, Client], Awaitable[Any]], *configured: tuple[str, str]) -> Any:
    """`configured`: initializer and resource. The scene gets an ordinary client, and one that sees everything."""

    async def main() -> Any:
        asker = await started(server=create_server_with_initializers(MemoryStore()))
        for name, plural in configured:
            made = await asker.ask("POST", CONFIGURATIONS, initializer_configuration(name, name, plural))
            assert made.status == 201
        transport = asker.server.in_process_transport(ROOT)
        try:
            return await scene(asker, Client(transport, "test"), Client(IncludeUninitialized(transport), "test"))
        finally:
            await asker.server.stop()

    return run_virtual(main())


def test_nothing_configured_means_visible_at_once() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> list[str]:
        await client.create(MAPS, config_map(), "default")
        return [item["metadata"]["name"] for item in (await client.list(MAPS, "default"))["items"]]

    assert play(scene) == ["m"]


def test_a_pending_object_is_stored_and_hidden_from_everybody_who_does_not_ask() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> None:
        made = await all_seeing.create(MAPS, config_map(), "default")
        assert made["metadata"]["initializers"] == {"pending": [{"name": "a.example.com"}, {"name": "b.example.com"}]}
        assert "annotations" not in made["metadata"]
        assert (await client.list(MAPS, "default"))["items"] == []
        with pytest.raises(StatusError) as refused:
            await client.get(MAPS, "m", "default")
        assert refused.value.code == 404
        assert len((await all_seeing.list(MAPS, "default"))["items"]) == 1
        assert (await all_seeing.get(MAPS, "m", "default"))["metadata"]["initializers"]["pending"][0][
            "name"
        ] == "a.example.com"
        assert asker.server.cachers["", "configmaps"].ordered("default")

    play(scene, ("b.example.com", "configmaps"), ("a.example.com", "configmaps"))


def test_they_work_one_after_the_other_and_then_a_watch_sees_the_object_begin() -> None:
    log: list[str] = []

    def work(name: str) -> Callable[[Object], None]:
        def run(obj: Object) -> None:
            log.append(name)
            obj["data"] = {**(obj.get("data") or {}), "by": (obj.get("data") or {}).get("by", "") + name}

        return run

    async def scene(asker: Asker, client: Client, all_seeing: Client) -> None:
        seen: list[tuple[str, str]] = []

        async def follow() -> None:
            async for frame in await client.watch(MAPS, "default", resource_version="0", bookmarks=False):
                seen.append((frame.type, frame.object.get("data", {}).get("by", "")))

        tasks = [asyncio.create_task(follow())]
        for name in "ba":
            controller = InitializerController(client, f"{name}.example.com", MAPS, work(name))
            tasks.append(asyncio.create_task(controller.run()))
        await asyncio.sleep(0.1)
        made = await client.create(MAPS, config_map(), "default")  # comes back when all are done
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert made["data"] == {"by": "ab"}
        assert "initializers" not in made["metadata"]
        assert seen == [("ADDED", "ab")]

    play(scene, ("b.example.com", "configmaps"), ("a.example.com", "configmaps"))
    assert log == ["a", "b"]


def test_a_short_secret_is_refused_after_it_was_stored() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> tuple[int, str, list[Any]]:
        task = asyncio.create_task(
            InitializerController(client, "secrets.example.com", SECRETS, refuse_short_secret).run()
        )
        await asyncio.sleep(0.1)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "aHVudGVyMg=="}}
        with pytest.raises(StatusError) as refused:
            await client.create(SECRETS, secret, "default")
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return refused.value.code, refused.value.message, (await all_seeing.list(SECRETS, "default"))["items"]

    assert play(scene, ("secrets.example.com", "secrets")) == (403, "password has 7 characters, 20 are the least", [])


def deployment(name: str, **container: Any) -> Object:
    labels = {"app": name}
    spec = {"containers": [{"name": "c", "image": "nginx", **container}]}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }  # fmt: skip


def test_a_sidecar_gets_beside_what_serves_on_port_80() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> list[list[str]]:
        task = asyncio.create_task(
            InitializerController(client, "sidecar.example.com", DEPLOYMENTS, inject_sidecar).run()
        )
        await asyncio.sleep(0.1)
        web, batch = deployment("web", ports=[{"containerPort": 80}]), deployment("batch")
        made = [await client.create(DEPLOYMENTS, each, "default") for each in (web, batch)]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [[container["name"] for container in each["spec"]["template"]["spec"]["containers"]] for each in made]

    assert play(scene, ("sidecar.example.com", "deployments.apps")) == [["c", "proxy"], ["c"]]


def test_a_certificate_is_mounted_by_every_container_of_the_test_namespace_and_nowhere_else() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> list[Object]:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "testing"}}
        await client.create(resource("namespaces"), namespace)
        task = asyncio.create_task(
            InitializerController(client, "certificate.example.com", DEPLOYMENTS, mount_test_certificate).run()
        )
        await asyncio.sleep(0.1)
        cache = {"name": "cache", "emptyDir": {}}
        inside = deployment("web", volumeMounts=[{"name": "cache", "mountPath": "/cache"}])
        inside["metadata"]["namespace"] = "testing"
        spec = inside["spec"]["template"]["spec"]
        spec["volumes"] = [cache]
        spec["containers"].append({"name": "second", "image": "nginx"})
        made = await client.create(DEPLOYMENTS, inside, "testing")
        twice = json.loads(json.dumps(made))
        mount_test_certificate(twice)
        assert twice == made  # what has the volume keeps its own
        outside = await client.create(DEPLOYMENTS, deployment("web"), "default")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [each["spec"]["template"]["spec"] for each in (made, outside)]

    inside, outside = play(scene, ("certificate.example.com", "deployments.apps"))
    assert [volume["name"] for volume in inside["volumes"]] == ["cache", "test-certificate"]
    assert inside["volumes"][1]["secret"]["secretName"] == "test-certificate"
    mounts = [[mount["mountPath"] for mount in each["volumeMounts"]] for each in inside["containers"]]
    assert mounts == [["/cache", "/etc/test-certificate"], ["/etc/test-certificate"]]
    assert all(each["volumeMounts"][-1]["readOnly"] for each in inside["containers"])
    assert "volumes" not in outside


def test_who_waits_for_an_initializer_that_never_comes_is_told_after_a_minute() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> tuple[int, str, float]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        with pytest.raises(StatusError) as late:
            await client.create(MAPS, config_map(), "default")
        said = json.loads(late.value.message)  # the answer is text, and the text is a Status
        return late.value.code, said["message"], round(loop.time() - begun)

    message = "Timeout: request did not complete within the allotted timeout"
    assert play(scene, ("never.example.com", "configmaps")) == (504, message, 60)


def test_only_who_may_initialize_can_touch_the_list() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> list[tuple[int, str]]:
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "w", "namespace": "default"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "update"]}],
        }  # fmt: skip
        bound = {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "w", "namespace": "default"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "w"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
        }  # fmt: skip
        await asker.made(role)
        await asker.made(bound)
        jane = UserInfo("jane", ("system:authenticated",))
        skipping = config_map("skip")
        skipping["metadata"]["initializers"] = {"pending": []}
        path = "/api/v1/namespaces/default/configmaps"
        first = await asker.ask("POST", path, skipping, user=jane)
        second = await asker.ask("POST", path, skipping)
        made = await all_seeing.create(MAPS, config_map(), "default")
        done = {**made, "metadata": {**made["metadata"], "initializers": None}}
        third = await asker.ask("PUT", f"{path}/m", done, user=jane)
        fourth = await asker.ask("PUT", f"{path}/m", done)
        again = {**(fourth.obj or {})}
        again["metadata"] = {**again["metadata"], "initializers": {"pending": [{"name": "x.example.com"}]}}
        fifth = await asker.ask("PUT", f"{path}/m", again)
        return [(r.status, (r.obj or {}).get("message", "")) for r in (first, second, third, fourth, fifth)]

    answers = play(scene, ("a.example.com", "configmaps"))
    assert [status for status, _ in answers] == [403, 201, 403, 200, 422]
    assert "user must have permission to initialize resources" in answers[0][1]
    assert answers[4][1].endswith("field is immutable once initialization has completed")


def test_a_server_of_today_has_nothing_of_it() -> None:
    async def main() -> tuple[int, Any]:
        asker = await started()
        answer = await asker.ask("POST", CONFIGURATIONS, initializer_configuration("a", "a.example.com", "configmaps"))
        made = config_map()
        made["metadata"]["initializers"] = {"pending": [{"name": "a.example.com"}]}
        stored = await asker.made(made)
        await asker.server.stop()
        return answer.status, stored["metadata"].get("initializers")

    assert run_virtual(main()) == (404, None)
    with pytest.raises(ValueError, match=r'enable-admission-plugins plugin "Initializers" is unknown$'):
        AdmissionOptions(enable=["Initializers"])
