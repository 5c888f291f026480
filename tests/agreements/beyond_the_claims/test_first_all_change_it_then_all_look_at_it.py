"""Both phases of admission, for each way to write: who is asked when, and what is left of a write that somebody refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import AdmissionChain, Plugin
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

MAPS, PODS, ACCOUNTS = resource("configmaps"), resource("pods"), resource("serviceaccounts")
ROOT = "/api/v1/namespaces/default"
MAP: Object = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"k": "1"}}
CHANGED: Object = {**MAP, "data": {"k": "2"}}
POD: Object = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 0},
}
ACCOUNT: Object = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "a"}}
TOKEN: Object = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"audiences": ["vault"]}}
BINDING: Object = {
    "kind": "Binding",
    "apiVersion": "v1",
    "metadata": {"name": "p"},
    "target": {"kind": "Node", "name": "n"},
}
EVICTION: Object = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p"}}
WRITES: dict[str, tuple[str, str, Object | None, Resource, Object | None]] = {
    "create": ("POST", f"{ROOT}/configmaps", MAP, MAPS, None),
    "update": ("PUT", f"{ROOT}/configmaps/m", CHANGED, MAPS, MAP),
    "patch": ("PATCH", f"{ROOT}/configmaps/m", {"data": {"k": "2"}}, MAPS, MAP),
    "delete": ("DELETE", f"{ROOT}/configmaps/m", None, MAPS, MAP),
    "token": ("POST", f"{ROOT}/serviceaccounts/a/token", TOKEN, ACCOUNTS, ACCOUNT),
    "binding": ("POST", f"{ROOT}/pods/p/binding", BINDING, PODS, POD),
    "eviction": ("POST", f"{ROOT}/pods/p/eviction", EVICTION, PODS, POD),
}


class _Watchful(Plugin):
    """Is shown everything, and refuses in one of the phases, or in none."""

    subresources = None

    def __init__(self, name: str, seen: list[tuple[str, Object | None]], refuses: str = "") -> None:
        self.name, self._seen, self._refuses = name, seen, refuses

    def admit(self, attributes: Attributes) -> None:
        self._note("admit", attributes)

    def validate(self, attributes: Attributes) -> None:
        self._note("validate", attributes)

    def _note(self, phase: str, attributes: Attributes) -> None:
        self._seen.append((f"{self.name} {phase}", attributes.obj))
        if self._refuses == f"{self.name} {phase}":
            raise attributes.forbidden("no")


def _written(what: str, refuses: str = "") -> tuple[int, Object, list[tuple[str, Object | None]], bool]:
    """The code, the answer, who was shown what, and whether anything is as it was not before."""
    method, path, body, row, before = WRITES[what]

    async def scene(server: GenericAPIServer, client: Client) -> tuple[int, Object, list[Any], bool]:
        async def there() -> Object | None:
            try:
                return await client.get(row, (before or MAP)["metadata"]["name"], "default")
            except StatusError:
                return None

        for each in [ACCOUNT | {"metadata": {"name": "default"}}, *([before] if before else [])]:
            await client.create(row if each is before else ACCOUNTS, each, "default")
        was, seen = await there(), list[tuple[str, Object | None]]()
        chain = server.config.admission
        chain.use([*chain.plugins, _Watchful("one", seen, refuses), _Watchful("two", seen, refuses)])
        kind = "merge-patch+json" if method == "PATCH" else "json"
        request = Request(
            method, path, {}, {"content-type": f"application/{kind}"}, json.dumps(body).encode() if body else b""
        )
        answer = await client.transport.round_trip(request)
        return answer.status, answer.obj or {}, seen, await there() != was

    return on_a_server(scene)


@pytest.mark.parametrize("what", WRITES)
def test_whoever_may_change_it_has_had_its_turn_before_anybody_looks(what: str) -> None:
    code, _, seen, changed = _written(what)
    assert code < 300
    assert [who for who, _ in seen] == ["one admit", "two admit", "one validate", "two validate"]
    assert changed is (what != "token")


@pytest.mark.parametrize("refuses", ["one admit", "two admit", "one validate", "two validate"])
@pytest.mark.parametrize("what", WRITES)
def test_what_one_refuses_is_not_done_and_nobody_behind_is_asked(what: str, refuses: str) -> None:
    code, answer, seen, changed = _written(what, refuses)
    assert (code, answer["kind"], answer["reason"]) == (403, "Status", "Forbidden")
    assert seen[-1][0] == refuses
    assert not changed


def test_who_looks_at_a_request_for_a_token_sees_all_but_the_token() -> None:
    """What the request did not say is filled in, the account is named, and the status is there, empty.

    So a policy of the real server saw it that refused such a request.
    """
    _, answer, seen, _ = _written("token")
    shown = dict(seen)["two validate"]
    assert shown is not None
    assert shown["metadata"]["name"] == "a"
    assert shown["spec"]["expirationSeconds"] == 3600
    assert shown["status"] == {"token": "", "expirationTimestamp": None}
    assert answer["status"]["token"]


def test_who_has_nothing_to_do_is_left_out_where_it_is_known_when_that_changes() -> None:
    """Elsewhere it is asked each time: nobody would notice that it has something to do by now."""

    class _Idle(_Watchful):
        busy = False

        def configured(self) -> bool:
            return self.busy

    async def asked(changes: Callable[[], int] | None) -> list[int]:
        seen, counts = list[tuple[str, Object | None]](), list[int]()
        plugin = _Idle("one", seen)
        chain = AdmissionChain([plugin], changes)
        for busy, count in ((False, 1), (True, 1), (True, 2), (False, 3)):
            plugin.busy, counted[0] = busy, count
            before = len(seen)
            await chain.admit(Attributes(CREATE, PODS, "", "default", "p", {}))
            counts.append(len(seen) - before)
        return counts

    counted = [0]
    assert on_a_loop(asked(None)) == [1, 1, 1, 1]
    assert on_a_loop(asked(lambda: counted[0])) == [0, 0, 1, 0]
