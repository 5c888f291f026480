"""What an API server still takes, and what it takes no more: fields with values on both
sides of their bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.bounds import (
    FIELDS,
    HERE,
    PODS,
    SERVICES,
    asks,
    container,
    named,
    pod,
    service,
)
from generators.programs.control_plane import Server
from lifecycle.agreements.apiserver.bounded import SPACE, expanded, in_short

WHO = "kube-apiserver v1.36.2"
Object = dict[str, Any]
LIMITED = named(
    "LimitRange",
    spec={
        "limits": [
            {
                "type": "Container",
                "min": {"cpu": "100m"},
                "max": {"cpu": "500m"},
                "default": {"cpu": "300m"},
                "defaultRequest": {"cpu": "200m"},
                "maxLimitRequestRatio": {"cpu": "2"},
            },
            {"type": "Pod", "max": {"cpu": "800m"}},
        ]
    },
)


def both(*pairs: tuple[str, str]) -> Object:
    """A pod whose containers ask for so much, and at most so much."""
    containers = [
        container(
            name=f"c{number}",
            resources={"requests": {"cpu": request}, "limits": {"cpu": limit}},
        )
        for number, (request, limit) in enumerate(pairs)
    ]
    return named("Pod", spec={"containers": containers})


RANGES: tuple[Object, ...] = (
    *(both((request, "200m")) for request in ("99m", "100m", "101m")),
    *(both(("300m", limit)) for limit in ("499m", "500m", "501m")),
    *(both((request, "400m")) for request in ("199m", "200m", "201m")),
    *(both(("250m", "400m"), ("250m", limit)) for limit in ("399m", "400m", "401m")),
    pod(),
    asks("150m", None),
    asks(None, "150m"),
    asks("100m", None),
)
"""What comes to a namespace with limits."""


PORTS = (29999, 30000, 32767, 32768, 30000)
"""No dry run looks whether a port may be lent."""


def lent(port: int) -> Object:
    """A Service that wants a port of each node."""
    made = service({"nodePort": port}, type="NodePort")
    return {**made, "metadata": {"generateName": "lent-"}}


def answers(server: Server) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    admin = server.admin
    namespace(admin, SPACE)
    for what, path, make, values in FIELDS:
        bodies = [make(value) for value in values]
        yield _answer(server, what, f"{path}?dryRun=All", bodies, list(values))
    bodies = [lent(port) for port in PORTS]
    yield _answer(server, "nodePort, for good", SERVICES, bodies, list(PORTS))
    admin("POST", f"{HERE}/limitranges", LIMITED)
    shown = [_resources(each) for each in RANGES]
    yield _answer(
        server, "with limits", f"{PODS}?dryRun=All", list(RANGES), shown, LIMITED
    )
    admin("DELETE", f"{HERE}/limitranges/x")
    admin("DELETE", f"/api/v1/namespaces/{SPACE}")


def _resources(body: Object) -> str:
    return ", ".join(
        f"{each.get('resources', {}).get('requests', {}).get('cpu', '-')} to"
        f" {each.get('resources', {}).get('limits', {}).get('cpu', '-')}"
        for each in body["spec"]["containers"]
    )


def _answer(
    server: Server,
    what: str,
    path: str,
    bodies: list[Object],
    values: list[Any],
    before: Object | None = None,
) -> Answer:
    replies = [server.admin("POST", path, expanded(body)) for body in bodies]
    return Answer(
        f"bounded/{what}",
        WHO,
        "the same object with one value after the other, as a dry run: what the server"
        " says of each",
        {
            "path": path,
            "before": before,
            "bodies": bodies,
            "values": values,
            "answers": [in_short(reply.status, reply.body) for reply in replies],
        },
    )
