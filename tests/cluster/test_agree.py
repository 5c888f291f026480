"""The embedded cluster, started like the recorded one and taken along the same way."""

import asyncio
import re
from dataclasses import replace

import pytest

from lifecycle.cluster.agree import agreement_with
from lifecycle.compare import compare_exchanges
from lifecycle.controllers.deployment import deployment_util, rolling, sync
from lifecycle.controllers.replicaset import manage_replicas
from lifecycle.inspector import InspectorError, open_recording
from lifecycle.scheduler import schedule_pod


@pytest.fixture(scope="module")
def table():
    return agreement_with()


def test_the_journey_agrees_but_for_what_is_explained(table):
    assert table.unexplained == []
    assert table.equal
    assert table.fields_equal == table.total > 28_000


def test_every_status_code_is_the_clusters(table):
    asked = [row for row in table.rows if row.stage not in ("journey: watch", "journey: audit log")]
    assert len(asked) == 50
    assert [d for row in asked for d in row.comparison.differences if d.path == "/code"] == []


def test_a_wrong_status_code_would_be_seen():
    """What the test above looks for is what a wrong code looks like."""
    recording = open_recording()
    exchanges = recording.exchanges("journey")
    wrong = [replace(exchanges[0], status=500), *exchanges[1:]]
    found = compare_exchanges("journey", wrong, exchanges, "a", "b")
    assert [d.path for row in found.rows for d in row.comparison.differences] == ["/code"]


def test_watches_are_compared_as_well(table):
    watched = {row.input for row in table.rows if row.stage == "journey: watch"}
    kinds = ("Deployment", "Endpoints", "EndpointSlice", "Pod", "ReplicaSet", "Service")
    assert watched == {"steps of rollouts", *(f"{kind} events" for kind in kinds)}


def test_without_the_time_containers_take_the_states_in_between_and_steps_are_missing():
    """And nothing else: what is at rest differs in how many steps a rollout took, and whether the last of them had a time."""
    instant = agreement_with(latency=0.0)
    watched = [d.path for question, d in instant.unexplained if question.startswith("journey: watch")]
    at_rest = [d.path for question, d in instant.unexplained if not question.startswith("journey: watch")]
    assert any("/state/waiting/reason" in path for path in watched)
    assert [
        path
        for path in at_rest
        if not re.search(r"/(generation|observedGeneration|annotations|f:annotations)$| ScalingReplicaSet ", path)
    ] == []


def test_the_second_recording_of_the_same_system_agrees_as_well():
    second = agreement_with(open_recording("kind-1.36.2-again"))
    assert second.unexplained == []
    assert second.equal
    assert second.fields_equal == second.total > 28_000


async def all_at_once(count, initial_batch_size, create):
    await asyncio.gather(*(create() for _ in range(count)))
    return count, None


SABOTAGE = {
    "slow start is ignored: all at once": (manage_replicas, "slow_start_batch", all_at_once, "batch before"),
    "every score is ignored": (
        schedule_pod.Algorithm,
        "_select_host",
        lambda self, names, totals: names[0],
        "nodeName",
    ),
    "the lowest sum wins": (schedule_pod, "best_total", min, "nodeName"),
    "maxSurge is ignored: all at once": (deployment_util, "max_surge", lambda deployment: 5, "wanted"),
    "maxSurge is ignored: none": (deployment_util, "max_surge", lambda deployment: 0, "wanted"),
    "maxUnavailable is ignored": (deployment_util, "max_unavailable", lambda deployment: 4, "wanted at least"),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_the_journey_turns_red_over_a_stage_that_was_broken(name, monkeypatch):
    owner, attribute, broken, seen = SABOTAGE[name]
    monkeypatch.setattr(owner, attribute, broken)
    for module in (rolling, sync):  # they have it by name
        if hasattr(module, attribute):
            monkeypatch.setattr(module, attribute, broken)
    found = [str(difference) for _, difference in agreement_with().unexplained]
    assert any(seen in each for each in found), found[:3]


def test_it_works_where_a_loop_runs_already():
    async def notebook():
        return agreement_with(scenario="discovery")

    assert asyncio.run(notebook()).equal


def test_a_scenario_that_was_not_recorded_is_refused():
    with pytest.raises(InspectorError, match="has no scenario"):
        agreement_with(scenario="nope")
