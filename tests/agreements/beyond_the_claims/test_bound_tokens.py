"""Tokens that end with what they are bound to."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.authenticating import ACCOUNT, identity
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.authn.bearer_token import BearerTokenAuthenticator
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.storage.object_reader import StaticReader


def _object(kind: str, **meta: str) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"uid": f"u {kind}", **meta}}


POD, SECRET = (_object(kind, name="x", namespace="default") for kind in ("Pod", "Secret"))
NODE = _object("Node", name="x")


def _dies_with(bound: dict[str, Object]) -> list[bool]:
    """Whether a token that is bound to these is recognised while all are there, when
    none is, and when the node is gone.
    """
    objects = [ACCOUNT, *bound.values()]
    issuer = ServiceAccountTokens(StaticReader(objects), Clock(), NameSource(1))
    token = issuer.issue(ACCOUNT, issuer.audiences, 600, bound=bound)
    left = [each for each in objects if each is not NODE]
    found = []
    for there in (objects, [ACCOUNT], left):
        tokens = ServiceAccountTokens(StaticReader(there), Clock(), NameSource(1), key=issuer.key)
        answer = identity(BearerTokenAuthenticator(tokens), f"Bearer {token}")
        found.append(answer is not None)
    return found


@pytest.mark.parametrize(
    ("bound", "known"),
    [
        ({"pod": POD, "node": NODE}, [True, False, True]),
        ({"node": NODE}, [True, False, False]),
        ({"secret": SECRET}, [True, False, True]),
    ],
    ids=["to a pod, and noted to its node", "to a node", "to a secret"],
)
def test_a_token_ends_with_what_it_is_bound_to(bound: dict[str, Object], known: list[bool]) -> None:
    assert _dies_with(bound) == known


def test_a_token_says_what_it_is_bound_to_and_nothing_of_a_secret() -> None:
    """By the names and uids in the token, whoever has that name by now."""

    def said(there: list[Object], **bound: Object) -> dict[str, tuple[str, ...]]:
        issuer = ServiceAccountTokens(StaticReader([ACCOUNT, *bound.values()]), Clock(), NameSource(1))
        token = issuer.issue(ACCOUNT, issuer.audiences, 600, bound=bound)
        tokens = ServiceAccountTokens(StaticReader([ACCOUNT, *there]), Clock(), NameSource(1), key=issuer.key)
        found = identity(BearerTokenAuthenticator(tokens), f"Bearer {token}")
        assert found is not None
        extra = {key.partition("/")[2]: values for key, values in found.user.extra.items()}
        [jti] = extra.pop("credential-id")
        assert jti.startswith("JTI=")
        assert len(jti) > len("JTI=")
        return extra

    pod = {"pod-name": ("x",), "pod-uid": ("u Pod",)}
    node = {"node-name": ("x",), "node-uid": ("u Node",)}
    another = {**NODE, "metadata": {**NODE["metadata"], "uid": "another"}}
    assert said([POD, NODE], pod=POD, node=NODE) == pod | node
    assert said([POD], pod=POD, node=NODE) == pod | node
    assert said([POD, another], pod=POD, node=NODE) == pod | node
    assert said([POD], pod=POD) == pod
    assert said([NODE], node=NODE) == node
    assert said([SECRET], secret=SECRET) == {}
