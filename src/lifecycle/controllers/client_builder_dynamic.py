"""A client for each controller that acts as a service account of its own, with a token
that the API server issues and that is renewed in time.

So each controller has just the rights that it needs, and the audit log says which of
them it was. The manager's own identity has to do little more than ask for the tokens.

Upstream: `controller-manager/pkg/clientbuilder/client_builder_dynamic.go`
(`DynamicControllerClientBuilder`, `tokenSourceImpl`), `client_builder.go`
(`getOrCreateServiceAccount`), v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.version import user_agent
from lifecycle.client.rest import Client, Transport

NAMESPACE = "kube-system"
EXPIRATION_SECONDS = 3600
LEEWAY = 0.2
"""Of a token's life: so long before its end it is renewed."""

_ACCOUNTS = resource("serviceaccounts")


class AccountTransport:
    """Requests as one service account. `manager`: who asks for its tokens; `inner`: a
    way to the server without credentials.

    Raises StatusError if no token is to be had.
    """

    def __init__(
        self, manager: Client, inner: Transport, account: str, clock: Clock
    ) -> None:
        self._manager = manager
        self._inner = inner
        self._account = account
        self._clock = clock
        self._token = ""
        self._renew_at = 0.0
        self._asking = asyncio.Lock()

    async def round_trip(self, request: Request) -> Response:
        """Send with the token. One that is refused is not used again: the account was
        deleted, perhaps, and is there anew.
        """
        token = await self._current_token()
        headers = {**request.headers, "authorization": f"Bearer {token}"}
        answer = await self._inner.round_trip(replace(request, headers=headers))
        if answer.status == 401 and token == self._token:
            self._token = ""
        return answer

    async def close(self) -> None:
        """Nothing: the way to the server is everybody's."""

    async def _current_token(self) -> str:
        async with self._asking:
            if not self._token or self._clock.now() >= self._renew_at:
                await self._get_or_create_service_account()
                answer = await self._request_token()
                expires = parse_time(answer["status"]["expirationTimestamp"])
                now = self._clock.now()
                self._renew_at = now + (expires - now) * (1 - LEEWAY)
                self._token = str(answer["status"]["token"])
            return self._token

    async def _request_token(self) -> Object:
        request: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": EXPIRATION_SECONDS},
        }
        return await self._manager.create(
            _ACCOUNTS, request, NAMESPACE, name=self._account, subresource="token"
        )

    async def _get_or_create_service_account(self) -> None:
        try:
            await self._manager.get(_ACCOUNTS, self._account, NAMESPACE)
        except StatusError as error:
            if error.code != 404:
                raise
            await self._create_namespace_if_missing()
            account: Object = {"metadata": {"name": self._account}}
            try:
                await self._manager.create(_ACCOUNTS, account, NAMESPACE)
            except StatusError as refused:
                if refused.reason != "AlreadyExists":
                    raise refused from None

    async def _create_namespace_if_missing(self) -> None:
        """It may not be ours to make: then somebody else will."""
        namespaces = resource("namespaces")
        with contextlib.suppress(StatusError):
            try:
                await self._manager.get(namespaces, NAMESPACE)
            except StatusError as error:
                if error.code == 404:
                    obj: Object = {"metadata": {"name": NAMESPACE}}
                    await self._manager.create(namespaces, obj)


def client_builder(
    manager: Client, inner: Transport, clock: Clock, command: str
) -> Callable[[str], Client]:
    """What makes a controller's client from its account's name."""
    transports: dict[str, AccountTransport] = {}

    def client_for(account: str) -> Client:
        if account not in transports:  # node-controller's are three
            transports[account] = AccountTransport(manager, inner, account, clock)
        agent = user_agent(command, f"system:serviceaccount:{NAMESPACE}:{account}")
        return Client(transports[account], agent)

    return client_for
