"""Some seeds, and what chaos has found: each as the small scenario that it was shrunk to."""

from __future__ import annotations

import pytest

from tests.chaos import history
from tests.chaos.play import judge
from tests.chaos.scenario import CONTROLLERS, EVERYBODY, KUBELETS, SCHEDULER, Action, Fault, Scenario

SEEDS = range(1, 9)
PLAIN = (("grace", 1), ("init", False), ("probe", False))


def job(at: float = 0.0) -> Action:
    """Four pods, two at a time."""
    return Action(at, "job", "work", (("completions", 4), ("indexed", False), ("parallelism", 2)))


def deployment(replicas: int = 3, strategy: str = "1/0") -> Action:
    """Of nginx."""
    return Action(0.0, "deployment", "web", (*PLAIN, ("min_ready", 0), ("replicas", replicas), ("strategy", strategy)))


def delete(name: str, at: float) -> Action:
    """In the background."""
    return Action(at, "delete", name, (("propagation", "Background"),))


FOUND: dict[str, tuple[list[Action], list[Fault]]] = {
    "a kubelet that could not be heard for a minute says again that its pods are ready": (
        [deployment()],
        [Fault(10.0, "refuse", EVERYBODY, 60.0, 1.0, 500)],
    ),
    "a kubelet says since when a pod was not ready, earlier than others had noticed": (
        [deployment(4, "2/1"), Action(30.5, "roll_out", "web", (("template", 1),))],
        [Fault(30.2, "refuse", KUBELETS[2], 60.0, 1.0, 429)],
    ),
    "a kubelet whose node is there already asks again for what it could not read": (
        [deployment()],
        [Fault(5.0, "kill", KUBELETS[0], 1.0), Fault(5.5, "unavailable", "store", 10.0, 0.5)],
    ),
    "the pods of a Job that is gone are let go, whatever the first answer was": (
        [job(), delete("work", 2.0)],
        [Fault(1.9, "refuse", CONTROLLERS, 3.0, 1.0, 503)],
    ),
    "a pod that cannot be placed is tried again, though its status was not written": (
        [
            *(Action(0.0, "cordon", node) for node in ("lifecycle-worker", "lifecycle-worker2", "lifecycle-worker3")),
            deployment(),
        ],
        [Fault(0.0, "lose", SCHEDULER, 20.0, 1.0)],
    ),
    "a node from which a taint is taken runs what is placed there at once": (
        [
            Action(0.0, "taint", "lifecycle-worker", (("effect", "NoExecute"),)),
            *(Action(0.0, "cordon", node) for node in ("lifecycle-worker2", "lifecycle-worker3")),
            deployment(),
            Action(30.0, "scale", "web", (("replicas", 4),)),
        ],
        [Fault(1.0, "repeat", CONTROLLERS, 1.0, 0.2)],
    ),
    "what users call by a name is what they made last under it, and it comes when the older one is gone": (
        [
            deployment(),
            Action(10.0, "delete", "web", (("propagation", "Foreground"),)),
            Action(10.5, "stateful_set", "web", (*PLAIN, ("parallel", True), ("replicas", 1))),
            delete("web", 11.0),
            Action(11.5, "deployment", "web", deployment(2).arguments),
        ],
        [Fault(9.9, "kill", CONTROLLERS, 20.0)],
    ),
    "a scheduler that dies takes its watches with it": ([deployment()], [Fault(1.0, "kill", SCHEDULER, 1.0)] * 3),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_end_is_the_same_whatever_goes_wrong(seed: int) -> None:
    scenario = Scenario.draw(seed)
    assert judge(scenario) == [], scenario.command()


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    actions, faults = FOUND[name]
    scenario = Scenario(
        1,
        tuple((f"a{number}", action) for number, action in enumerate(actions)),
        tuple((f"f{number}", fault) for number, fault in enumerate(faults)),
    )
    assert judge(scenario) == []


def test_what_runs_away_is_stopped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "TOO_MUCH", 100)
    scenario = Scenario(1, (("a0", deployment(6)),), ())
    assert any("it runs away: " in problem for problem in judge(scenario))
