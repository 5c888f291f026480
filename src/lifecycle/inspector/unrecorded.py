"""What a recorder did and did not write down, known from what came of it.

A recorder cleans up as it goes along, which leaves no line. Where a webhook that nobody
answers for has stopped a request, and the same request goes through a little later, its
configuration was taken away in between.

Most scenarios play in a namespace of their own, which no line creates: the recorder had
made it as part of its preparations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.inspector.exchange import Exchange

_CONFIGURATIONS = re.compile(
    r"/apis/admissionregistration\.k8s\.io/v1/(?:mutating|validating)webhookconfigurations"
)
_FAILED_CALLING = re.compile(r'failed calling webhook "([^"]+)"')


def unrecorded_deletions(exchanges: Iterable[Exchange]) -> dict[int, str]:
    """The paths of webhook configurations that were deleted without a line, by the
    number of the first exchange that went through without them.
    """
    configurations: dict[str, str] = {}
    stopped: dict[tuple[str, str], str] = {}
    deletions = {}
    for exchange in exchanges:
        path = exchange.path.partition("?")[0]
        request = (exchange.method, path)
        if exchange.method == "POST" and exchange.status == 201:
            if _CONFIGURATIONS.fullmatch(path):
                for webhook in exchange.response["webhooks"]:
                    name = exchange.response["metadata"]["name"]
                    configurations[webhook["name"]] = f"{path}/{name}"
            elif request in stopped:
                deletions[exchange.n] = stopped.pop(request)
        elif exchange.status == 500 and isinstance(exchange.response, dict):
            failed = _FAILED_CALLING.search(exchange.response.get("message", ""))
            if failed and failed[1] in configurations:
                stopped[request] = configurations[failed[1]]
    return deletions


OF_A_FRESH_CLUSTER = (
    "default",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "local-path-storage",
)


def unrecorded_namespaces(exchanges: Iterable[Exchange]) -> list[str]:
    """The namespaces in which recorded writes succeeded, that no request creates, and
    that a fresh cluster does not have.
    """
    created, written = set(OF_A_FRESH_CLUSTER), dict[str, None]()
    for exchange in exchanges:
        match = re.match(r"/apis?/(?:[^/]+/){1,2}namespaces/([^/?]+)/", exchange.path)
        if (
            exchange.method == "POST"
            and exchange.path.partition("?")[0] == "/api/v1/namespaces"
        ):
            created.add(exchange.body["metadata"].get("name", ""))
        elif match and exchange.method != "GET" and exchange.status < 300:
            written.setdefault(match[1], None)
    return [name for name in written if name not in created]
