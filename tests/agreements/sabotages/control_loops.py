"""What might go wrong in the controllers and the scheduler, and in the client library they stand on."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lifecycle.agreements import request_counts
from lifecycle.agreements.client.informers import WEATHER, informer_agreement
from lifecycle.agreements.client.leader_election import LEASES, NAME, NAMESPACE, leader_election_agreement
from lifecycle.agreements.client.questions_of_informers import informed_agreement
from lifecycle.agreements.controllers.decisions import mirroring_agreement
from lifecycle.agreements.proxy import services
from lifecycle.agreements.proxy.services import recorded_slices, services_agreement
from lifecycle.agreements.request_counts import cost_agreement
from lifecycle.agreements.scheduler.binding import binding_agreement
from lifecycle.agreements.scheduler.sampled_nodes import sampled_nodes_agreement
from lifecycle.agreements.scheduler.scheduling import scheduling_agreement
from lifecycle.agreements.scheduler.scheduling_queue import recorded_moves, scheduling_queue_agreement
from lifecycle.agreements.whole_journey import MOMENTS, PRINTED, WRITES, whole_journey_agreement
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.compare import AgreementTable
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.schedule_pod import Algorithm, ScheduleResult
from tests.agreements.sabotages.api_server import server_answers
from tests.agreements.sabotages.judged import Answers, Install, IsSpoilt, Judged, Sabotage, called, opened
from tests.claims.broken.breakage import Wrapped, afterwards, constant

NOWHERE = "nowhere"
ANOTHER: Object = {"metadata": {}, "addressType": "IPv4", "ports": None, "endpoints": []}


def other_nodes(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some pods are put where there is no node, whether they fit anywhere or not."""
    number = iter(range(1 << 30))
    real = Algorithm.schedule_pod

    def schedule_pod(self: Algorithm, state: Any, pod: Any) -> Any:
        wrong = spoilt(next(number))
        try:
            result = real(self, state, pod)
        except FitError:
            if not wrong:
                raise
            return ScheduleResult(NOWHERE, 1, 1, dict)
        if wrong:
            object.__setattr__(result, "suggested_host", NOWHERE)
        return result

    monkeypatch.setattr(Algorithm, "schedule_pod", schedule_pod)


def bound_elsewhere(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some pods are bound to another node than was chosen."""
    number = iter(range(1 << 30))
    real = DefaultBinder.bind

    async def bind(self: DefaultBinder, state: Any, pod: Object, node: str) -> Any:
        return await real(self, state, pod, NOWHERE if spoilt(next(number)) else node)

    monkeypatch.setattr(DefaultBinder, "bind", bind)


def wrong_hints(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some pods are woken by the first event that comes by; one that has gates is not woken when they are gone."""
    rows = list(recorded_moves(opened()))
    real = SchedulingQueue._requeue

    def requeue(self: SchedulingQueue, queued: Any, event: Any, old: Any, new: Any) -> bool:
        if not spoilt(rows.index(queued.info.pod["metadata"]["name"])):
            return real(self, queued, event, old, new)
        if not queued.gated:
            del self._unschedulable[queued.key]
            self._move_to_active(queued)
        return not queued.gated

    monkeypatch.setattr(SchedulingQueue, "_requeue", requeue)


@cache
def written_once() -> Counter[Any]:
    """What our cluster writes, played once for all."""
    return request_counts.our_costs(like=opened().path)


def more_writes(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some components write some things once more."""
    costs = written_once()

    def our_costs(*_: Any, **__: Any) -> Any:
        kinds = sorted({*costs, *request_counts.recorded_costs(opened())})
        return costs + Counter(kind for number, kind in enumerate(kinds) if spoilt(number))

    monkeypatch.setattr(request_counts, "our_costs", our_costs)


@cache
def asked_once() -> AgreementTable:
    """What the server answers has nothing to do with slices, and is asked once for all."""
    return services.asked_again(opened(), "services", "services and endpoints")


def wrong_slices() -> Install:
    """The controller leaves the ports out of some slices."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        table = asked_once()
        monkeypatch.setattr(services, "asked_again", lambda *_: copy.deepcopy(table))
        rows = [number for number, each in enumerate(recorded_slices(opened()).values()) for _ in each]
        called(
            "agreements.proxy.services.slices_for",
            lambda slices, *_: [{**piece, "ports": None} for piece in slices],
            rows,
        )(monkeypatch, spoilt)

    return install


def keeps_what_vanished(real: Any) -> Any:
    def replace(self: Any, objects: Iterable[Object]) -> None:
        real(self, [*objects, *(self._known.list())])

    return replace


def never_replaces(real: Any) -> Any:
    def set_once(self: Any, key: str, obj: Object) -> Any:
        old = self.get(key)
        return old if old is not None else real(self, key, obj)

    return set_once


def resumes_too_late(real: Any) -> Any:
    def handle(self: Any, frame: Any) -> None:
        real(self, frame)
        self.last_sync_resource_version = str(int(self.last_sync_resource_version) + 3)

    return handle


CALM, CUT, FORGOTTEN = WEATHER
STEADY = "what handlers are told, in order"
ALL_WEATHERS = "the same reflector fills every cache, and tells every handler, in all weathers"


def goes_on_without_the_lease(real: Any) -> Any:
    async def renew(self: Any) -> None:
        await real(self)
        await asyncio.Event().wait()

    return renew


def looks_before_each(real: Any) -> Any:
    async def written(self: Any, lease: Object) -> Any:
        await self._client.get(LEASES, NAME, NAMESPACE)
        return await real(self, lease)

    return written


def looks_twice(real: Any) -> Any:
    async def acquire(self: Any) -> None:
        with suppress(StatusError):
            await self._client.get(LEASES, NAME, NAMESPACE)
        await real(self)

    return acquire


JUDGED = (
    Judged(
        "sampled_nodes_agreement",
        sampled_nodes_agreement,
        sabotages=(
            Sabotage(
                "half of them are always enough",
                "scheduler.schedule_pod.MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND",
                50,
                (" (240|500) nodes, (nothing|0)$",),
                because="only in these clusters is half of all nodes more than a hundred",
            ),
        ),
        answers=(
            Answers(
                "how many it finds", "", called("agreements.scheduler.sampled_nodes.our_feasible", lambda n, *_: n + 1)
            ),
        ),
    ),
    Judged(
        "whole_journey_agreement",
        lambda: whole_journey_agreement(opened()),
        sabotages=(
            Sabotage(
                "nobody says that all is ready",
                "cluster.follow.span",
                lambda *_, **__: nullcontext(),
                (f"{MOMENTS}$",),
            ),
            Sabotage(
                "owners are not looked at",
                "trace.journey._Family.adopt",
                constant(False),
                (f"{MOMENTS}$", f"{WRITES}$"),
                because="both are told of one journey",
            ),
            Sabotage(
                "a kubectl of few words",
                "cluster.follow.run_kubectl",
                Wrapped(lambda real: lambda argv, client, *, out, err: real(argv, client, out=err, err=err)),
                (f"{PRINTED}$",),
            ),
        ),
    ),
    Judged(
        "mirroring_agreement",
        mirroring_agreement,
        sabotages=(
            Sabotage(
                "whoever says not to be mirrored is",
                "agreements.controllers.decisions.should_mirror",
                constant(True),
                ("said not to", "a lock of old"),
                because="one function hears both",
            ),
        ),
        answers=(
            Answers(
                "slices",
                r"^mirrored \| (?!said not|a lock)",
                called(
                    "agreements.controllers.decisions.mirror",
                    lambda changes, *_: replace(changes, create=[*changes.create, ANOTHER]),
                ),
            ),
        ),
    ),
    Judged(
        "leader_election_agreement",
        leader_election_agreement,
        sabotages=(
            Sabotage(
                "a lease is made anew by a leader that has forgotten since when it leads",
                "client.leader_election.LeaderElector._new_lease",
                Wrapped(lambda real: lambda self, now, kept: real(self, now, None)),
                ("deletes the Lease",),
            ),
            Sabotage(
                "whoever is robbed goes on",
                "client.leader_election.LeaderElector.renew",
                Wrapped(goes_on_without_the_lease),
                ("writes himself",),
            ),
            Sabotage(
                "whoever waits looks ten times as often",
                "client.leader_election.JITTER",
                -0.9,
                ("both run",),
            ),
            Sabotage(
                "a lease is read before each renewal",
                "client.leader_election.LeaderElector._write",
                Wrapped(looks_before_each),
                ("both run", "deletes the Lease"),
                because="a renewal is a write, also of a lease that is gone",
            ),
            Sabotage(
                "one look too many before the first lease",
                "client.leader_election.LeaderElector.acquire",
                Wrapped(looks_twice),
                ("first of two",),
            ),
            Sabotage(
                "takeovers are not counted",
                "client.leader_election.LeaderElector._taken",
                afterwards(lambda lease, *_: {**lease, "spec": {**lease["spec"], "leaseTransitions": 0}}),
                ("is killed", "deletes the Lease"),
                because="the count goes on",
            ),
            Sabotage(
                "leases of another length",
                "client.leader_election.LeaderElector._spec",
                afterwards(lambda spec, *_: {**spec, "leaseDurationSeconds": 7}),
                ("first of two", "both run", "is killed", "deletes the Lease", "asked to end"),
                because="each lease says how long it lasts",
            ),
        ),
    ),
    Judged(
        "scheduling_agreement",
        lambda: scheduling_agreement(opened()),
        answers=(Answers("decisions", "", other_nodes),),
    ),
    Judged(
        "scheduling_queue_agreement",
        lambda: scheduling_queue_agreement(opened()),
        answers=(Answers("places", "", wrong_hints),),
    ),
    Judged(
        "binding_agreement",
        lambda: binding_agreement(opened()),
        answers=(Answers("bindings", "", bound_elsewhere),),
    ),
    Judged(
        "services_agreement",
        lambda: services_agreement(opened()),
        answers=(
            Answers(
                "the server, asked for Services", r"\| (GET|POST|PUT|PATCH|DELETE) ", server_answers(("services",))
            ),
            Answers("slices", "slices worked out", wrong_slices()),
        ),
    ),
    Judged(
        "cost_agreement",
        lambda: cost_agreement(opened()),
        answers=(Answers("writes", "", more_writes),),
    ),
    Judged(
        "informed_agreement",
        informed_agreement,
        answers=(
            Answers(
                "what is asked for",
                "",
                called("agreements.client.questions_of_informers._questions", lambda heard, *_: [*heard, {}]),
            ),
        ),
    ),
    Judged(
        "informer_agreement",
        lambda: informer_agreement(opened()),
        sabotages=(
            Sabotage(
                "a new list does not take away what vanished",
                "client.real_fifo.RealFIFO.replace",
                Wrapped(keeps_what_vanished),
                (FORGOTTEN,),
            ),
            Sabotage(
                "a watch is resumed too late",
                "client.reflector.Reflector._handle",
                Wrapped(resumes_too_late),
                (CUT,),
            ),
            Sabotage(
                "handlers hear of updates only",
                "client.shared_informer._call",
                constant(None),
                (STEADY,),
            ),
            Sabotage(
                "what has been there once stays as it was",
                "client.indexer.Indexer.set",
                Wrapped(never_replaces),
                (CALM, CUT, FORGOTTEN, STEADY),
                because=ALL_WEATHERS,
            ),
        ),
    ),
)
