"""The form that `kubectl create deployment` fills in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.names import NameSource
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubectl.generators.create_deployment import create_deployment

CONTRACT = """\
deployment(name, images, command, replicas, port, suffix) -> a Deployment

name:     as in "nginx". images: one container for each.
command:  a list of words, perhaps empty: every container gets it if it is not.
replicas: a number. port: a number for the first container, or None.
suffix:   a few letters, see below.
Returns apps/v1. The label app=NAME is on the Deployment and on the pods of its
template, and is what its selector looks for. There is nothing in it that nobody has
asked for: no status, no strategy, no creationTimestamp. A container is called after its
image: the last part of the path, without tag (":1.2") and digest ("@sha256:...") – a
registry may have a port (localhost:5000/web). If there is a dot or an underscore in
that, each becomes a dash, and "-" and the suffix are added. Nothing else is checked or
mended."""

STARTER = '''\
def deployment(name, images, command, replicas, port, suffix):
    """The form, filled in."""
    containers = [{"name": image, "image": image} for image in images]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 1, "template": {"spec": {"containers": containers}}},
    }
'''

IMAGES = (
    ["nginx"],
    ["nginx:1.27"],
    ["docker.io/library/nginx:1.27"],
    ["registry.example.com/team/web:1.2"],
    ["localhost:5000/web"],
    ["localhost:5000/team/web:2"],
    ["web@sha256:0123456789abcdef"],
    ["example.com/web:1@sha256:0123456789abcdef"],
    ["my_image"],
    ["example.com/my.image_v2:3"],
    ["nginx", "busybox:1.36"],
    ["a_b", "c.d", "e"],
    ["nginx:!!"],
)
FLAGS: tuple[tuple[list[str], int, int | None], ...] = (
    ([], 3, None),
    ([], 1, 80),
    (["sleep", "1h"], 0, None),
    (["sleep"], 2, 0),
)


def cases() -> Iterator[Case]:
    """Images of all kinds, with flags of all kinds; and names that nobody checks."""
    for images, (command, replicas, port) in product(IMAGES, FLAGS):
        yield _case("images", "nginx", images, command, replicas, port)
    for name in ("nginx", "Bad_Name", "a.b", "", "x" * 70):
        yield _case("names", name, ["nginx"], [], 3, None)
    yield _case("names", "nobody checks a number", ["nginx"], [], -2, 99_999)


def _case(
    group: str,
    name: str,
    images: list[str],
    command: list[str],
    replicas: int,
    port: int | None,
) -> Case:
    question = {
        "name": name,
        "images": images,
        "command": command,
        "replicas": replicas,
        "port": port,
        "suffix": "x7k2p",
    }
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(*question.values())  # noqa: E731
    words = f"{name} of {' '.join(images)}, {replicas}"
    if command:
        words += f", {' '.join(command)}"
    if port is not None:
        words += f", port {port}"
    expected = _ours(name, images, command, replicas, port, "x7k2p")
    return Case(group, words.replace("/", "∕"), expected, ask, question)


class _OneSuffix:
    """Names that end as they are told to."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def suffix(self) -> str:
        """See `NameSource`."""
        return self._suffix


def _ours(
    name: str,
    images: list[str],
    command: list[str],
    replicas: int,
    port: int | None,
    suffix: str,
) -> Object:
    return create_deployment(
        name,
        images,
        command=command,
        replicas=replicas,
        port=-1 if port is None else port,
        names=cast(NameSource, _OneSuffix(suffix)),
    )


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "create-deployment",
    "The form of create deployment",
    CONTRACT,
    STARTER,
    "the book's own, which sends what the real kubectl sends",
    cases,
    ours,
    ("generators", "validation-and-generators"),
)
