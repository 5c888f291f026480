"""Who leads when there are two controller managers: the Lease as it changes, and what
each asks for meanwhile.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.agreements.client.leader_election import (
    DEADLINE,
    DURATION,
    MOST,
    RETRY,
    WATCHED,
    mended,
    often,
)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE = f"{LEASES}/kube-controller-manager"
FLAGS = (
    "--leader-elect=true",
    f"--leader-elect-lease-duration={DURATION:.0f}s",
    f"--leader-elect-renew-deadline={DEADLINE:.0f}s",
    f"--leader-elect-retry-period={RETRY:.0f}s",
    "--controllers=ttl-after-finished-controller",
    "--use-service-account-credentials=false",
)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class _Scene:
    def __init__(self, plane: ControlPlane, server: Server) -> None:
        self.plane, self.server = plane, server
        self.names: dict[str, str] = {}

    def spec(self) -> dict[str, Any]:
        """The Lease's, or nothing."""
        reply = self.server.admin("GET", LEASE)
        return reply.body["spec"] if reply.status == 200 else {}

    def told(self) -> dict[str, Any]:
        """The Lease as it can be compared: the holder by the order of appearance."""
        spec = self.spec()
        holder = spec.get("holderIdentity", "")
        if holder:
            self.names.setdefault(holder, "abc"[len(self.names)])
        return {
            "holder": self.names.get(holder, ""),
            "leaseDurationSeconds": spec["leaseDurationSeconds"],
            "leaseTransitions": spec["leaseTransitions"],
        }

    def manager(self, name: str) -> Any:
        return self.plane.controller_manager(
            self.server, *FLAGS, user=f"manager-{name}", groups=("system:masters",)
        )

    def verbs(self, name: str, since: int) -> list[str]:
        """What a manager did to the Lease from a request on, in order."""
        events = self.server.requests(f"manager-{name}", resource="leases")[since:]
        return [event["verb"] for event in events]

    def first_verbs(self, name: str) -> list[str]:
        """What it asked until it led."""
        events = self.server.requests(f"manager-{name}", resource="leases")
        return [event["verb"] for event in events[:2]]

    def asked(self, name: str) -> int:
        return len(self.server.requests(f"manager-{name}", resource="leases"))

    def holder(self, test: Callable[[str], bool], what: str) -> None:
        until(what, lambda: test(self.spec().get("holderIdentity", "")))


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """One scene, told in six parts."""
    who = "kube-controller-manager v1.36.2"
    scene = _Scene(plane, server)
    first = scene.manager("a")
    scene.holder(bool, "a leader")
    spec = scene.spec()
    yield Answer(
        "leaders/first",
        who,
        "the first of two starts: the Lease, whether it was acquired when it was"
        " renewed, and what was asked of Leases for it",
        {
            **scene.told(),
            "at once": spec["acquireTime"] <= spec["renewTime"],
            "verbs": scene.first_verbs("a"),
        },
    )
    second = scene.manager("b")
    until("a second one", lambda: scene.asked("b") > 2)
    before, counts = scene.spec(), (scene.asked("a"), scene.asked("b"))
    time.sleep(WATCHED)
    after = scene.spec()
    yield Answer(
        "leaders/both",
        who,
        "both run for six seconds: the Lease, whether it is still the one acquired"
        " first, whether it was renewed, and what each did to it meanwhile, and whether"
        " as often as it has to",
        {
            **scene.told(),
            "acquired": after["acquireTime"] == spec["acquireTime"],
            "renewed": after["renewTime"] > before["renewTime"],
            "who leads": often(scene.verbs("a", counts[0]), RETRY, RETRY),
            "who waits": often(scene.verbs("b", counts[1]), RETRY, 2.2 * RETRY),
        },
    )
    plane.stop(first)
    last = scene.spec()
    scene.holder(lambda name: name != last["holderIdentity"], "another leader")
    taken = scene.spec()
    waited = _seconds(taken["acquireTime"]) - _seconds(last["renewTime"])
    yield Answer(
        "leaders/killed",
        who,
        "the leader is killed: the Lease, whether the other one waited until it had run"
        " out, whether it took it at one of its next looks, whether its time begins"
        " anew",
        {
            **scene.told(),
            "waited": waited >= DURATION - RETRY,
            "took it": waited <= MOST,
            "begins anew": taken["acquireTime"] > last["acquireTime"],
        },
    )
    asked = scene.asked("b")
    scene.server.admin("DELETE", LEASE)
    until("a new Lease", scene.spec)
    yield Answer(
        "leaders/deleted",
        who,
        "somebody deletes the Lease: the new one, whether it says that it was acquired"
        " when the old one was, and what the leader did to Leases",
        {
            **scene.told(),
            "acquired": scene.spec()["acquireTime"] == taken["acquireTime"],
            "verbs": mended(scene.verbs("b", asked)),
        },
    )
    stolen = scene.server.admin("GET", LEASE).body
    stolen["spec"]["holderIdentity"] = "somebody else"
    stolen["spec"]["leaseDurationSeconds"] = 60
    reply = scene.server.admin("PUT", LEASE, stolen)
    while reply.status == 409:  # the leader was faster
        fresh = scene.server.admin("GET", LEASE).body
        fresh["spec"] |= {"holderIdentity": "somebody else", "leaseDurationSeconds": 60}
        reply = scene.server.admin("PUT", LEASE, fresh)
    second.wait(timeout=60)
    yield Answer(
        "leaders/stolen",
        who,
        "somebody else writes himself into the Lease: whether the leader gives up, and"
        " who holds it then",
        {
            "gives up": second.returncode != 0,
            "somebody else": scene.spec()["holderIdentity"] == "somebody else",
        },
    )
    scene.server.admin("DELETE", LEASE)
    third = scene.manager("c")
    scene.holder(lambda name: name not in ("", "somebody else"), "a third leader")
    third.send_signal(signal.SIGTERM)
    third.wait(timeout=60)
    released = scene.spec()
    yield Answer(
        "leaders/ended",
        who,
        "a leader is asked to end: who holds the Lease afterwards, for how long, how"
        " many have had it",
        {
            "held": bool(released.get("holderIdentity")),
            "leaseDurationSeconds": released["leaseDurationSeconds"],
            "leaseTransitions": released["leaseTransitions"],
        },
    )
