"""The embedded cluster, started like the recorded one and taken along the same way."""

import asyncio

import pytest

from lifecycle.cluster.agree import agreement_with
from lifecycle.inspector import InspectorError, open_recording


@pytest.fixture(scope="module")
def table():
    return agreement_with()


def test_the_journey_agrees_but_for_what_is_explained(table):
    assert table.unexplained == []
    assert table.fields_equal / table.total > 0.999
    assert {known.id for known in table.known} <= {"steps-of-a-rollout", "last-change-trigger-time"}


def test_every_status_code_is_the_clusters(table):
    assert [d for row in table.rows for d in row.comparison.differences if d.path == "/status"] == []


def test_watches_are_compared_as_well(table):
    watched = {row.input.partition(" ")[0] for row in table.rows if row.stage == "journey: watch"}
    assert watched == {"Deployment", "Endpoints", "EndpointSlice", "Pod", "ReplicaSet", "Service"}


def test_without_the_time_containers_take_a_rollout_needs_fewer_steps_and_that_is_explained():
    instant = agreement_with(latency=0.0)
    assert instant.unexplained == []
    assert any(known.id == "steps-of-a-rollout" for known in instant.known)


def test_the_second_recording_of_the_same_system_agrees_as_well():
    assert agreement_with(open_recording("kind-1.36.2-again")).fields_equal > 27_000


def test_it_works_where_a_loop_runs_already():
    async def notebook():
        return agreement_with(scenario="discovery")

    assert asyncio.run(notebook()).equal


def test_a_scenario_that_was_not_recorded_is_refused():
    with pytest.raises(InspectorError, match="has no scenario"):
        agreement_with(scenario="nope")
