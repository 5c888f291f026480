"""With which credentials a kubelet asks for images: what it shows the runtime, in which
order, and who may use what is already here.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.admitted import pod
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.connection import Connection
from generators.programs.control_plane import Server, until
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.pull_secrets import container_state, told

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MERGE = "application/merge-patch+json"
Entries = dict[str, Any]
CLOSED = ("registry.example", "eu.registry.example", "other.example", "docker.io/")
"""Registries that say no to everybody."""
RIGHT = ("me", "hunter2")
PRIVATE = "registry.example/"


def login(user: str, password: str) -> Object:
    """An entry as `docker login` writes it today."""
    both = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"auth": both}


def plain(user: str, password: str) -> Object:
    """An entry with both words in the open."""
    return {"username": user, "password": password}


def secret(name: str, entries: Entries, *, old: bool = False) -> Object:
    """A pull secret; `old`: of the type without `auths`."""
    kind, key = ("dockercfg",) * 2 if old else ("dockerconfigjson",) * 2
    text = json.dumps(entries if old else {"auths": entries}).encode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "type": f"kubernetes.io/{kind}",
        "data": {f".{key}": base64.b64encode(text).decode()},
    }


TEAM = {
    "registry.example": plain("all", "1"),
    "registry.example/team": plain("team", "2"),
    "registry.example/team/app": plain("app", "3"),
}
SECRETS: tuple[Object, ...] = (
    secret("team", TEAM),
    secret("login", {"registry.example": login("me", "with:colon")}),
    secret(
        "both-forms",
        {"registry.example": {**plain("open", "1"), **login("hidden", "2")}},
    ),
    secret("old", {"registry.example": plain("old", "1")}, old=True),
    secret("stars", {"*.example": plain("one", "1"), "*.*.example": plain("two", "2")}),
    secret("star-in-a-part", {"reg*.example": plain("part", "1")}),
    secret("port", {"registry.example:5000": plain("port", "1")}),
    secret(
        "urls",
        {
            "https://registry.example/v1/": plain("v1", "1"),
            "https://registry.example/v2/": plain("v2", "2"),
            "http://registry.example": plain("http", "3"),
        },
    ),
    secret("prefix", {"registry.example/te": plain("prefix", "1")}),
    secret("hub", {"https://index.docker.io/v1/": plain("hub", "1")}),
    secret("hub-short", {"docker.io": plain("short", "1")}),
    secret("hub-path", {"docker.io/mine": plain("path", "1")}),
    secret("right", {"registry.example": plain(*RIGHT)}),
    secret("right-too", {"registry.example/team": login(*RIGHT)}),
    secret("wrong", {"registry.example": plain("me", "wrong")}),
    secret("upper-case", {"Registry.Example": plain("upper", "1")}),
    secret("email", {"registry.example": {**plain("mail", "1"), "email": "a@b.c"}}),
    secret("no-colon", {"registry.example": {"auth": "bm9jb2xvbg=="}}),
    secret("nothing-in-it", {}),
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "opaque"},
        "data": {".dockerconfigjson": "e30="},
    },
)
APP = "registry.example/team/app"
SHOWN: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("nobody", APP, ()),
    ("most specific first", APP, ("team",)),
    ("the same for another image", "registry.example/team/other", ("team",)),
    ("the same for another team", "registry.example/else", ("team",)),
    ("another registry", "other.example/team/app", ("team",)),
    ("as docker login writes it", APP, ("login",)),
    ("two forms in one entry", APP, ("both-forms",)),
    ("the old type", APP, ("old",)),
    ("a star for a part", APP, ("stars",)),
    ("a star for two parts", "eu.registry.example/app", ("stars",)),
    ("a star in a part", APP, ("star-in-a-part",)),
    ("a port that the image has not", APP, ("port",)),
    ("a port that it has", "registry.example:5000/team/app", ("port",)),
    ("a port that the entry has not", "registry.example:5000/app", ("team",)),
    ("URLs of several versions", APP, ("urls",)),
    ("half a word of the path", APP, ("prefix",)),
    ("the hub, short name", "lifecycle-no-such", ("hub",)),
    ("the hub, a user's", "mine/app", ("hub",)),
    ("the hub, in full", "docker.io/mine/app", ("hub",)),
    ("the hub by its short name", "mine/app", ("hub-short",)),
    ("a path of the hub", "mine/app", ("hub-path",)),
    ("hub and path", "mine/app", ("hub", "hub-path", "hub-short")),
    ("two secrets, equal entries", APP, ("old", "email")),
    ("the other way round", APP, ("email", "old")),
    ("two secrets, mixed", APP, ("email", "team", "stars")),
    ("capitals", APP, ("upper-case",)),
    ("an entry without a colon", APP, ("no-colon",)),
    ("one that is broken, one that is not", APP, ("no-colon", "team")),
    ("an empty secret", APP, ("nothing-in-it",)),
    ("a secret of another type", APP, ("opaque",)),
    ("a secret that is missing", APP, ("missing", "team")),
    ("two that are missing", APP, ("missing", "gone")),
    ("the same one twice", APP, ("old", "old")),
)
"""What is asked, the image without a tag, and the pod's pull secrets. The registry says
no to everybody.
"""
USED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("without", "1", "IfNotPresent", ()),
    ("wrong", "1", "IfNotPresent", ("wrong",)),
    ("right", "1", "IfNotPresent", ("wrong", "right")),
    ("later, without", "1", "IfNotPresent", ()),
    ("later, wrong", "1", "IfNotPresent", ("wrong",)),
    ("later, right", "1", "IfNotPresent", ("right",)),
    ("later, the same words in another secret", "1", "IfNotPresent", ("right-too",)),
    ("later, never", "1", "Never", ()),
    ("later, never, right", "1", "Never", ("right",)),
    ("later, always", "1", "Always", ("right",)),
    ("later, always, without", "1", "Always", ()),
    ("another tag, right", "2", "IfNotPresent", ("right",)),
    ("another tag, never", "3", "Never", ("right",)),
)
"""What is asked, the image's tag, the policy, the pull secrets: one after the other, of
one image. The registry wants to see `RIGHT`.
"""
NEW = ("me", "swordfish")
CHANGED: tuple[tuple[str, tuple[Object, ...], tuple[str, ...]], ...] = (
    (
        "later, other words in the secret that was used",
        (secret("right", {"registry.example": plain(*NEW)}),),
        ("right",),
    ),
    (
        "later, those words in a new secret",
        (secret("brand-new", {"registry.example": login(*NEW)}),),
        ("brand-new",),
    ),
    (
        "later, and other words in that one",
        (secret("brand-new", {"registry.example": plain("me", "third")}),),
        ("brand-new",),
    ),
    (
        "later, the first words in a secret that was not used",
        (secret("wrong", {"registry.example": plain(*RIGHT)}),),
        ("wrong",),
    ),
    (
        "later, words that nobody has used",
        (secret("strange", {"registry.example": plain("me", "fourth")}),),
        ("strange",),
    ),
)
"""What is asked, the secrets that are made or changed first, and the pod's. Of the same
image once more, and nobody asks the registry but where it must.
"""
OPEN: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("open to all, first", "open.example/app:1", "IfNotPresent", ("team",)),
    ("open to all, later", "open.example/app:1", "IfNotPresent", ()),
    ("there from the start", "busybox:1.36", "IfNotPresent", ()),
    ("there from the start, never", "busybox:1.36", "Never", ()),
    ("by account", f"{APP}:4", "IfNotPresent", ()),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    with RealNode(server, programs) as node:
        path = namespace(server.admin, "pulled")
        for each in SECRETS:
            made = server.admin("POST", f"{path}/secrets", each)
            if made.status != 201:
                raise ValueError(f"{each['metadata']['name']}: {made.message}")
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "puller"},
            "imagePullSecrets": [{"name": "right"}],
        }
        server.admin("POST", f"{path}/serviceaccounts", account)
        yield Answer(
            "secrets/all",
            WHO,
            "the secrets and the account that are there",
            {"secrets": list(SECRETS), "serviceaccounts": [account]},
        )
        node.runtime.images.private = dict.fromkeys(CLOSED, ("nobody", "knows"))
        for number, (what, image, names) in enumerate(SHOWN):
            wanted = _pod(f"s{number}", f"{image}:s{number}", "IfNotPresent", names)
            yield _answer(node, path, f"shown/{what}", wanted)
        node.runtime.images.private = {PRIVATE: RIGHT}
        for number, (what, tag, policy, names) in enumerate(USED):
            wanted = _pod(f"u{number}", f"{APP}:{tag}", policy, names)
            yield _answer(node, path, f"used/{what}", wanted)
        for number, (what, image, policy, names) in enumerate(OPEN):
            wanted = _pod(f"o{number}", image, policy, names)
            if what == "by account":
                wanted["spec"]["serviceAccountName"] = "puller"
            yield _answer(node, path, f"used/{what}", wanted)
        for number, (what, secrets, names) in enumerate(CHANGED):
            for each in secrets:
                _put(server.admin, f"{path}/secrets", each)
            wanted = _pod(f"c{number}", f"{APP}:1", "IfNotPresent", names)
            yield _answer(node, path, f"used/{what}", wanted, secrets)
        node.clear(path)


def _pod(name: str, image: str, policy: str, names: tuple[str, ...]) -> Object:
    container = {"image": image, "imagePullPolicy": policy}
    return pod(name, container, imagePullSecrets=[{"name": each} for each in names])


def _put(admin: Connection, path: str, made: Object) -> None:
    """Make it, or make it so."""
    if admin("POST", path, made).status != 201:
        where = f"{path}/{made['metadata']['name']}"
        admin("PATCH", where, {"data": made["data"]}, content_type=MERGE)


def _answer(
    node: RealNode,
    path: str,
    question: str,
    wanted: Object,
    secrets: tuple[Object, ...] = (),
) -> Answer:
    name = wanted["metadata"]["name"]
    node.runtime.calls.clear()
    node.admin("POST", f"{path}/pods", wanted)
    where = f"{path}/pods/{name}"

    status = until(question, lambda: _decided(node.admin("GET", where).body["status"]))
    calls = [list(each[1:]) for each in node.runtime.calls if each[0] == "pull"]
    selector = f"?fieldSelector=involvedObject.name%3D{name}"
    time.sleep(0.5)  # events come after what they are about
    events = node.admin("GET", f"{path}/events{selector}").body["items"]
    node.admin("DELETE", f"{where}?gracePeriodSeconds=0")
    return Answer(
        question,
        WHO,
        "a pod with an image, a policy and some pull secrets: what the runtime was"
        " shown, one after the other, what became of the container, and what was told",
        {
            "pod": wanted,
            "secrets": list(secrets),
            "private": dict(node.runtime.images.private),
            "pulls": calls,
            "state": container_state(status),
            "events": told(events),
        },
    )


def _decided(status: Object) -> Object:
    """A pod's status, once its container has its image or cannot have it."""
    for each in status.get("containerStatuses") or ():
        waiting = (each["state"].get("waiting") or {}).get("reason")
        if waiting not in ("ContainerCreating", "PodInitializing"):
            return status
    return {}
