"""Leader election held against two real controller managers: the Lease as it changes
hands, and what each asks of the API server meanwhile.

The real ones were started, killed, robbed and ended in front of a real API server; two
electors of ours live through the same in front of ours, on virtual time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime
from typing import Any

from lifecycle.api.http.wire import MASTERS, Object, Request, Response, UserInfo
from lifecycle.api.resources import resource
from lifecycle.api.version import user_agent
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.etcd.memory import MemoryStore
from lifecycle.inspector.opening import recordings_directory

DURATION, DEADLINE, RETRY = 6.0, 4.0, 1.0
MOST = DURATION + 2.2 * RETRY + 2
"""A lease that is no longer renewed is taken after its duration, at the next look:
looks are up to 2.2 periods apart. Two seconds for a busy machine.
"""
WATCHED = 6.0
PATIENCE = 300
"""Tenths of a second, until somebody ought to have taken over."""
LEASES = resource("leases.coordination.k8s.io")
NAMESPACE, NAME = (
    "kube-system",
    "kube-controller-manager",
)
ADMIN = UserInfo("root", (MASTERS, "system:authenticated"))


VERBS = {"GET": "get", "POST": "create", "PUT": "update"}


def often(verbs: list[str], shortest: float, longest: float) -> Object:
    """What was done in the time that was watched, and whether as often as it has to be
    if so many seconds are between two of them: one less, or one more, for where the
    time began.
    """
    least, most = WATCHED / longest - 1, WATCHED / shortest + 1
    counts = Counter(verbs)
    return {verb: least <= count <= most for verb, count in sorted(counts.items())}


def mended(verbs: list[str]) -> list[str]:
    """What was done in order about a Lease that is gone, from the renewal that failed
    until it was there again. Renewals before that had nothing to mend.
    """
    begin = max(verbs.index("get") - 1, 0) if "get" in verbs else 0
    end = verbs.index("create") + 1 if "create" in verbs else None
    return verbs[begin:end]


class _Noting:
    """A transport that notes what is done with the Lease: `verbs`, in order."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.verbs: list[str] = []

    async def round_trip(self, request: Request) -> Response:
        """Note, and pass on."""
        self.verbs.append(VERBS[request.method])
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class _Candidate:
    """An elector that runs as a controller manager has it, and the verbs that it used:
    `verbs`, in order.
    """

    def __init__(self, server: GenericAPIServer, name: str) -> None:
        self.name = name
        noting = _Noting(server.in_process_transport(ADMIN))
        self.verbs = noting.verbs
        client = Client(noting, user_agent("kube-controller-manager"))
        self.elector = LeaderElector(
            client, NAME, name, clock=server.clock, namespace=NAMESPACE,
            lease_duration=DURATION, renew_deadline=DEADLINE, retry_period=RETRY,
        )  # fmt: skip
        self.task = asyncio.create_task(self._run(), name=f"candidate {name}")

    async def _run(self) -> None:
        await self.elector.acquire()
        await self.elector.renew()

    async def end(self) -> None:
        """Killed, or asked to end: the lease stays as it is."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class _Scene:
    def __init__(self, server: GenericAPIServer) -> None:
        self.server = server
        self.admin = Client(server.in_process_transport(ADMIN), user_agent("kubectl"))

    async def lease(self) -> Object:
        return await self.admin.get(LEASES, NAME, NAMESPACE)

    async def told(self) -> Object:
        spec = (await self.lease())["spec"]
        return {
            "holder": spec["holderIdentity"],
            "leaseDurationSeconds": spec["leaseDurationSeconds"],
            "leaseTransitions": spec["leaseTransitions"],
        }

    async def play(self) -> dict[str, Any]:
        """All of it; by the name of the question."""
        answers: dict[str, Any] = {}
        first = _Candidate(self.server, "a")
        await asyncio.sleep(RETRY / 2)
        spec = (await self.lease())["spec"]
        answers["leaders/first"] = {
            **await self.told(),
            "at once": spec["acquireTime"] <= spec["renewTime"],
            "verbs": first.verbs[:2],
        }
        second = _Candidate(self.server, "b")
        await asyncio.sleep(5 * RETRY)
        before, counts = (await self.lease())["spec"], (first.verbs, second.verbs)
        counts[0].clear()
        counts[1].clear()
        await asyncio.sleep(WATCHED)
        after = (await self.lease())["spec"]
        answers["leaders/both"] = {
            **await self.told(),
            "acquired": after["acquireTime"] == spec["acquireTime"],
            "renewed": after["renewTime"] > before["renewTime"],
            "who leads": often(first.verbs, RETRY, RETRY),
            "who waits": often(second.verbs, RETRY, 2.2 * RETRY),
        }
        await first.end()
        last = (await self.lease())["spec"]
        for _ in range(PATIENCE):
            await asyncio.sleep(0.1)
            if (await self.lease())["spec"]["holderIdentity"] != "a":
                break
        taken = (await self.lease())["spec"]
        waited = _seconds(taken["acquireTime"]) - _seconds(last["renewTime"])
        answers["leaders/killed"] = {
            **await self.told(),
            "waited": waited >= DURATION - RETRY,
            "took it": waited <= MOST,
            "begins anew": taken["acquireTime"] > last["acquireTime"],
        }
        second.verbs.clear()
        await self.admin.delete(LEASES, NAME, NAMESPACE)
        await asyncio.sleep(3 * RETRY)
        answers["leaders/deleted"] = {
            **await self.told(),
            "acquired": (await self.lease())["spec"]["acquireTime"]
            == taken["acquireTime"],
            "verbs": mended(second.verbs),
        }
        lease = await self.lease()
        spec = lease["spec"] | {
            "holderIdentity": "somebody else",
            "leaseDurationSeconds": 60,
        }
        await self.admin.update(LEASES, {**lease, "spec": spec})
        await asyncio.wait([second.task], timeout=60)
        answers["leaders/stolen"] = {
            "gives up": second.task.done(),
            "somebody else": (await self.told())["holder"] == "somebody else",
        }
        await second.end()
        await self.admin.delete(LEASES, NAME, NAMESPACE)
        third = _Candidate(self.server, "c")
        await asyncio.sleep(RETRY)
        await third.end()
        ended = await self.told()
        answers["leaders/ended"] = {
            "held": bool(ended["holder"]),
            "leaseDurationSeconds": ended["leaseDurationSeconds"],
            "leaseTransitions": ended["leaseTransitions"],
        }
        return answers


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def our_leaders() -> dict[str, Any]:
    """What our electors answer."""

    async def main() -> dict[str, Any]:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            return await _Scene(server).play()
        finally:
            await server.stop()

    return on_virtual_time(main())


def leader_election_agreement(
    programs: ProgramAnswers | None = None,
) -> AgreementTable:
    """A row for each part of the scene. `programs`: what the real ones answered; None:
    as recorded.
    """
    if programs is None:
        programs = newest_programs(recordings_directory())
    ours = our_leaders()
    asked = [
        each for name, each in programs.answers.items() if name.startswith("leaders/")
    ]
    table = AgreementTable(
        "Leader election",
        "lifecycle",
        f"{asked[0].program}, asked directly",
        lambda table: (
            "Two controller managers and one Lease: started, killed, robbed and ended,"
            " the real ones as well as ours. Who leads then, since when, and what each"
            f" asked meanwhile: {table.outcome('answers')}."
        ),
    )
    for each in asked:
        answer = ours.get(each.question, {})
        table.add(
            "lease",
            each.asked.partition(":")[0],
            f"{len(answer)} facts",
            f"{len(each.answer)} facts",
            compare(answer, each.answer),
        )
    return table
