"""What a recorder did and did not write down, known from what came of it.

A recorder cleans up as it goes along, which leaves no line. Where a webhook that nobody
answers for has stopped a request, and the same request goes through a little later, its
configuration was taken away in between.

Most scenarios play in a namespace of their own, which no line creates: the recorder had
made it as part of its preparations. And what a scenario made was cleaned up at its end;
where the next one began at once, it still saw namespaces on their way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.recording import Recording

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


def scenario_before(recording: Recording, scenario: str) -> str:
    """The scenario that was played right before this one: objects that it made are
    still going in this one's answers. Empty if nothing tells.
    """
    going = {
        metadata["uid"]
        for exchange in recording.exchanges(scenario)
        if exchange.method == "GET" and isinstance(exchange.response, dict)
        for row in exchange.response.get("rows") or ()
        if "deletionTimestamp" in (metadata := row["object"]["metadata"])
    }
    for other in recording.scenarios() if going else ():
        made = {uid for uid, _ in _made(recording.exchanges(other))}
        if other != scenario and made & going:
            return other
    return ""


def unrecorded_clean_up(exchanges: Iterable[Exchange]) -> list[str]:
    """The paths of what a scenario made outside of namespaces, and did not delete
    itself: the last first.
    """
    exchanges = list(exchanges)
    deleted = {each.path for each in exchanges if each.method == "DELETE"}
    taken_away = set(unrecorded_deletions(exchanges).values())
    paths = [path for _, path in _made(exchanges) if not _NAMESPACED.search(path)]
    return [path for path in reversed(paths) if path not in deleted | taken_away]


def _made(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, str]]:
    """Uid and path of each object that was really created."""
    for exchange in exchanges:
        if (
            exchange.method == "POST"
            and exchange.status == 201
            and "?" not in exchange.path
            and (metadata := exchange.response.get("metadata") or {}).get("uid")
        ):
            yield metadata["uid"], f"{exchange.path}/{metadata['name']}"


_NAMESPACED = re.compile(r"/namespaces/[^/]+/.")

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
