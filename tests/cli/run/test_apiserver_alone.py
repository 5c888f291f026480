"""`lifecycle run apiserver`: the API and nothing else; several over one etcd; one that goes and comes back."""

from __future__ import annotations

import asyncio
import signal
import ssl
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.alone.connection import Connection, Target
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.etcd.real_etcd import RealEtcd
from tests.loopback import free_port


class LoneServer(LoneComponent):
    """Its `url` is the API's."""

    ready_line = r"ready (https://127\.0\.0\.1:\d+)$"


def talk(kubeconfig: Path, scene: Callable[[Client], Awaitable[Any]], patience: float = PATIENCE) -> Any:
    """Play a scene as the kubeconfig's user."""

    async def main() -> Any:
        connection = await Connection.open(Target(str(kubeconfig)), {})
        try:
            async with asyncio.timeout(patience):
                return await scene(connection.client("kubectl"))
        finally:
            await connection.close()

    return asyncio.run(main())


def test_it_serves_the_api_and_nothing_else(tmp_path: Path) -> None:
    kubeconfig, port = tmp_path / "kubeconfig", free_port()
    with LoneServer("apiserver", "--kubeconfig", kubeconfig, "--secure-port", str(port), program=True) as server:
        assert server.url == f"https://127.0.0.1:{port}"
        assert yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == server.url

        async def scene(client: Client) -> None:
            await client.create(resource("namespaces"), {"metadata": {"name": "x"}})
            await client.create(resource("deployments.apps"), deployment("nginx", 1), "x")
            assert (await client.request("GET", "/readyz")).status == 200
            for nothing in ("nodes", "pods", "serviceaccounts"):
                assert (await client.list(resource(nothing)))["items"] == []

        talk(kubeconfig, scene)
        assert server.stop() == 0


def status_of(url: str, token: str = "") -> int:
    """What a request without a client certificate is answered."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"{url}/api/v1/namespaces", headers=headers)
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize(
    ("words", "nobody", "jane"),
    [
        ((), 403, 403),
        (("--anonymous-auth=false",), 401, 403),
        (
            ("--authorization-mode=AlwaysAllow",),
            401,
            200,
        ),  # everybody may do everything: who nobody knows stays outside
        (("--authorization-mode=AlwaysDeny,AlwaysAllow", "--anonymous-auth"), 401, 200),
        (("--authorization-mode=ABAC", "--authorization-policy-file=policy"), 403, 200),
    ],
)
def test_who_may_come_in_is_what_the_flags_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], nobody: int, jane: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tokens").write_text("secret,jane,1\n")
    Path("policy").write_text(
        '{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy",'
        ' "spec": {"user": "jane", "namespace": "*", "resource": "*", "apiGroup": "*"}}\n'
    )
    with LoneServer("apiserver", "--kubeconfig", "kubeconfig", "--token-auth-file", "tokens", *words) as server:
        assert (status_of(server.url), status_of(server.url, "secret")) == (nobody, jane)


def test_two_share_one_etcd_and_one_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    etcd = RealEtcd(tmp_path, "--unsafe-no-fsync")
    etcd.start()
    try:
        words = ("apiserver", "--etcd-servers", etcd.url, "--cert-dir", tmp_path / "pki")
        one, two = tmp_path / "one", tmp_path / "two"
        with (
            LoneServer(*words, "--kubeconfig", one) as first,
            LoneServer(*words, "--kubeconfig", two),
        ):
            maps = resource("configmaps")

            async def hear() -> None:
                """What is written at the first, a watch at the second hears."""
                writer, reader = [await Connection.open(Target(str(path)), {}) for path in (one, two)]
                try:
                    async with asyncio.timeout(PATIENCE):
                        heard = asyncio.ensure_future(
                            until(
                                reader.client("kubectl"),
                                "configmaps",
                                "default",
                                lambda items: any(each["metadata"]["name"] == "a" for each in items),
                            )
                        )
                        await asyncio.sleep(0)
                        obj = {"metadata": {"name": "a"}, "data": {"x": "y"}}
                        await writer.client("kubectl").create(maps, obj, "default")
                        await heard
                finally:
                    await writer.close()
                    await reader.close()

            asyncio.run(hear())
            first.stop(signal.SIGKILL)

            async def afterwards(client: Client) -> None:
                kept = await client.get(maps, "a", "default")
                await client.update(maps, {**kept, "data": {"x": "z"}})

            talk(two, afterwards)
    finally:
        etcd.kill()


def test_components_find_a_server_again_that_was_away(tmp_path: Path) -> None:
    kubeconfig, port = tmp_path / "kubeconfig", free_port()
    words = ("apiserver", "--store", f"sqlite:{tmp_path / 'db'}", "--port", str(port), "--kubeconfig", kubeconfig)

    def run_pods(name: str) -> None:
        async def scene(client: Client) -> None:
            await client.create(resource("namespaces"), {"metadata": {"name": name}})
            await client.create(resource("deployments.apps"), deployment("nginx", 2), name)
            await until(client, "pods", name, running(2))

        talk(kubeconfig, scene, 3 * PATIENCE)  # they wait longer and longer before they ask again, as upstream's do

    alone = ("--kubeconfig", kubeconfig, "--leader-elect=false")
    with LoneServer(*words) as server:
        lone = [
            LoneComponent("controllers", *alone),
            LoneComponent("scheduler", *alone),
            LoneComponent("kubelet", "--kubeconfig", kubeconfig, "--hostname-override", "lone", "--port", "0"),
        ]
        with lone[0], lone[1], lone[2]:
            run_pods("before")
            server.stop(signal.SIGKILL)
            with LoneServer(*words):
                run_pods("after")
                for each in lone:
                    assert each.get("/readyz") == (200, "ok")
                    assert each.stop() == 0
                    assert each.said == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(tmp_path: Path, number: int) -> None:
    with LoneServer("apiserver", "--kubeconfig", tmp_path / "kubeconfig") as server:
        assert server.stop(number) == 0
    assert server.printed == [f"ready {server.url}"]
