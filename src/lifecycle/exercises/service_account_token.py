"""A pod's token: whose is it, and does it still count?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, Clock, format_time, run_virtual
from lifecycle.api.names import NameSource
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.jwt import ES256, SigningKey
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
account(token, audiences, objects, now) -> {"name", "uid", "groups"} or None

token:     the fields of a token whose signature is good: {"aud": [...], "exp", "nbf",
        "kubernetes.io": {"namespace", "serviceaccount": {"name", "uid"}, and perhaps
        "pod", "node" or "secret", each with a name and a uid}}. Times in seconds.
audiences: whom the server answers for: one of them has to be in "aud".
objects:   what there is now: {"kind", "namespace", "name", "uid", "deleted"}. deleted
        is the time at which it was deleted, or None. Nodes have no namespace ("").
now:       the time. Clocks may be 60 seconds apart, so a token is good from 60 seconds
        before "nbf" to 60 seconds after "exp".
The account has to be there, with the uid that the token names. So have its pod, node
or secret, if the token names one, in the account's namespace (nodes: in none); but the
node of a token that names a pod is information only. What has been deleted counts as
gone when more than 60 seconds have passed since. The user is
system:serviceaccount:NAMESPACE:NAME, with the account's uid, in the groups
system:serviceaccounts and system:serviceaccounts:NAMESPACE. None if anything is
wrong."""

STARTER = '''\
def account(token, audiences, objects, now):
    """Whose token it is."""
    about = token["kubernetes.io"]
    if now > token["exp"]:
        return None
    return {
        "name": f"system:serviceaccount:{about['serviceaccount']['name']}",
        "uid": about["serviceaccount"]["uid"],
        "groups": ["system:serviceaccounts"],
    }
'''

NOW = int(VIRTUAL_EPOCH)
SERVER = "https://kubernetes.default.svc"
WEB = {"name": "web", "uid": "u-web"}
POD, NODE, SECRET = (
    {"name": "web-1", "uid": "u-pod"},
    {"name": "one", "uid": "u-node"},
    {"name": "web-token", "uid": "u-secret"},
)
ABOUT: dict[str, Object] = {
    "no object": {},
    "a pod": {"pod": POD},
    "a pod and its node": {"pod": POD, "node": NODE},
    "a node": {"node": NODE},
    "a secret": {"secret": SECRET},
}


def cases() -> Iterator[Case]:
    """Tokens of all kinds, at all times, in clusters in which something is missing."""
    everything = list(_objects())
    for moment in (-3600, -61, -60, -59, 0, 500, 3600, 3659, 3660, 3661, 9000):
        token = _token({}, moment)
        yield _case("times", f"{moment} s after nbf", token, everything)
    for named in ([SERVER], ["vault"], [], ["vault", SERVER], [SERVER + "/"]):
        token = {**_token({}), "aud": named}
        words = " ".join(named).replace("/", "∕")
        yield _case("audiences", words or "none", token, everything)
        yield _case("audiences", f"{words}, two", token, everything, ["x", SERVER])
    for (name, about), gone in product(ABOUT.items(), _without(everything)):
        what, objects = gone
        yield _case(name, what, _token(about), objects)


def _token(about: Object, after: int = 100) -> Object:
    return {
        "aud": [SERVER],
        "nbf": NOW - after,
        "exp": NOW - after + 3600,
        "kubernetes.io": {"namespace": "shop", "serviceaccount": WEB, **about},
    }


def _objects() -> Iterator[Object]:
    for kind, namespace, reference in (
        ("ServiceAccount", "shop", WEB),
        ("Pod", "shop", POD),
        ("Node", "", NODE),
        ("Secret", "shop", SECRET),
    ):
        yield {"kind": kind, "namespace": namespace, **reference, "deleted": None}


def _without(objects: list[Object]) -> Iterator[tuple[str, list[Object]]]:
    """The cluster, with one object gone, another one, elsewhere, or on its way."""
    yield "all is there", objects
    for number, one in enumerate(objects):
        others = [*objects[:number], *objects[number + 1 :]]
        yield f"no {one['kind']}", others
        elsewhere = {"namespace": "bank"} if one["namespace"] else {"name": "x"}
        changes: dict[str, Object] = {
            "made anew": {"uid": "u-new"},
            "deleted a while ago": {"deleted": NOW - 61},
            "deleted a moment ago": {"deleted": NOW - 30},
            "deleted in a moment": {"deleted": NOW + 30},
            "elsewhere": elsewhere,
        }
        for what, more in changes.items():
            yield f"the {one['kind']} {what}", [*others, {**one, **more}]


def _case(
    group: str,
    label: str,
    token: Object,
    objects: list[Object],
    audiences: list[str] | None = None,
) -> Case:
    served = audiences or [SERVER]
    ask: Callable[[Attempt], Any] = lambda attempt: {  # noqa: E731
        "user": attempt(token, served, objects, NOW)
    }
    question = {"token": token, "audiences": served, "objects": objects, "now": NOW}
    expected = {"user": _ours(token, served, objects, NOW)}
    return Case(group, label, expected, ask, question)


def _ours(
    token: Object, audiences: list[str], objects: list[Object], now: float
) -> Object | None:
    user: Object | None = fast_json.loads(
        _authenticated(fast_json.dumps((token, objects)), tuple(audiences), now)
    )
    return user


@cache
def _key() -> SigningKey:
    return SigningKey(ES256)


@cache
def _authenticated(question: bytes, audiences: tuple[str, ...], now: float) -> bytes:
    """Signed, and shown to the server's own authenticator."""
    token, objects = fast_json.loads(question)
    tokens = ServiceAccountTokens(
        StaticReader([_as_stored(one) for one in objects]),
        _Stopped(now),
        NameSource(1),
        key=_key(),
        issuer=SERVER,
    )
    signed = _key().sign({**token, "iss": SERVER, "jti": "j", "sub": "s", "iat": 0})
    try:
        identity = run_virtual(tokens.authenticate_token(signed, audiences))
    except AuthenticationError:
        identity = None
    if identity is None:
        return b"null"
    user = identity.user
    return fast_json.dumps(
        {"name": user.name, "uid": user.uid, "groups": list(user.groups)}
    )


def _as_stored(one: Object) -> Object:
    metadata: Object = {"name": one["name"], "uid": one["uid"]}
    if one["namespace"]:
        metadata["namespace"] = one["namespace"]
    if one["deleted"] is not None:
        metadata["deletionTimestamp"] = format_time(one["deleted"])
    return {"apiVersion": "v1", "kind": one["kind"], "metadata": metadata}


class _Stopped(Clock):
    """A clock that says one time."""

    def __init__(self, now: float) -> None:
        super().__init__()
        self._now = now

    def now(self) -> float:
        """See `Clock`."""
        return self._now


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "service-account-token",
    "Whose token it is",
    CONTRACT,
    STARTER,
    "the book's own authenticator",
    cases,
    ours,
    ("authentication", "token"),
)
