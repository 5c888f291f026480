"""Each extension point: who is asked, in which order, what ends it, and the words of a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.scheduler.config import ConfigurationError, Profile
from lifecycle.scheduler.framework.cycle_state import CycleState, NotFoundError
from lifecycle.scheduler.framework.interface import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterAnswer,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreFilterAnswer,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.plugins.priority_sort import PrioritySort
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.status import (
    SKIP,
    Code,
    PluginError,
    Status,
    as_status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.steps import at_once
from lifecycle.scheduler.framework.types import QueuedPodInfo
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of

POD = PodInfo(make_pod("p"))
NODES = [NodeInfo(make_node(name)) for name in ("a", "b")]
NO = Status(Code.UNSCHEDULABLE, ("no",))
NEVER = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("never",))
BROKEN = as_status(PluginError("broken"))


class Plain(Plugin):
    """Answers what it was made with, and keeps count."""

    def __init__(self, name: str, answer: Any = None, calls: list[str] | None = None) -> None:
        self.name = name
        self.answer = answer
        self.calls: list[str] = [] if calls is None else calls

    def say(self, what: str = "") -> Any:
        self.calls.append(self.name + what)
        return self.answer


class Binds(Plain, BindPlugin):
    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return self.say()


def framework(*plugins: Plain, binders: Sequence[Plain] = (Binds("Binds"),), **points: Any) -> Framework:
    """These plugins at all their points, beside what every profile must have."""
    every: list[Plugin] = [PrioritySort(), *binders, *plugins]
    registry = {plugin.name: (lambda args, handle, plugin=plugin: plugin) for plugin in every}
    return Framework(registry, Profile(multi_point=tuple((plugin.name, 0) for plugin in every), points=points))


# -- may the pod run there? --------------------------------------------------------------------------------------------


class PreFilters(Plain, PreFilterPlugin, PreFilterExtensions, FilterPlugin):
    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: SharedLister) -> PreFilterAnswer:
        return self.say()

    def add_pod(self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo) -> Status | None:
        self.calls.append(f"{self.name} adds")
        return BROKEN if self.name == "Broken" else None

    def remove_pod(self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo) -> Status | None:
        self.calls.append(f"{self.name} removes")
        return BROKEN if self.name == "Broken" else None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        self.calls.append(f"{self.name} filters")
        return None


def only(*names: str) -> PreFilterAnswer:
    return PreFilterResult(frozenset(names)), None


@pytest.mark.parametrize(
    ("answers", "names", "refusal", "asked"),
    [
        ([(None, None), (None, None)], None, None, "AB"),
        ([(None, SKIP), (None, SKIP)], None, None, "AB"),
        ([only("a"), (None, None)], {"a"}, None, "AB"),
        ([only("a", "b"), only("b", "c")], {"b"}, None, "AB"),
        ([(PreFilterResult(frozenset("a")), SKIP), (None, None)], None, None, "AB"),  # what a skipper adds is ignored
        (
            [only("a"), only("b")],
            set(),
            unresolvable("B", "node(s) didn't satisfy plugin(s) [A B] simultaneously"),
            "AB",
        ),
        ([only(), (None, None)], set(), unresolvable("A", "node(s) didn't satisfy plugin A"), "A"),
        ([(None, NEVER), (None, None)], None, unresolvable("A", "never"), "A"),
        ([(None, NO), (None, None)], None, unschedulable("A", "no"), "AB"),  # preemption may need what B finds
        ([(None, NO), (None, NEVER)], None, unresolvable("B", "never"), "AB"),
    ],
)
def test_pre_filters_narrow_the_choice_together_and_one_may_end_it(
    answers: list[PreFilterAnswer], names: set[str] | None, refusal: Status | None, asked: str
) -> None:
    calls: list[str] = []
    plugins = [PreFilters(name, answer, calls) for name, answer in zip("AB", answers, strict=True)]
    result, status, _ = framework(*plugins).run_pre_filter_plugins(CycleState(), POD, snapshot_of([]))
    assert result.node_names == names
    assert status == refusal
    assert "".join(calls) == asked


def test_a_pre_filter_that_breaks_is_named() -> None:
    _, status, _ = framework(PreFilters("A", (None, BROKEN))).run_pre_filter_plugins(CycleState(), POD, snapshot_of([]))
    assert status is not None
    assert (status.code, status.message) == (Code.ERROR, 'running PreFilter plugin "A": broken')


def test_who_skips_at_pre_filter_is_asked_neither_per_node_nor_what_if() -> None:
    calls: list[str] = []
    both = framework(PreFilters("A", (None, SKIP), calls), PreFilters("B", (None, None), calls))
    state = CycleState()
    both.run_pre_filter_plugins(state, POD, snapshot_of([]))
    calls.clear()
    assert both.run_filter_plugins(state, POD, NODES[0]) is None
    assert both.run_pre_filter_extension_add_pod(state, POD, POD, NODES[0]) is None
    assert both.run_pre_filter_extension_remove_pod(state, POD, POD, NODES[0]) is None
    assert calls == ["B filters", "B adds", "B removes"]


def test_what_if_ends_where_a_plugin_cannot_follow() -> None:
    calls: list[str] = []
    broken = framework(PreFilters("Broken", calls=calls), PreFilters("B", calls=calls))
    added = broken.run_pre_filter_extension_add_pod(CycleState(), POD, POD, NODES[0])
    removed = broken.run_pre_filter_extension_remove_pod(CycleState(), POD, POD, NODES[0])
    assert [status.message for status in (added, removed) if status] == [
        'running AddPod on PreFilter plugin "Broken": broken',
        'running RemovePod on PreFilter plugin "Broken": broken',
    ]
    assert calls == ["Broken adds", "Broken removes"]


class Filters(Plain, FilterPlugin):
    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        return self.say()


@pytest.mark.parametrize(
    ("answers", "expected", "asked"),
    [
        ([None, None], None, "AB"),
        ([NO, None], unschedulable("A", "no"), "A"),
        ([None, NEVER], unresolvable("B", "never"), "AB"),
        ([NO, BROKEN], unschedulable("A", "no"), "A"),
    ],
)
def test_the_first_filter_that_says_no_is_enough(answers: list[Any], expected: Status | None, asked: str) -> None:
    calls: list[str] = []
    plugins = [Filters(name, answer, calls) for name, answer in zip("AB", answers, strict=True)]
    assert framework(*plugins).run_filter_plugins(CycleState(), POD, NODES[0]) == expected
    assert "".join(calls) == asked


def test_a_filter_that_breaks_or_answers_nonsense_is_named() -> None:
    for answer, message in ((BROKEN, "broken"), (Status(Code.WAIT, ("later",)), "later")):
        status = framework(Filters("A", answer)).run_filter_plugins(CycleState(), POD, NODES[0])
        assert status is not None
        assert (status.code, status.message) == (Code.ERROR, f'running "A" filter plugin: {message}')


class PostFilters(Plain, PostFilterPlugin):
    async def post_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister, node_to_status: NodeToStatus
    ) -> PostFilterAnswer:
        return self.say()


ON_A, CLEAR = PostFilterResult("a"), PostFilterResult()


@pytest.mark.parametrize(
    ("answers", "result", "code", "message", "asked"),
    [
        ([(ON_A, None), (None, NO)], ON_A, None, "", "A"),
        ([(None, NO), (ON_A, None)], ON_A, None, "", "AB"),
        ([(None, NO), (CLEAR, NO)], CLEAR, Code.UNSCHEDULABLE, "no, no", "AB"),
        ([(CLEAR, NO), (None, NO)], CLEAR, Code.UNSCHEDULABLE, "no, no", "AB"),
        ([(None, NEVER), (ON_A, None)], None, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never", "A"),
        ([(None, BROKEN), (ON_A, None)], None, Code.ERROR, "broken", "A"),
        ([(CLEAR, NO), (None, BROKEN)], None, Code.ERROR, "broken", "AB"),
    ],
)
def test_post_filters_are_asked_until_one_helps_or_knows_that_nothing_can(
    answers: list[Any], result: PostFilterResult | None, code: Code | None, message: str, asked: str
) -> None:
    calls: list[str] = []
    plugins = [PostFilters(name, answer, calls) for name, answer in zip("AB", answers, strict=True)]
    work = framework(*plugins).run_post_filter_plugins(CycleState(), POD, snapshot_of([]), {})
    own, status = run_virtual(work)
    assert own == result
    assert (status.code if status else None, status.message if status else "") == (code, message)
    assert "".join(calls) == asked


# -- how good would it be? ---------------------------------------------------------------------------------------------


class Scores(Plain, PreScorePlugin, ScorePlugin):
    """`answer`: what PreScore says, and the score of each node."""

    def pre_score(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo], snapshot: SharedLister
    ) -> Status | None:
        return self.say()[0]

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        return int(self.answer[1][node.name])


class Halves(Scores, ScoreExtensions):
    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        return [score // 2 for score in scores]


def scored(*plugins: Plain, **points: Any) -> dict[str, list[int]]:
    state, ours = CycleState(), framework(*plugins, **points)
    assert ours.run_pre_score_plugins(state, POD, NODES, snapshot_of([])) is None
    return at_once(ours.run_score_plugins(state, POD, NODES))


def test_scores_are_normalized_and_weighed_and_who_skipped_has_none() -> None:
    table = {"a": 10, "b": 100}
    plugins = Scores("Plain", (None, table)), Halves("Halves", (None, table)), Scores("Skips", (SKIP, table))
    weights = (("Plain", 2), ("Halves", 3), ("Skips", 9))
    assert scored(*plugins, score=weights) == {"Plain": [20, 200], "Halves": [15, 150]}
    assert scored(plugins[0])["Plain"] == [10, 100]  # no weight means 1


def test_a_pre_score_that_breaks_or_refuses_is_an_error() -> None:
    for answer in (BROKEN, Status(Code.UNSCHEDULABLE, ("broken",))):
        ours = framework(Scores("A", (answer, {})))
        status = ours.run_pre_score_plugins(CycleState(), POD, NODES, snapshot_of([]))
        assert status is not None
        assert (status.code, status.message) == (Code.ERROR, 'running PreScore plugin "A": broken')


@pytest.mark.parametrize("score", [-1, 101])
def test_a_score_off_the_scale_is_an_error(score: int) -> None:
    with pytest.raises(PluginError) as error:
        scored(Scores("A", (None, {"a": 5, "b": score})))
    assert str(error.value) == (
        f'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score {score}, '
        "it should in the range of [0, 100] after normalizing"
    )
    assert scored(Halves("B", (None, {"a": 5, "b": 200}))) == {"B": [2, 100]}


# -- from the decision to the binding ----------------------------------------------------------------------------------


class Reserves(Plain, ReservePlugin):
    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return self.say("+")

    def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        self.say("-")


def test_what_is_reserved_is_given_back_in_reverse_order_by_everybody() -> None:
    calls: list[str] = []
    ours = framework(*(Reserves(name, answer, calls) for name, answer in (("A", None), ("B", NO), ("C", None))))
    assert ours.run_reserve_plugins_reserve(CycleState(), POD.pod, "a") == unschedulable("B", "no")
    ours.run_reserve_plugins_unreserve(CycleState(), POD.pod, "a")
    assert calls == ["A+", "B+", "C-", "B-", "A-"]


def test_a_reserve_that_breaks_is_named() -> None:
    status = framework(Reserves("A", BROKEN)).run_reserve_plugins_reserve(CycleState(), POD.pod, "a")
    assert status is not None
    assert (status.code, status.message) == (Code.ERROR, 'running Reserve plugin "A": broken')


class Permits(Plain, PermitPlugin):
    def permit(self, state: CycleState, pod: Object, node_name: str) -> tuple[Status | None, float]:
        answer: tuple[Status | None, float] = self.say()
        return answer


def wait(seconds: float) -> tuple[Status, float]:
    return Status(Code.WAIT), seconds


@pytest.mark.parametrize(
    ("answers", "code", "message", "asked"),
    [
        ([(None, 0), (None, 0)], None, "", "AB"),
        ([(NO, 0), (None, 0)], Code.UNSCHEDULABLE, "no", "A"),
        ([wait(1), (NEVER, 0)], Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never", "AB"),
        ([(BROKEN, 0), wait(1)], Code.ERROR, 'running Permit plugin "A": broken', "A"),
        ([wait(1), (None, 0)], Code.WAIT, 'one or more plugins asked to wait and no plugin rejected pod "p"', "AB"),
    ],
)
def test_permit_lets_go_refuses_or_makes_wait(answers: list[Any], code: Code | None, message: str, asked: str) -> None:
    calls: list[str] = []

    async def main() -> None:
        ours = framework(*(Permits(name, answer, calls) for name, answer in zip("AB", answers, strict=True)))
        status = ours.run_permit_plugins(CycleState(), POD.pod, "a")
        assert (status.code if status else None, status.message if status else "") == (code, message)
        assert "".join(calls) == asked
        assert ours.will_wait_on_permit(POD.pod) is (code is Code.WAIT)

    run_virtual(main())


def waiting_pod(*answers: Any) -> Framework:
    ours = framework(*(Permits(name, answer) for name, answer in zip("ABC", answers, strict=False)))
    ours.run_permit_plugins(CycleState(), POD.pod, "a")
    return ours


def test_a_waiting_pod_goes_on_when_everybody_has_said_yes() -> None:
    async def main() -> None:
        ours = waiting_pod(wait(10), wait(20), (None, 0))
        waiting = ours.get_waiting_pod("p")
        assert waiting is not None
        assert waiting.pending_plugins == ["A", "B"]
        waits = asyncio.create_task(ours.wait_on_permit(POD.pod))
        waiting.allow("B")
        waiting.allow("nobody")
        await asyncio.sleep(5)
        assert not waits.done()
        assert [w.pending_plugins for w in ours.iterate_over_waiting_pods()] == [["A"]]
        waiting.allow("A")
        assert await waits is None
        assert ours.get_waiting_pod("p") is None
        await asyncio.sleep(60)  # no timer is left to say no

    run_virtual(main())


@pytest.mark.parametrize(
    ("answers", "seconds", "message"),
    [
        ([wait(10), wait(20)], 10, "rejected due to timeout after waiting 10s at plugin A"),
        ([wait(90), wait(2.5)], 2.5, "rejected due to timeout after waiting 2.5s at plugin B"),
        ([wait(3600)], 900, "rejected due to timeout after waiting 15m0s at plugin A"),  # nobody may wait longer
    ],
)
def test_who_waits_too_long_is_refused(answers: list[Any], seconds: float, message: str) -> None:
    async def main() -> None:
        ours, loop = waiting_pod(*answers), asyncio.get_running_loop()
        begin = loop.time()
        status = await ours.wait_on_permit(POD.pod)
        assert status is not None
        assert (status.code, status.message, status.plugin) == (Code.UNSCHEDULABLE, message, message[-1])
        assert loop.time() - begin == pytest.approx(seconds)

    run_virtual(main())


def test_a_waiting_pod_can_be_refused_removed_or_pushed_out_once() -> None:
    async def main() -> None:
        ours = waiting_pod(wait(10))
        waiting = ours.get_waiting_pod("p")
        assert waiting is not None
        assert waiting.reject("A", "too crowded")
        assert not waiting.reject("A", "again")
        assert await ours.wait_on_permit(POD.pod) == unschedulable("A", "too crowded")
        ours = waiting_pod(wait(10))
        assert ours.reject_waiting_pod("p")
        assert await ours.wait_on_permit(POD.pod) == unschedulable("", "removed")
        assert not ours.reject_waiting_pod("p")
        ours = waiting_pod(wait(10))
        waiting = ours.get_waiting_pod("p")
        assert waiting is not None
        assert waiting.preempt("DefaultPreemption", "preempted")
        status = await ours.wait_on_permit(POD.pod)
        assert status is not None
        assert (status.code, status.message) == (Code.ERROR, "waiting on permit for pod: preempted")

    run_virtual(main())


def test_who_does_not_wait_is_not_kept() -> None:
    assert run_virtual(framework().wait_on_permit(POD.pod)) is None


class PreBinds(Plain, PreBindPlugin):
    """`answer`: what the pre-flight says, and what PreBind says."""

    def pre_bind_pre_flight(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return self.answer[0]

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return self.say()[1]


@pytest.mark.parametrize(
    ("answers", "code", "message"),
    [
        ([], Code.SKIP, ""),
        ([SKIP, SKIP], Code.SKIP, ""),
        ([SKIP, None], None, ""),
        ([None, BROKEN], Code.ERROR, 'running PreBindPreFlight "B": broken'),
        (
            [NO],
            Code.ERROR,
            'PreBindPreFlight A returned "Unschedulable", which is unsupported. '
            "It is supposed to return Success, Skip, or Error status",
        ),
    ],
)
def test_the_pre_flight_tells_whether_there_is_anything_to_do(
    answers: list[Any], code: Code | None, message: str
) -> None:
    ours = framework(*(PreBinds(name, (answer, None)) for name, answer in zip("AB", answers, strict=False)))
    status = ours.run_pre_bind_pre_flights(CycleState(), POD.pod, "a")
    assert (status.code if status else None, status.message if status else "") == (code, message)


@pytest.mark.parametrize(
    ("answers", "code", "message", "asked"),
    [
        ([(None, None), (None, None)], None, "", "AB"),
        ([(SKIP, BROKEN), (None, None)], None, "", "B"),
        ([(None, NO), (None, None)], Code.UNSCHEDULABLE, "no", "A"),
        ([(None, BROKEN), (None, None)], Code.ERROR, 'running PreBind plugin "A": broken', "A"),
    ],
)
def test_pre_binds_run_in_turn_until_one_fails(answers: list[Any], code: Code | None, message: str, asked: str) -> None:
    calls: list[str] = []
    ours, state = framework(*(PreBinds(n, a, calls) for n, a in zip("AB", answers, strict=True))), CycleState()
    ours.run_pre_bind_pre_flights(state, POD.pod, "a")
    status = run_virtual(ours.run_pre_bind_plugins(state, POD.pod, "a"))
    assert (status.code if status else None, status.message if status else "") == (code, message)
    assert "".join(calls) == asked


@pytest.mark.parametrize(
    ("answers", "code", "message", "asked"),
    [
        ([None, BROKEN], None, "", "A"),
        ([SKIP, None], None, "", "AB"),
        ([SKIP, SKIP], Code.SKIP, "", "AB"),
        ([SKIP, NO], Code.UNSCHEDULABLE, "no", "AB"),
        ([BROKEN, None], Code.ERROR, 'running Bind plugin "A": broken', "A"),
    ],
)
def test_the_first_that_does_not_skip_binds(answers: list[Any], code: Code | None, message: str, asked: str) -> None:
    calls: list[str] = []
    ours = framework(binders=[Binds(name, answer, calls) for name, answer in zip("AB", answers, strict=True)])
    status = run_virtual(ours.run_bind_plugins(CycleState(), POD.pod, "a"))
    assert (status.code if status else None, status.message if status else "") == (code, message)
    assert "".join(calls) == asked


class PostBinds(Plain, PostBindPlugin):
    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        self.say()


def test_everybody_is_told_of_a_binding() -> None:
    calls: list[str] = []
    framework(PostBinds("A", calls=calls), PostBinds("B", calls=calls)).run_post_bind_plugins(
        CycleState(), POD.pod, "a"
    )
    assert calls == ["A", "B"]


# -- what a profile must have, and what plugins remember ---------------------------------------------------------------


class YoungestFirst(Plain, QueueSortPlugin):
    def less(self, pod_info1: QueuedPodInfo, pod_info2: QueuedPodInfo) -> bool:
        return pod_info1.timestamp > pod_info2.timestamp


WHERE = 'profile with scheduler name "default-scheduler"'


def test_a_profile_has_one_queue_sort_and_a_binder() -> None:
    with pytest.raises(ConfigurationError) as error:
        framework(YoungestFirst("YoungestFirst"))
    assert str(error.value) == f"only one queue sort plugin required for {WHERE}, but got 2"
    with pytest.raises(ConfigurationError) as error:
        framework(queueSort=())
    assert str(error.value) == f"only one queue sort plugin required for {WHERE}, but got 0"
    with pytest.raises(ConfigurationError) as error:
        framework(binders=())
    assert str(error.value) == f"at least one bind plugin is needed for {WHERE}"


def test_a_plugin_stands_only_where_it_can() -> None:
    filters = Filters("A")
    with pytest.raises(ConfigurationError) as error:
        Framework(
            {p.name: (lambda args, handle, p=p: p) for p in (filters, PrioritySort(), Binds("B"))},
            Profile(multi_point=(("PrioritySort", 0), ("B", 0)), points={"score": (("A", 1),)}),
        )
    assert str(error.value) == 'plugin "A" does not extend ScorePlugin plugin'
    with pytest.raises(ConfigurationError) as error:
        framework(reserve=(("Astrology", 0),))
    assert str(error.value) == 'ReservePlugin "Astrology" does not exist'


def test_notes_are_cloned_for_a_what_if_and_missed_by_name() -> None:
    class Counts:
        number = 0

        def clone(self) -> Counts:
            copy = Counts()
            copy.number = self.number
            return copy

    state, shared = CycleState(), object()
    state.write("counts", Counts())
    state.write("shared", shared)
    what_if = state.clone()
    what_if.read("counts").number = 7
    what_if.delete("shared")
    assert state.read("counts").number == 0
    assert state.read("shared") is shared
    with pytest.raises(NotFoundError, match=r"not found$"):
        what_if.read("shared")
