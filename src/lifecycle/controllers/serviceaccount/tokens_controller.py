"""Secrets of the type `kubernetes.io/service-account-token`: filled for an account that
exists, deleted with it.

What such a secret lacks of `token`, `ca.crt` and `namespace` is put in. Nobody makes
these secrets unasked any more; who needs a token without an end makes one, and names
the account in an annotation.

Upstream: `pkg/controller/serviceaccount/tokens_controller.go` (`TokensController`),
v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy

TOKEN_TYPE = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
SECRETS, ACCOUNTS = resource("secrets"), resource("serviceaccounts")
MAX_RETRIES = 10

Issue = Callable[[Object, Object], str]
"""Makes the token of an account (first) for a secret (second)."""


class _Key(NamedTuple):
    """What is looked at: a secret, or an account if `secret` is empty. The rest is as
    it was when it was last seen.
    """

    namespace: str
    account: str
    account_uid: str
    secret: str = ""
    secret_uid: str = ""


def _annotations(secret: Object) -> Object:
    return secret["metadata"].get("annotations") or {}


class TokensController:
    """Does nothing until it has `issue`. `root_ca` (PEM) is what goes into `ca.crt`."""

    issue: Issue | None = None
    root_ca = ""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._secrets, self._accounts = (
            informers.informer(SECRETS),
            informers.informer(ACCOUNTS),
        )
        self._queue: RateLimitingQueue[_Key] = RateLimitingQueue()
        self._secrets.add_event_handler(
            add=self._queue_secret_sync,
            update=lambda old, new: self._queue_secret_sync(new),
            delete=self._queue_secret_sync,
        )
        self._accounts.add_event_handler(delete=self._account_deleted)

    async def run(self) -> None:
        """Work until cancelled."""
        await self._secrets.wait_for_sync()
        await self._accounts.wait_for_sync()
        name = "serviceaccount-token-controller"
        await run_workers(
            self._queue, self._sync, workers=5, name=name, max_retries=MAX_RETRIES
        )

    def _queue_secret_sync(self, secret: Object) -> None:
        if secret.get("type") == TOKEN_TYPE and self.issue is not None:
            meta, notes = secret["metadata"], _annotations(secret)
            account, account_uid = notes.get(NAME, ""), notes.get(UID, "")
            self._queue.add(
                _Key(meta["namespace"], account, account_uid, meta["name"], meta["uid"])
            )

    def _account_deleted(self, account: Object) -> None:
        meta = account["metadata"]
        if self.issue is not None:
            self._queue.add(_Key(meta["namespace"], meta["name"], meta["uid"]))

    async def _sync(self, key: _Key) -> None:
        if not key.secret:
            await self._delete_tokens_of(key)
            return
        secret = self._secrets.indexer.get_by_key(f"{key.namespace}/{key.secret}")
        account = await self._account(key)
        if secret is None or secret["metadata"]["uid"] != key.secret_uid:
            if account is not None:
                await self._remove_reference(account, key.secret)
        elif account is None:
            await self._delete(key.namespace, key.secret, key.secret_uid)
        else:
            await self._fill(account, secret)

    async def _account(self, key: _Key) -> Object | None:
        """The account; past the cache if that does not know it, since the secret may
        just have come first.
        """
        account = self._accounts.indexer.get_by_key(f"{key.namespace}/{key.account}")
        if account is None:
            try:
                account = await self._client.get(ACCOUNTS, key.account, key.namespace)
            except StatusError as error:
                if error.code != 404:
                    raise
                return None
        return account if key.account_uid in ("", account["metadata"]["uid"]) else None

    async def _delete_tokens_of(self, key: _Key) -> None:
        if await self._account(key) is not None:
            return
        for secret in self._secrets.indexer.list_namespace(key.namespace):
            notes = _annotations(secret)
            mine = notes.get(NAME) == key.account and notes.get(UID, "") in (
                "",
                key.account_uid,
            )
            if secret.get("type") == TOKEN_TYPE and mine:
                await self._delete(
                    key.namespace, secret["metadata"]["name"], secret["metadata"]["uid"]
                )

    async def _delete(self, namespace: str, name: str, uid: str) -> None:
        try:
            await self._client.delete(SECRETS, name, namespace, uid=uid)
        except StatusError as error:
            if error.code != 404:
                raise

    async def _remove_reference(self, account: Object, secret: str) -> None:
        """Accounts of older clusters list their secrets."""
        kept = [
            reference
            for reference in account.get("secrets") or ()
            if reference.get("name") != secret
        ]
        if len(kept) != len(account.get("secrets") or ()):
            await self._client.update(
                ACCOUNTS, {**mutable_copy(account), "secrets": kept}
            )

    async def _fill(self, account: Object, secret: Object) -> None:
        """Upstream: `generateTokenIfNeeded`."""
        meta, data = secret["metadata"], secret.get("data") or {}
        secret_data = {
            "namespace": data.get("namespace") or _encoded(meta["namespace"])
        }
        if self.root_ca:
            secret_data["ca.crt"] = _encoded(self.root_ca)
        if data.get("token") and all(
            data.get(key) == value for key, value in secret_data.items()
        ):
            return
        live = await self._client.get(SECRETS, meta["name"], meta["namespace"])
        if live["metadata"]["resourceVersion"] != meta["resourceVersion"]:
            raise RetryError(
                f"the cache has not seen the last version of secret {meta['name']} yet"
            )
        if self.issue is not None and not data.get("token"):
            secret_data["token"] = _encoded(self.issue(account, secret))
        filled = mutable_copy(live)
        filled["data"] = {**(filled.get("data") or {}), **secret_data}
        notes = filled["metadata"].setdefault("annotations", {})
        notes |= {NAME: account["metadata"]["name"], UID: account["metadata"]["uid"]}
        await self._client.update(SECRETS, filled)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
