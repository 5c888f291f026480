"""A container that cannot be made, and one that cannot be started: what is told, and which of its old runs are kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.one_node import NotingRuntime, OneNode, on_one_node
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError

NO_SECRET = {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k"}}}]}
FAILURES: dict[str, tuple[Object, str, str, str, list[str]]] = {
    # what is odd about the container, what fails of the runtime; reason and message in the status, events
    "its environment": (NO_SECRET, "", "CreateContainerConfigError", 'secret "none" not found', []),
    "to be made": ({}, "create_container", "CreateContainerError", "no room", []),
    "to be started": ({}, "start_container", "RunContainerError", "no room", ["Created"]),
}


@pytest.mark.parametrize("what", FAILURES)
def test_what_went_wrong_is_in_its_status_and_in_an_event(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what went well before has its event; what would have come after has none. Upstream: `startContainer`."""
    odd, failing, reason, message, before = FAILURES[what]
    if failing:

        async def refuse(*_: Any) -> None:
            raise RuntimeServiceError("no room")

        monkeypatch.setattr(NotingRuntime, failing, refuse)

    async def scene(node: OneNode) -> tuple[Object, dict[str, list[str]]]:
        pod = await node.run_pod("p", container=odd)
        told = {reason: await node.events(reason) for reason in ("Created", "Started", "Failed")}
        return pod["status"]["containerStatuses"][0]["state"], told

    state, told = on_one_node(scene)
    assert state == {"waiting": {"reason": reason, "message": message}}
    assert set(told["Failed"]) == {f"Error: {message}"}
    assert (bool(told["Created"]), told["Started"]) == (bool(before), [])


def test_the_last_run_is_kept_and_those_before_it_are_removed_when_the_next_is_made() -> None:
    async def scene(node: OneNode) -> list[list[tuple[int, ContainerState]]]:
        kept = []
        await node.run_pod("p", container={"command": ["sh", "-c", "exit 1"], "image": "busybox"}, seconds=2)
        for _ in range(6):
            runs = [(run.metadata.attempt, run.state) for run in await node.runtime.list_containers()]
            kept.append(sorted(runs))
            await asyncio.sleep(20)
        return kept

    seen = [[attempt for attempt, _ in runs] for runs in on_one_node(scene)]
    assert all(runs in ([runs[-1] - 1, runs[-1]], [runs[-1]]) for runs in seen), seen
    assert any(len(runs) == 2 and runs[-1] > 1 for runs in seen), seen  # until the dead are collected, once a minute


def test_of_each_volume_that_cannot_be_set_up_there_is_an_event() -> None:
    """Upstream: `MountVolume.SetUp`, one operation for each volume."""

    async def scene(node: OneNode) -> set[str]:
        names = ("a", "b", "c")
        volumes = [{"name": name, "secret": {"secretName": f"none-{name}"}} for name in names]
        pod = await node.run_pod("p", volumes=[{"name": "there", "emptyDir": {}}, *volumes])
        assert pod["status"]["phase"] == "Pending"
        return set(await node.events("FailedMount"))

    assert on_one_node(scene) == {
        f'MountVolume.SetUp failed for volume "{name}" : secret "none-{name}" not found' for name in ("a", "b", "c")
    }
