"""Claims about the aggregation layer, put to recorded discovery and to our own
aggregator.

That another server is behind a group, the recorded clusters do not show: they have
none. That the aggregator is the first to answer they do: only it knows the group of
APIServices, and it puts that group first.
"""

from __future__ import annotations

from typing import Any

import aiohttp

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import (
    MASTERS,
    Object,
    Request,
    RequestInfo,
    Response,
    UserInfo,
)
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.aggregation.backend import Trust
from lifecycle.apiserver.aggregation.front_proxy import FrontProxy
from lifecycle.apiserver.authn.bearer_token import (
    BearerTokenAuthenticator,
    StaticTokenAuthenticator,
)
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.always import PrivilegedGroups
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording

OWN_GROUP = "apiregistration.k8s.io"
TOKENS = {"boss": UserInfo("boss", (MASTERS,)), "jane": UserInfo("jane")}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "s", "namespace": "n"},
    "spec": {"type": "ExternalName", "externalName": "backend"},
}
API_SERVICE: Object = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1.added.example"},
    "spec": {
        "group": "added.example",
        "version": "v1",
        "service": {"namespace": "n", "name": "s", "port": 443},
        "insecureSkipTLSVerify": True,
        "groupPriorityMinimum": 1000,
        "versionPriority": 15,
    },
    "status": {"conditions": [{"type": "Available", "status": "True"}]},
}


class Behind:
    """Stands for the connection to the added server; remembers what arrives."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def send(
        self,
        method: str,
        host: str,
        port: int,
        path: str,
        *,
        user: UserInfo,
        **more: Any,
    ) -> Any:
        """Note who asks for what, then fail like a server that is not there: no answer
        is needed to know who was asked.
        """
        self.asked.append((user.name, path))
        raise aiohttp.ClientConnectionError("nobody home")

    async def close(self) -> None:
        """Nothing is held."""


def through(
    *asked: tuple[str, str], objects: tuple[Object, ...] = (SERVICE, API_SERVICE)
) -> tuple[list[int], Behind, list[str], list[str]]:
    """Requests as `(token, path)` through chain and aggregator: codes, the added
    server, and the order in which the parts were entered.
    """
    behind, entered, local = Behind(), list[str](), list[str]()

    async def kubernetes(request: Request) -> Response:
        entered.append("kubernetes")
        local.append(request.path)
        return Response(
            obj={
                "kind": "APIGroupList",
                "groups": [{"name": OWN_GROUP}, {"name": "apps"}],
            }
        )

    async def no_status(service: Object) -> None:
        raise AssertionError("nothing is written here")

    async def ask() -> list[int]:
        aggregator = Aggregator(
            kubernetes, StaticReader(objects), Clock(), FrontProxy(), no_status
        )
        aggregator._backends[Trust.of(API_SERVICE)] = behind  # type: ignore[assignment]

        async def outer(request: Request) -> Response:
            entered.append("aggregator")
            return await aggregator(request)

        tokens = Authenticator(
            BearerTokenAuthenticator(StaticTokenAuthenticator(TOKENS))
        )
        chain = default_build_handler_chain(
            outer, ChainConfig(tokens, PrivilegedGroups())
        )
        codes = []
        for token, path in asked:
            codes.append(
                (
                    await chain(
                        Request(
                            "GET", path, headers={"authorization": f"Bearer {token}"}
                        )
                    )
                ).status
            )
            if path == "/apis":
                request = Request(
                    "GET",
                    path,
                    info=RequestInfo(False, path, "get"),
                    user=TOKENS["boss"],
                )
                listed = (await aggregator(request)).obj or {}
                local.extend(group["name"] for group in listed["groups"])
        return codes

    return on_a_loop(ask()), behind, entered, local


@check("aggregation-layer-is-entered-first")
def its_group_comes_first(recording: Recording) -> Partly | None:
    """Of the servers it is the first: the list of groups is the aggregator's, its own
    group, for which there is no APIService, stands at the top. But a bad token is
    refused before any server says whether it has such a path.
    """
    top = [
        exchange.response["groups"][0]["name"]
        for exchange in recording.exchanges("discovery")
        if exchange.path == "/apis"
        and isinstance(exchange.response, dict)
        and exchange.response.get("kind") == "APIGroupList"
    ]
    refused = [
        exchange.status
        for exchange in recording.exchanges("authn")
        if exchange.status == 401
    ]
    return Partly(top[0] == OWN_GROUP, bool(refused)) if top else None


@rebuilt("aggregation-layer-is-entered-first")
def entered_first() -> Partly:
    """A request for pods comes by the aggregator, and goes on to the local server; one
    with a bad token does not come that far.
    """
    codes, behind, entered, local = through(("boss", "/api/v1/pods"))
    first = (codes, entered, local, behind.asked) == (
        [200],
        ["aggregator", "kubernetes"],
        ["/api/v1/pods"],
        [],
    )
    refused, _, reached, _ = through(("wrong", "/api/v1/pods"))
    return Partly(first, (refused, reached) == ([401], []))


@rebuilt("aggregation-layer-authenticates-and-authorizes")
def guarded() -> bool:
    """A bad token and a user without rights are refused; the added server hears only of
    the one who may.
    """
    path = "/apis/added.example/v1/things"
    codes, behind, entered, _ = through(("wrong", path), ("jane", path), ("boss", path))
    return (
        codes[:2] == [401, 403]
        and behind.asked == [("boss", path)]
        and entered == ["aggregator"]
    )


@rebuilt("aggregation-adds-further-apis")
def further_apis() -> bool:
    """With the APIService the group is in discovery, and its requests and its schema
    are asked for elsewhere; without it neither.
    """
    path = "/apis/added.example/v1/things"
    schema = "/openapi/v3/apis/added.example/v1"
    _, behind, _, local = through(("boss", "/apis"), ("boss", path), ("boss", schema))
    _, untouched, _, without = through(
        ("boss", "/apis"), ("boss", path), objects=(SERVICE,)
    )
    asked = [("boss", path), ("boss", schema)]
    joined = "added.example" in local and behind.asked == asked
    return joined and "added.example" not in without and untouched.asked == []
