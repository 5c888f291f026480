"""The playground as its page uses it: lines in, news out, time by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.playground.playground import Playground
from lifecycle.playground.scenario import Scenario, Step, parse_scenario
from tests.conftest import ROOT

CREATE = "kubectl create deployment nginx --image=nginx --replicas=3"

Make = Callable[..., "Page"]


class Page:
    """A playground, and all that its page has heard."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.playground = Playground(scenario, folder)
        self.heard: list[dict[str, Any]] = []
        self.picture: dict[str, Any] = {}
        self.hear()

    def hear(self) -> dict[str, Any]:
        news: dict[str, Any] = json.loads(self.playground.news())
        self.heard.append(news)
        self.picture = news.get("picture", self.picture)
        return news

    def enter(self, line: str, wait: float = 0.0) -> str:
        """Everything that is printed after a line; its own echo is left out."""
        self.hear()
        self.playground.enter(line)
        self.playground.advance(wait)
        return "".join(said["text"] for said in self.hear()["said"] if said["kind"] in ("out", "err"))

    def events(self) -> list[str]:
        self.hear()
        return [event["reason"] for news in self.heard for event in news["events"]]

    def pods(self) -> dict[str, str]:
        """The summary of each pod."""
        self.hear()
        return {each["name"]: each["summary"] for each in self.picture["objects"] if each["kind"] == "Pod"}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    monkeypatch.chdir(tmp_path)
    made: list[Page] = []

    def make(*steps: Step, **options: Any) -> Page:
        made.append(Page(Scenario(steps=steps, **options), tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.playground.close()


def test_a_deployment_becomes_three_running_pods_as_time_passes(page: Make) -> None:
    play = page()
    assert play.enter(CREATE) == "deployment.apps/nginx created\n"
    assert set(play.pods().values()) == {"ContainerCreating 0/1"}, "nothing starts while time stands still"
    play.playground.advance(5)
    assert list(play.pods().values()) == ["Running 1/1"] * 3
    assert {"ScalingReplicaSet", "SuccessfulCreate", "Scheduled", "Pulled", "Started"} <= set(play.events())


def test_commands_are_answered_while_time_stands_still(page: Make) -> None:
    play = page()
    before = play.playground.now
    assert "lifecycle-worker2" in play.enter("kubectl get nodes")
    assert play.playground.now - before < 0.001


def test_what_nobody_manages_stands_at_the_top_and_all_else_below_its_owner(page: Make) -> None:
    play = page()
    play.enter(CREATE, 5)
    objects = {each["uid"]: each for each in play.picture["objects"]}
    pod = next(each for each in objects.values() if each["kind"] == "Pod")
    replica_set = objects[pod["owner"]]
    deployment = objects[replica_set["owner"]]
    assert [replica_set["kind"], deployment["kind"], deployment["owner"]] == ["ReplicaSet", "Deployment", ""]
    assert deployment["summary"] == "3/3 ready, 3 up to date"


def test_pods_have_bars_that_end_when_they_are_gone(page: Make) -> None:
    play = page()
    play.enter(CREATE, 5)
    play.enter("kubectl delete deployment nginx", 60)
    bars = play.picture["pods"]
    assert len(bars) == 3
    for bar in bars:
        looks = [state[2] for state in bar["states"]]
        assert looks[0] in ("waiting", "creating")
        assert looks[-2:] == ["ready", "ending"] or looks[-1] in ("ending", "ended")
        times = [state[0] for state in bar["states"]]
        assert times == sorted(times)
        assert bar["end"] >= times[-1]
    assert play.pods() == {}


def test_a_watch_goes_on_beside_other_commands_until_it_is_interrupted(page: Make) -> None:
    play = page()
    play.enter("kubectl get pods -w")
    assert play.heard[-1]["running"] == 1
    said = play.enter(CREATE, 5)
    assert said.count("Running") >= 3
    play.playground.interrupt()
    last = play.hear()
    assert last["running"] == 0
    assert [said["text"] for said in last["said"] if said["kind"] == "err"] == ["^C\n"]


def test_a_node_without_power_is_noticed_late_and_its_pods_move(page: Make) -> None:
    play = page()
    play.enter(CREATE, 5)
    assert play.enter("break node lifecycle-worker", 30) == "node lifecycle-worker is broken\n"
    status = {node["name"]: node["status"] for node in play.picture["nodes"]}
    assert status["lifecycle-worker"] == "Ready", "nobody knows yet"
    assert play.picture["broken"] == ["node lifecycle-worker"]
    play.playground.advance(40)
    play.hear()
    assert {node["name"]: node["status"] for node in play.picture["nodes"]}["lifecycle-worker"] == "NotReady"
    play.playground.advance(330)
    assert list(play.pods().values()).count("Running 1/1") == 3
    play.enter("mend node lifecycle-worker", 30)
    assert {node["status"] for node in play.picture["nodes"]} == {"Ready"}
    assert len(play.pods()) == 3, "the node ended what it had lost"
    assert play.picture["broken"] == []


@pytest.mark.parametrize("kind", ["component", "link"])
def test_without_the_scheduler_pods_wait_and_go_on_when_it_is_back(page: Make, kind: str) -> None:
    play = page()
    play.enter(f"break {kind} kube-scheduler")
    play.enter(CREATE, 20)
    assert set(play.pods().values()) == {"Pending 0/1"}
    play.enter(f"mend {kind} kube-scheduler", 60)
    assert list(play.pods().values()) == ["Running 1/1"] * 3


@pytest.mark.parametrize("kind", ["component", "link"])
def test_without_the_controllers_nothing_is_made_up_for_until_they_are_back(page: Make, kind: str) -> None:
    play = page()
    play.enter(CREATE, 5)
    play.enter(f"break {kind} kube-controller-manager")
    play.enter("kubectl delete pods --all --wait=false", 60)
    assert play.pods() == {}
    play.enter(f"mend {kind} kube-controller-manager", 60)
    assert list(play.pods().values()) == ["Running 1/1"] * 3


def test_a_kubelet_behind_a_cut_line_loses_its_node_and_gets_it_back(page: Make) -> None:
    play = page()
    play.enter(CREATE, 5)
    play.enter("break link lifecycle-worker", 100)
    assert {node["name"]: node["status"] for node in play.picture["nodes"]}["lifecycle-worker"] == "NotReady"
    play.enter("mend link lifecycle-worker", 60)
    assert {node["status"] for node in play.picture["nodes"]} == {"Ready"}
    assert list(play.pods().values()) == ["Running 1/1"] * 3, "its containers never stopped"


def test_what_cannot_break_is_said_in_a_line(page: Make) -> None:
    play = page()
    assert play.enter("break node worker9").startswith("break: there is no node 'worker9': lifecycle-control-plane")
    assert play.enter("break disk x") == "break: 'disk' cannot break; component, node, link can\n"
    assert play.enter("mend component kube-scheduler") == "mend: component kube-scheduler is not broken\n"
    assert play.enter("break").startswith("usage: break KIND NAME, one of\n")
    play.enter("break component kube-scheduler")
    assert play.enter("break component kube-scheduler") == "break: component kube-scheduler is broken already\n"


def test_a_terminal_says_what_it_does_not_know(page: Make) -> None:
    play = page()
    assert play.enter("vim x") == "sh: vim: not found (`help` says what there is)\n"
    assert play.enter("echo 'a") == "sh: No closing quotation\n"
    assert 'unknown command "frobnicate"' in play.enter("kubectl frobnicate")
    assert 'deployments.apps "nginx" not found' in play.enter("k get deployment nginx")
    assert "kubectl …" in play.enter("help")
    assert "web.yaml\n" in play.enter("ls")
    assert "kind: Deployment" in play.enter("cat web.yaml")
    assert play.enter("cat /etc/passwd") == "cat: /etc/passwd: No such file or directory\n"
    assert "    1  vim x\n" in play.enter("history")
    assert play.enter("   # nothing") == ""


def test_a_command_that_prints_too_much_is_stopped(page: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.playground.terminal.MOST", 300)
    said = page().enter("kubectl get --raw /openapi/v2")
    assert said.endswith("\nstopped after 300 characters of output\n")
    assert len(said) < 400


def test_the_next_change_is_found_however_far_away_it_is(page: Make) -> None:
    play = page()
    play.enter(CREATE, 10)
    play.enter("break node lifecycle-worker")
    seen = []
    for _ in range(40):
        play.playground.to_next_change()
        seen.append(play.playground.now)
        if "TaintManagerEviction" in play.events():
            break
    assert seen == sorted(seen)
    assert 300 < seen[-1] < 500, "minutes without news were skipped, and nothing else"


def test_a_scenario_is_typed_when_its_time_comes(page: Make) -> None:
    play = page(Step(1, CREATE), Step(4, "kubectl scale deployment/nginx --replicas=1"))
    play.playground.advance(0.5)
    assert play.hear()["left"] == 2
    play.playground.advance(1)
    assert len(play.pods()) == 3
    play.playground.to_next_change()
    play.playground.advance(60)
    assert play.hear()["left"] == 0
    assert list(play.pods().values()) == ["Running 1/1"]


def test_the_address_gives_the_same_cluster_to_the_last_letter(page: Make) -> None:
    play = page(seed=7)
    play.playground.advance(0.25)
    play.enter(CREATE, 3.1)
    play.playground.complete("kubectl get pods n")
    play.enter("break node lifecycle-worker", 1.7)
    play.enter("kubectl scale deployment/nginx --replicas=5", 11)
    again = Page(parse_scenario(play.playground.address(1)), Path.cwd())
    try:
        again.playground.advance(play.playground.now)
        again.hear()
        play.hear()
        assert again.pods() == play.pods()
        for ours, theirs in zip(again.picture["pods"], play.picture["pods"], strict=True):
            assert ours["uid"] == theirs["uid"]
            assert [s[1:] for s in ours["states"]] == [s[1:] for s in theirs["states"]]
    finally:
        again.playground.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ku", ["kubectl"]),
        ("kubectl rol", ["rollout"]),
        ("break li", ["link"]),
        ("break node lifecycle-w", ["lifecycle-worker", "lifecycle-worker2"]),
        ("kubectl get pods -n kube-s", ["kube-system"]),
        ("vim x", []),
    ],
)
def test_a_tab_completes_the_last_word(page: Make, line: str, words: list[str]) -> None:
    assert json.loads(page().playground.complete(line)) == words


def test_every_chapter_that_is_linked_is_there(page: Make) -> None:
    from lifecycle.playground import chapters
    from lifecycle.playground.lessons import LESSONS

    pages = [
        *chapters.KINDS.values(),
        *chapters.REASONS.values(),
        *chapters.REPORTERS.values(),
        chapters.chapter_of_event("Unheard", "nobody"),
        *(lesson.chapter for lesson in LESSONS),
    ]
    for name in pages:
        assert (ROOT / "book" / f"{name}.md").exists(), name


def test_nothing_is_left_when_it_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    playground = Playground(Scenario(), tmp_path)
    playground.enter("kubectl get pods -w")
    playground.enter("break node lifecycle-worker")
    playground.advance(10)
    playground.close()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
