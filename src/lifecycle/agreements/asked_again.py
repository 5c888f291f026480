"""A recorded scenario put to a fresh cluster of ours, by everybody who asked:
administrators, token holders, strangers.

The cluster starts out like the recorded one. Then every recorded request is sent
through the whole handler chain, with the recorded pauses between them (on virtual
time), so that controllers get their turn where the recorded ones got it. A token is a
secret of the cluster that issued it; wherever the recorded requests show one, ours gets
the one that it issued itself.

Unlike `lifecycle.cluster.agree`, which asks what an administrator can ask of any
cluster, this needs a recording that says who held which token, and a server that
believes the certificate it is shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from lifecycle.api.http.wire import MASTERS, Request
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.given import mark_given
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import KIND_ADMIN, HandlerTarget
from lifecycle.compare import AgreementTable
from lifecycle.compare.scenarios import compare_exchanges
from lifecycle.cri.hollow.step_times import RECORDED
from lifecycle.inspector import Exchange, Recording
from lifecycle.inspector.runner import as_recorded
from lifecycle.inspector.unrecorded import (
    unrecorded_deletions,
    unrecorded_namespaces,
)

OURS = "lifecycle, started like the recorded cluster"
MASTER = ("kubernetes-admin", (MASTERS,))
"""Who kubeadm's admin certificate spoke for before 1.29."""

PREPARATION = 0.2
"""Seconds between a namespace and the first question in it: the controllers have to
give it its service account.
"""

Tamper = Callable[[GenericAPIServer], None]
"""Changes something in a server that has been started: how a reader's own stage gets
in.
"""


class Asker(HandlerTarget):
    """Sends recorded requests to a server, each as whoever sent it."""

    def __init__(
        self, server: GenericAPIServer, admin: tuple[str, tuple[str, ...]] = KIND_ADMIN
    ) -> None:
        super().__init__(server, admin)
        self._presented: bytes | None = self._certificate
        self._issued: dict[str, str] = {}

    async def ask(self, recorded: Exchange) -> Exchange:
        """The same exchange with our answer."""
        headers = {
            "Accept": recorded.accept or "*/*",
            "User-Agent": "recorder",
            **recorded.headers_sent,
        }
        if recorded.content_type:
            headers["Content-Type"] = recorded.content_type
        if recorded.token:
            headers["Authorization"] = f"Bearer {self._ours(recorded.token)}"
        self._presented = self._certificate if recorded.identity == "admin" else None
        status, sent, answer = await self.request(
            recorded.method, recorded.path, headers, self._body(recorded)
        )
        kept, response = as_recorded(sent, answer)
        if (
            status == 201
            and isinstance(response, dict)
            and response.get("kind") == "TokenRequest"
        ):
            self._issued[recorded.response["status"]["token"]] = response["status"][
                "token"
            ]
        return replace(recorded, status=status, headers=kept, response=response)

    def _request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> Request:
        return replace(
            super()._request(method, path, headers, body),
            peer_certificate=self._presented,
        )

    def _ours(self, theirs: str) -> str:
        """Our token in place of a recorded one. A forged one is forged in the same way:
        what it shares with a real one is ours.
        """
        for token, ours in self._issued.items():
            shared = sum(
                1
                for _ in takewhile(
                    lambda pair: pair[0] == pair[1], zip(token, theirs, strict=False)
                )
            )
            if shared > len(token) // 2:
                return ours[: len(ours) - (len(token) - shared)] + theirs[shared:]
        return theirs

    def _body(self, recorded: Exchange) -> bytes:
        if recorded.body is None:
            return b""
        text = (
            recorded.body
            if isinstance(recorded.body, str)
            else json.dumps(recorded.body)
        )
        for theirs, ours in self._issued.items():
            text = text.replace(theirs, ours)
        return text.encode()


def ask_again(
    recording: Recording,
    scenario: str,
    tamper: Tamper | None = None,
    admin: tuple[str, tuple[str, ...]] = KIND_ADMIN,
) -> list[Exchange]:
    """Our answers to a scenario, in order. Works where a loop runs already. Raises
    InspectorError for a scenario that was not recorded.

    `admin` is the user and the groups of the administrator's certificate.
    """

    async def main() -> list[Exchange]:
        config = ClusterConfig(
            like=recording.path, https=False, seed=1, latency=RECORDED
        )
        cluster = Cluster(config)
        answers = []
        try:
            await cluster.start()
            if tamper is not None:
                tamper(cluster.server)
            asker, loop = Asker(cluster.server, admin), asyncio.get_running_loop()
            for name in unrecorded_namespaces(recording.exchanges(scenario)):
                body = json.dumps(
                    {
                        "apiVersion": "v1",
                        "kind": "Namespace",
                        "metadata": {"name": name},
                    }
                ).encode()
                await asker.request(
                    "POST",
                    "/api/v1/namespaces",
                    {"Content-Type": "application/json"},
                    body,
                )
                await asyncio.sleep(PREPARATION)
            start = loop.time()
            deletions = unrecorded_deletions(recording.exchanges(scenario))
            for recorded in recording.exchanges(scenario):
                await asyncio.sleep(max(0.0, start + recorded.t - loop.time()))
                if recorded.n in deletions:
                    await asker.request(
                        "DELETE",
                        deletions[recorded.n],
                        {"Accept": "application/json"},
                        b"",
                    )
                answers.append(await asker.ask(recorded))
        finally:
            await cluster.stop()
        return answers

    return on_virtual_time(main())


def asked_again(
    recording: Recording,
    scenario: str,
    title: str,
    tamper: Tamper | None = None,
    opening: Callable[[AgreementTable], str] | None = None,
) -> AgreementTable:
    """The agreement table of a scenario, a row per request, each beginning with who
    asked (unless it was the administrator).
    """
    ours = ask_again(recording, scenario, tamper)
    table = compare_exchanges(
        scenario,
        ours,
        recording.exchanges(scenario),
        OURS,
        f"recording {recording.provenance}",
    )
    table.title, table.opening = title, opening
    mark_given(table, recording, recording.exchanges(scenario))
    for row, exchange in zip(
        table.rows, ours, strict=True
    ):  # both in the order in which was asked
        question = row.input.partition("?")[
            0
        ]  # what follows is the same for all of a scenario, and long
        row.input = f"{who(exchange)}: {question}" if who(exchange) else question
        row.stage = row.stage.rstrip(":")
    return table


def who(exchange: Exchange) -> str:
    """Who asked, in a few words; empty for the administrator as such."""
    instead = exchange.headers_sent.get("Impersonate-User")
    scheme = exchange.headers_sent.get("Authorization", "").partition(" ")[0]
    asker = (
        ""
        if exchange.identity == "admin"
        else f"{scheme} header"
        if scheme
        else exchange.identity
    )
    return " ".join(filter(None, (asker, f"as {instead}" if instead else "")))
