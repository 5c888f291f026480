"""How a real informer asks: what a controller manager's one for nodes sends first, with
and without streamed lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from urllib.parse import parse_qs, urlsplit

from generators.programs.answer import Answer
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.agreements.client.questions_of_informers import as_asked

WHO = "kube-controller-manager v1.36.2"
TTL = "system:serviceaccount:kube-system:ttl-controller"
SHARED = "system:kube-controller-manager"
STAGES = (("list", "ResponseComplete"), ("watch", "ResponseStarted"))
"""When a request is on its way: once for each."""


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """Twice. No controller manager runs before, and none afterwards."""
    for what, streams in (("streamed", "true"), ("listed", "false")):
        seen = len(_asked(server))
        manager = plane.controller_manager(
            server,
            "--controllers=ttl-controller",
            f"--feature-gates=WatchListClient={streams}",
        )
        until("a watch", partial(_watches, server, seen))
        plane.stop(manager)
        until("its end", partial(_watches, server, seen))
        yield Answer(
            f"informed/{what}",
            WHO,
            "a controller that has an informer of nodes begins: what that asks for",
            {"questions": _asked(server)[seen:][: 1 if what == "streamed" else 2]},
        )


def _watches(server: Server, seen: int) -> bool:
    return any("watch" in each for each in _asked(server)[seen:])


def _asked(server: Server) -> list[dict[str, str]]:
    events = [
        event
        for user in (TTL, SHARED)
        for event in server.requests(user, resource="nodes")
        if (event["verb"], event["stage"]) in STAGES
    ]
    events.sort(key=lambda event: str(event["requestReceivedTimestamp"]))
    queries = [urlsplit(event["requestURI"]).query for event in events]
    return [as_asked(parse_qs(query)) for query in queries]
