"""All sources, mixed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.fuzz_http.client import Connection
from tests.fuzz_http.from_schema import from_schema
from tests.fuzz_http.judge import Served
from tests.fuzz_http.objects import mutated_protobuf, objects, seeds
from tests.fuzz_http.oddities import oddities
from tests.fuzz_http.sent import Sent

GROUPS = ("api/v1", "apis/apps/v1", "apis/batch/v1", "apis/networking.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1",
          "apis/autoscaling/v2", "apis/discovery.k8s.io/v1", "apis/storage.k8s.io/v1", "apis/apiextensions.k8s.io/v1",
          "apis/coordination.k8s.io/v1", "apis/policy/v1", "apis/resource.k8s.io/v1", "version", "apis")  # fmt: skip
DESTRUCTIVE = ("DELETE /api/v1/namespaces/default ", "DELETE /api/v1/namespaces?", "DELETE /api/v1/namespaces ")
"""What would make all later requests uninteresting."""


async def documents(server: Served) -> list[dict[str, Any]]:
    """The OpenAPI v3 documents that the server publishes."""
    connection, found = Connection(server.port, server.tls), []
    for group in GROUPS:
        answer = await connection.ask(Sent.request("", "GET", f"/openapi/v3/{group}"))
        if answer.status == 200:
            found.append(json.loads(answer.body))
    await connection.close()
    return found


def mixed(schemas: list[dict[str, Any]], number: int) -> Iterator[Sent]:
    """For ever; the same for the same seed and the same documents."""
    rng, originals = random.Random(f"mixed {number}"), seeds()
    sources = [
        from_schema(schemas, number), objects(number, originals), mutated_protobuf(number, originals), oddities(number)
    ]  # fmt: skip
    while True:
        (source,) = rng.choices(sources, (4, 5, 3, 4))
        sent = next(source)
        if not sent.data.decode("latin-1").startswith(DESTRUCTIVE):
            yield sent
