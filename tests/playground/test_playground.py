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


def test_an_object_is_described_with_ages_of_the_pages_own_time(page: Make) -> None:
    play = page()
    play.enter("kubectl run web --image=nginx", wait=45)
    told = play.enter("kubectl describe pod web")
    assert "Status:           Running" in told
    assert "  Normal  Scheduled  45s   default-scheduler  Successfully assigned default/web to " in told
    assert 'pods "nope" not found' in play.enter("kubectl describe pod nope")


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


MANIFEST = """apiVersion: v1
kind: ConfigMap
metadata: {name: typed}
data:
  text: |
    two "lines",
    # and no comment
"""


def test_a_manifest_is_typed_together_with_its_command_and_fits_into_the_address(page: Make, tmp_path: Path) -> None:
    play = page()
    assert play.enter(f"kubectl apply -f - <<'EOF'\n{MANIFEST}EOF") == "configmap/typed created\n"
    said = play.enter("kubectl get configmap typed -o jsonpath={.data.text}")
    assert said == 'two "lines",\n# and no comment\n'
    scenario = parse_scenario(play.playground.address(speed=1))
    assert scenario.steps[0].line == f"kubectl apply -f - <<'EOF'\n{MANIFEST}EOF"


def test_a_file_is_written_and_read(page: Make, tmp_path: Path) -> None:
    play = page()
    assert play.enter(f"cat > mine.yaml <<EOF\n{MANIFEST}EOF") == ""
    assert "mine.yaml" in play.enter("ls").splitlines()
    assert play.enter("cat mine.yaml") == MANIFEST
    assert play.enter("kubectl apply -f mine.yaml") == "configmap/typed created\n"
    assert play.enter("cat > ../outside.yaml <<EOF\nEOF") == ""
    assert not (tmp_path.parent / "outside.yaml").exists(), "a name leads nowhere else"


def test_a_command_that_nobody_tells_anything_reads_nothing(page: Make) -> None:
    assert page().enter("kubectl apply -f -") == "error: no objects passed to apply\n"


def test_what_is_too_long_is_refused_and_an_address_says_so(page: Make) -> None:
    play = page()
    assert play.enter("cat <<EOF\n" + "x" * 16_000 + "\nEOF") == "sh: more than 16,000 characters in one command\n"
    assert play.playground.address(speed=1) == "nodes=3&seed=1&speed=1"
    for _ in range(4):
        play.enter("cat <<EOF\n" + "x" * 15_000 + "\nEOF")
    assert play.playground.address(speed=1) == ""


TALKS = "kubectl run talks --image=busybox -- sh -c 'while true; do echo tick; sleep 5; done'"


def test_a_log_is_followed_until_it_is_interrupted(page: Make) -> None:
    play = page()
    play.enter(TALKS, 20)
    assert set(play.enter("kubectl logs talks").split()) == {"tick"}
    before = play.enter("kubectl logs -f talks --tail=1")
    assert before == "tick\n"
    play.playground.advance(21)
    assert [said["text"] for said in play.hear()["said"]] == ["tick\n" * 4]
    play.playground.interrupt()
    last = play.hear()
    assert (last["running"], [said["text"] for said in last["said"] if said["kind"] == "err"]) == (0, ["^C\n"])
    play.playground.advance(20)
    assert play.hear()["said"] == []


def test_a_command_is_run_in_a_container_without_a_socket(page: Make) -> None:
    play = page()
    play.enter(TALKS, 20)
    assert play.enter("kubectl exec talks -- echo hello") == "hello\n"
    failed = play.enter("kubectl exec talks -- sh -c 'echo out; echo err >&2; exit 3'")
    assert set(failed.splitlines()) == {"out", "err", "command terminated with exit code 3"}
    assert play.enter("kubectl exec -i talks -- wc -l <<'EOF'\none\ntwo\nEOF").strip() == "2"
    assert "Unable to use a TTY" in play.enter("kubectl exec -it talks -- echo hello")
    assert play.enter("kubectl exec nope -- date") == 'Error from server (NotFound): pods "nope" not found\n'


def test_a_command_in_a_container_goes_on_until_it_is_interrupted(page: Make) -> None:
    play = page()
    play.enter(TALKS, 20)
    play.enter("kubectl exec talks -- sh -c 'echo begins; sleep 9999'", 5)
    assert play.hear()["running"] == 1
    play.playground.interrupt()
    last = play.hear()
    assert (last["running"], [said["text"] for said in last["said"] if said["kind"] == "err"]) == (0, ["^C\n"])


@pytest.mark.parametrize("kind", ["node", "link"])
def test_a_command_in_a_container_is_lost_with_the_line_to_its_node(page: Make, kind: str) -> None:
    play = page(nodes=2)
    play.enter(TALKS, 20)
    play.enter("kubectl exec talks -- sh -c 'echo begins; sleep 9999'", 5)
    said = play.enter(f"break {kind} lifecycle-worker", 1)
    assert "error: " in said
    assert play.hear()["running"] == 0
    assert "no route to host" in play.enter("kubectl exec talks -- date")


@pytest.mark.parametrize("kind", ["node", "link"])
def test_a_log_ends_when_nobody_reaches_its_node_and_comes_back_with_the_line(page: Make, kind: str) -> None:
    play = page(nodes=2)
    play.enter(TALKS, 20)
    play.enter("kubectl logs -f talks --tail=0")
    said = play.enter(f"break {kind} lifecycle-worker", 1)
    assert "error: unexpected EOF\n" in said
    assert play.hear()["running"] == 0
    assert "no route to host" in play.enter("kubectl logs talks")
    play.enter(f"mend {kind} lifecycle-worker")
    if kind == "link":
        assert "tick" in play.enter("kubectl logs talks")


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
    assert play.enter("mend node lifecycle-worker", 30) == "node lifecycle-worker is whole again\n"
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


def test_without_etcd_nothing_is_answered_pods_run_on_and_nothing_is_lost(page: Make) -> None:
    play = page()
    play.enter(CREATE, 5)
    before = play.pods()
    assert list(before.values()) == ["Running 1/1"] * 3
    play.enter("break component etcd", 20)
    assert "connect: connection refused" in play.enter("kubectl scale deployment/nginx --replicas=5", 30)
    assert "connect: connection refused" in play.enter("kubectl create namespace lost", 30)
    assert play.pods() == before, "what runs does not need it"
    play.enter("mend component etcd", 60)
    assert play.pods() == before
    assert {node["status"] for node in play.picture["nodes"]} == {"Ready"}
    assert '"lost" not found' in play.enter("kubectl get namespace lost")
    play.enter("kubectl scale deployment/nginx --replicas=5", 60)
    assert list(play.pods().values()) == ["Running 1/1"] * 5


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
