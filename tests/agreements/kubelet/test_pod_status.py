"""The kubelet's statuses beside the recorded ones: everything agrees, and a changed rule shows."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.kubelet import pod_status
from lifecycle.agreements.kubelet.pod_status import add_played, pod_status_agreement, recorded
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.inspector import open_recording
from tests.conftest import RECORDINGS

PHASE = "the phase that each recorded status calls for"
CONDITIONS = "its conditions Initialized, ContainersReady, Ready"


def different(table: AgreementTable) -> set[str]:
    return {row.input for row in table.rows if not row.equal}


@pytest.mark.parametrize("cluster", ["kind-1.36.2", "kind-1.36.2-again"])
def test_phases_states_conditions_events_and_logs_are_the_recorded_ones(cluster: str) -> None:
    table = pod_status_agreement(open_recording(RECORDINGS / cluster))
    assert table.unexplained == []
    assert {known.id for known in table.known} == {
        "hook-before-the-program-listens",
        "mounts-are-tried-a-little-late",
        "probe-before-the-program-listens",
        "programs-that-look-at-their-machine",
    }
    assert table.rows[0].ours.endswith(" statuses")
    assert len(table.rows) == 8


def waiting_means_pending(spec: Object, statuses: Any, terminal: bool) -> str:
    return "Pending" if any("waiting" in s["state"] for s in statuses) else pod_status_phase(spec, statuses, terminal)


pod_status_phase = pod_status.get_phase


def without_message(spec: Object, statuses: Any, init: Any, phase: str) -> Object:
    condition = without_message.real(spec, statuses, init, phase)  # type: ignore[attr-defined]
    return {key: value for key, value in condition.items() if key != "message"}


without_message.real = pod_status.containers_ready  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("part", "wrong", "row"),
    [
        ("get_phase", waiting_means_pending, PHASE),
        ("merge_pod_status", lambda old, new, running: new, PHASE),  # tell everybody at once
        ("containers_ready", without_message, CONDITIONS),
    ],
)
def test_a_wrong_rule_turns_its_row_red(monkeypatch: pytest.MonkeyPatch, part: str, wrong: Any, row: str) -> None:
    monkeypatch.setattr(pod_status, part, wrong)
    assert row in different(pod_status_agreement(open_recording()))


def test_another_story_turns_every_row_of_it_red() -> None:
    """The recorded story with one pod's ending exchanged for another's."""
    theirs = recorded(open_recording())
    other = recorded(open_recording())
    swapped = {"completes": "fails"}
    for name, taken in swapped.items():
        other.pods[name] = {**other.pods[taken], "metadata": other.pods[name]["metadata"]}
        other.statuses[name] = other.statuses[taken]
        other.logs[name, "c"] = other.logs[taken, "c"]
    other.events = [e for e in other.events if e["reason"] != "Started"]
    table = AgreementTable("swapped", "ours", "theirs")
    add_played(table, other, theirs)
    assert len({row.input for row in table.rows if row.unexplained}) == 6


def _event(pod: str, reason: str, message: str) -> Object:
    source = {"component": "kubelet"}
    return {
        "involvedObject": {"name": pod}, "type": "Warning", "reason": reason, "message": message, "source": source,
        "count": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [
        _event("post-start-ok", "FailedPostStartHook", "PostStartHook failed"),
        _event("post-start-http", "FailedPostStartHook", "PostStartHook failed twice"),
        _event("post-start-http", "FailedPreStopHook", "PostStartHook failed"),
        _event("readiness-fails", "Unhealthy", "Readiness probe failed: connection refused"),
        _event("liveness-fails", "Unhealthy", 'Readiness probe failed: Get "http://IP:80/nope": dial tcp IP:80: refused'),
    ],
)  # fmt: skip
def test_a_known_race_excuses_no_other_event(told: Object) -> None:
    theirs = recorded(open_recording())
    theirs.events = [*theirs.events, told]
    table = AgreementTable("tampered", "lifecycle", "recording tampered")
    add_played(table, pod_status.play(open_recording().path), theirs)
    assert [row.input for row in table.rows if row.unexplained] == [pod_status.EVENTS]


def test_a_known_silence_excuses_no_other_log() -> None:
    theirs = recorded(open_recording())
    theirs.logs["volumes", "other"] = "x"
    theirs.logs["env", "c"] += "KUBERNETES=1\n"
    table = AgreementTable("tampered", "lifecycle", "recording tampered")
    add_played(table, pod_status.play(open_recording().path), theirs)
    assert [(row.input, len(row.unexplained)) for row in table.rows if row.unexplained] == [(pod_status.LOGS, 3)]


@pytest.mark.parametrize(
    ("told", "granted"),
    [
        ("options edns0 ndots:2", 1),
        ("options ndots:2 edns0", 0),
        ("options edns0 ndots:3", None),
        ("options ndots:2", None),
        ("search b.example a.example", None),
    ],
)
def test_resolver_options_in_another_order_are_the_same_and_nothing_else_is(told: str, granted: int | None) -> None:
    """The kubelet keeps them in a Go map."""
    theirs = recorded(open_recording())
    key = ("dns-config", "c")
    lines = theirs.logs[key].splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(told.partition(" ")[0]))
    lines[place] = told
    theirs.logs[key] = "\n".join(lines)
    table = AgreementTable("tampered", "lifecycle", "recording tampered")
    add_played(table, pod_status.play(open_recording().path), theirs)
    assert (table.freedoms["order of resolver options, which upstream keeps in a map"] == granted) is (
        granted is not None
    )
    assert (pod_status.LOGS in {row.input for row in table.rows if row.unexplained}) is (granted is None)
