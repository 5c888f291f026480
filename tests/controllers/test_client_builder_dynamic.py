"""A controller's client acts as the controller's service account, over TLS, with tokens of our API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from lifecycle.api.http.wire import MASTERS, Object, Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport
from lifecycle.controllers.client_builder_dynamic import client_builder
from lifecycle.etcd.memory import MemoryStore

COMMAND = "kube-controller-manager"
ACCOUNTS = resource("serviceaccounts")


class Ahead(Clock):
    """The real one, and some seconds."""

    seconds = 0.0

    def now(self) -> float:
        return super().now() + self.seconds


class Counting:
    """A way to the server, and the tokens that went over it."""

    def __init__(self, inner: HTTPSTransport) -> None:
        self._inner = inner
        self.tokens: list[str] = []
        self.refuses = False

    async def round_trip(self, request: Request) -> Response:
        self.tokens.append(request.headers.get("authorization", ""))
        if self.refuses:
            return Response(401, obj={"code": 401, "message": "gone"})
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        await self._inner.close()


@dataclass
class Stage:
    admin: Client
    manager: Client
    client_for: Callable[[str], Client]
    clock: Ahead
    anonymous: Counting


def play(scene: Callable[[Stage], Awaitable[None]], *, user: str = f"system:{COMMAND}") -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore(), clock=Clock(), names=NameSource(1))
        await server.start()
        port = await server.serve_https()
        authority = server.certificates
        url = f"https://127.0.0.1:{port}"

        def transport(*subject: str) -> HTTPSTransport:
            pair = authority.client_certificate(subject[0], subject[1:]) if subject else (b"", b"")
            return HTTPSTransport(
                ConnectionConfig(url, ca=authority.ca_pem, client_certificate=pair[0], client_key=pair[1])
            )

        transports = [transport("admin", MASTERS), transport(user), transport()]
        admin, manager = (Client(each, "test/v1") for each in transports[:2])
        clock, anonymous = Ahead(), Counting(transports[2])
        try:
            await scene(Stage(admin, manager, client_builder(manager, anonymous, clock, COMMAND), clock, anonymous))
        finally:
            for each in transports:
                await each.close()
            await server.stop()

    asyncio.run(main())


async def who(client: Client) -> Object:
    row = resource("selfsubjectreviews.authentication.k8s.io")
    answer = await client.create(row, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    info: Object = answer["status"]["userInfo"]
    return info


def test_each_controller_is_somebody_else_and_the_account_is_made_when_it_is_missing() -> None:
    async def scene(stage: Stage) -> None:
        for account in ("deployment-controller", "replicaset-controller"):
            client = stage.client_for(account)
            info = await who(client)
            assert info["username"] == f"system:serviceaccount:kube-system:{account}"
            assert "system:serviceaccounts:kube-system" in info["groups"]
            assert await stage.admin.get(ACCOUNTS, account, "kube-system")
        assert (await who(stage.manager))["username"] == f"system:{COMMAND}"

    play(scene)


def test_it_has_the_rights_of_the_account_and_no_others() -> None:
    async def scene(stage: Stage) -> None:
        client = stage.client_for("deployment-controller")
        await client.list(resource("replicasets.apps"))
        with pytest.raises(
            StatusError,
            match=r'secrets is forbidden: User "system:serviceaccount:kube-system:deployment-controller.* cannot list '
            r'resource .secrets" in API group "" at the cluster scope$',
        ):
            await client.list(resource("secrets"))

    play(scene)


def test_what_it_writes_is_the_managers() -> None:
    async def scene(stage: Stage) -> None:
        client = stage.client_for("root-ca-cert-publisher")
        made = await client.create(resource("configmaps"), {"metadata": {"name": "x"}, "data": {"a": "b"}}, "default")
        assert [each["manager"] for each in made["metadata"]["managedFields"]] == [COMMAND]

    play(scene)


def test_a_token_is_kept_and_renewed_before_its_end() -> None:
    async def scene(stage: Stage) -> None:
        one, same = stage.client_for("deployment-controller"), stage.client_for("deployment-controller")
        await asyncio.gather(who(one), who(same), who(one))
        assert len(set(stage.anonymous.tokens)) == 1
        stage.clock.seconds = 3600 * 0.75
        await who(one)
        assert len(set(stage.anonymous.tokens)) == 1
        stage.clock.seconds = 3600 * 0.85
        await who(one)
        assert len(set(stage.anonymous.tokens)) == 2

    play(scene)


def test_a_token_that_is_refused_is_not_shown_again() -> None:
    """The account was deleted, and is there anew."""

    async def scene(stage: Stage) -> None:
        client = stage.client_for("deployment-controller")
        await who(client)
        stage.anonymous.refuses = True
        with pytest.raises(StatusError, match=r"gone$"):
            await who(client)
        stage.anonymous.refuses = False
        await stage.admin.delete(ACCOUNTS, "deployment-controller", "kube-system")
        assert (await who(client))["uid"] == (await stage.admin.get(ACCOUNTS, "deployment-controller", "kube-system"))[
            "metadata"
        ]["uid"]
        assert len(set(stage.anonymous.tokens)) == 2

    play(scene)


def test_who_may_not_ask_for_tokens_hears_it() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(
            StatusError,
            match=r'serviceaccounts "deployment-controller" is forbidden: User "nobody.* cannot get resource '
            r'.serviceaccounts" in API group "" in the namespace "kube-system"$',
        ):
            await who(stage.client_for("deployment-controller"))

    play(scene, user="nobody")
