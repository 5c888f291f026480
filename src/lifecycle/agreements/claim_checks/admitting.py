"""Scenes in which something is admitted, or is not: recorded, and played with plugins
that keep watch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.agreements.apiserver.initializers import Stage, with_initializers
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.client.rest import Client
from lifecycle.inspector import Exchange, Recording

POD = resource("pods")


def refusals(recording: Recording) -> list[Exchange]:
    """What admission refused the recorded administrator."""
    return [
        each
        for each in recording.exchanges("admission")
        if each.moment and each.status == 403 and each.identity == "admin"
    ]


def at(recording: Recording, name: str) -> Exchange:
    """The exchange of a moment."""
    return next(
        each for each in recording.exchanges("admission") if each.moment == name
    )


def pod(name: str = "p", image: str = "nginx", **resources: Object) -> Object:
    """A pod of one container."""
    container: Object = {"name": "c", "image": image, "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
    }


class Watchman(Plugin):
    """Notes that it was asked, and what was stored at that moment."""

    resources = PODS

    def __init__(
        self,
        name: str,
        log: list[Any],
        refuses: bool = False,
        stored: Callable[[], int] | None = None,
    ) -> None:
        self.name, self._log, self._refuses, self.stored = name, log, refuses, stored

    def validate(self, attributes: Attributes) -> None:
        """Refuse, if that is what it is for."""
        self._log.append((self.name, self.stored() if self.stored is not None else 0))
        if self._refuses:
            raise attributes.forbidden(f"{self.name} says no")


async def refused(client: Client, obj: Object) -> StatusError | None:
    """Why this pod is not made; nothing if it is."""
    try:
        await client.create(POD, obj, "default")
    except StatusError as error:
        return error
    return None


def play(scene: Callable[[Stage], Awaitable[Any]]) -> Any:
    """What comes of a scene on a server without initializers."""
    return with_initializers(scene, {}, gate=False)


def use(stage: Stage, *plugins: Plugin) -> None:
    """Plugins behind those that are there."""
    chain = stage.server.config.admission
    chain.use([*chain.plugins, *plugins])


def stored(stage: Stage) -> int:
    """How many pods there are."""
    return len(stage.server.reader.list(POD, "default"))
