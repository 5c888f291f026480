"""Discovery held against a recorded server: its two forms must come out the same, and
our server must serve what it serves.

The recorded server was asked in the old form, one request for each group and version,
and in the new one, two in all. Our client reads the new one; what it makes of it must
be what the server itself says in the old one. Then our own API server is asked the same
way. One field exists only in the old form and only for storage (`storageVersionHash`);
a subresource has a singular name only in the new one, its parent's; the group and
version of a row may be left out where they are the list's own. Those three are taken
out before comparing.
"""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.apiserver.remembering_server import RememberingServer, now
from lifecycle.api.http.wire import Object
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.given import PUBLISHED
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare import AgreementTable, compare
from lifecycle.inspector import Recording
from lifecycle.kubectl.discovery.discovery_client import (
    DiscoveryClient,
    groups_and_resources,
)
from lifecycle.kubectl.rest_mapper import RESTMapper, rest_mapper_for

Everything = tuple[list[Object], list[Object]]


def read_by_ours(transport: Transport) -> Everything:
    """(groups, resource lists) that our client reads from a server."""
    return now(groups_and_resources(DiscoveryClient(Client(transport, "kubectl"))))


def recorded_lists(recording: Recording) -> dict[str, Object]:
    """The APIResourceLists that the recorded server answered in the old form, by group
    and version.
    """
    return {
        exchange.response["groupVersion"]: exchange.response
        for exchange in recording.exchanges("discovery")
        if exchange.status == 200
        and isinstance(exchange.response, dict)
        and exchange.response.get("kind") == "APIResourceList"
    }


def recorded_groups(recording: Recording) -> dict[str, Object]:
    """The groups that the recorded server listed in the old form, by name; the core
    group has none.
    """
    groups: dict[str, Object] = {}
    for exchange in recording.exchanges("discovery"):
        document = exchange.response
        if isinstance(document, dict) and document.get("kind") == "APIVersions":
            groups[""] = {
                "name": "",
                "versions": [
                    {"groupVersion": v, "version": v} for v in document["versions"]
                ],
            }
        if isinstance(document, dict) and document.get("kind") == "APIGroupList":
            groups |= {group["name"]: group for group in document["groups"]}
    return groups


def rows_of(document: Object) -> dict[str, Any]:
    """The rows of a list by name, with the list's group and version where a row names
    none, without what only storage needs.
    """
    group, _, version = document["groupVersion"].rpartition("/")
    rows = {}
    for row in document.get("resources") or ():
        left_out = (
            ("storageVersionHash", "singularName")
            if "/" in row["name"]
            else ("storageVersionHash",)
        )
        rows[row["name"]] = {"group": group, "version": version} | {
            k: v for k, v in row.items() if k not in left_out
        }
    return rows


def discovery_agreement(
    recording: Recording, ours: Everything | None = None
) -> AgreementTable:
    """A row per group and version for the client, and one for the server. `ours`: judge
    this reading of the recorded documents instead.
    """
    table = AgreementTable(
        "What the server serves",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"A server says what it serves in two forms, {len(theirs)} documents in the"
            " old one and two in the new; what our client reads from the new is what"
            f" the server itself says in the old: {table.outcome('documents')}."
        ),
    )
    theirs = recorded_lists(recording)
    groups, lists = ours or read_by_ours(RememberingServer(recording))
    recorded = recorded_groups(recording)
    mine = {
        group["name"]: {key: group.get(key) for key in ("name", "versions")}
        for group in groups
    }
    their_groups = {
        name: {key: group.get(key) for key in ("name", "versions")}
        for name, group in recorded.items()
    }
    table.add(
        "client",
        "all groups and their versions",
        f"{len(mine)} groups",
        f"{len(their_groups)} groups",
        compare(mine, their_groups),
    )
    _add_lists(
        table,
        "client",
        {document["groupVersion"]: document for document in lists},
        theirs,
    )
    return table


def server_agreement(recording: Recording) -> AgreementTable:
    """Our own API server, asked by our own client, beside the recorded one: a row per
    group and version.
    """
    table = AgreementTable(
        "What our server serves",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            "Which resources there are, our server was told by the published documents"
            " of this version, which were recorded, too: nothing here was worked out,"
            " and nothing is counted."
        ),
    )

    async def scene(cluster: RehearsedCluster) -> Everything:
        return await groups_and_resources(DiscoveryClient(cluster.client("kubectl")))

    groups, lists = rehearse(scene, nodes=1)
    names = {
        group["name"]: [v["version"] for v in group["versions"]] for group in groups
    }
    their_groups = {
        n: [v["version"] for v in g["versions"]]
        for n, g in recorded_groups(recording).items()
    }
    table.add(
        "server",
        "all groups and their versions",
        f"{len(names)} groups",
        f"{len(their_groups)} groups",
        compare(names, their_groups),
        PUBLISHED,
    )
    _add_lists(
        table,
        "server",
        {document["groupVersion"]: document for document in lists},
        recorded_lists(recording),
        PUBLISHED,
    )
    return table


def _add_lists(
    table: AgreementTable,
    stage: str,
    ours: dict[str, Object],
    theirs: dict[str, Object],
    given: str = "",
) -> None:
    for name in sorted({*ours, *theirs}):
        nothing = {"groupVersion": name}
        mine, recorded = (
            rows_of(ours.get(name, nothing)),
            rows_of(theirs.get(name, nothing)),
        )
        table.add(
            stage,
            name,
            f"{len(mine)} resources",
            f"{len(recorded)} resources",
            compare(mine, recorded),
            given,
        )


def mapper_of(recording: Recording) -> RESTMapper:
    """A RESTMapper of what a recorded server serves, asked as kubectl asks."""
    return now(
        rest_mapper_for(
            DiscoveryClient(Client(RememberingServer(recording), "kubectl"))
        )
    )
