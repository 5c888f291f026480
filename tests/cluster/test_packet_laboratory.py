"""Real packets through our rules, in a namespace of their own; and why it cannot be done where it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.cluster import packet_laboratory
from lifecycle.cluster.packet_laboratory import PODS, RECORDED, balance, reason_not_here
from tests.conftest import unavailable


def namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


def test_each_way_to_call_leads_to_the_pods_it_should() -> None:
    if why := reason_not_here():
        unavailable(why)
    counted = balance(24)
    assert list(counted) == ["cluster IP", "node port", "sticky", "no pods"]
    assert {name: sum(answers.values()) for name, answers in counted.items()} == dict.fromkeys(counted, 24)
    for name in ("cluster IP", "node port"):
        assert set(counted[name]) <= set(PODS), "nobody else answers"
        assert len(counted[name]) > 1, "a rule that always chooses the same balances nothing"
    (only,) = counted["sticky"]
    assert only in PODS
    assert set(counted["no pods"]) == {"ConnectionRefusedError"}
    assert f"lifecycle-lab-{os.getpid()}" not in namespaces(), "nothing is left of it"


def test_what_was_counted_elsewhere_is_of_the_same_kind() -> None:
    assert {name: sum(answers.values()) for name, answers in RECORDED.items()} == {
        "cluster IP": 60,
        "node port": 60,
        "sticky": 60,
        "no pods": 60,
    }
    assert {name: len(answers) for name, answers in RECORDED.items()} == {
        "cluster IP": 3,
        "node port": 3,
        "sticky": 1,
        "no pods": 1,
    }


def test_what_a_program_said_is_told_and_the_namespace_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    if why := reason_not_here():
        unavailable(why)
    monkeypatch.setattr(packet_laboratory, "PODS", ("nowhere", *PODS[1:]))
    with pytest.raises(RuntimeError, match=r'^ip netns exec lifecycle-lab-\d+ ip addr: Error: .*nowhere/24"\.$'):
        balance(1)
    assert f"lifecycle-lab-{os.getpid()}" not in namespaces()


@pytest.mark.parametrize(
    ("platform", "uid", "there", "codes", "why"),
    [
        ("darwin", 0, packet_laboratory.PROGRAMS, (0, 0), "network namespaces need Linux and root"),
        ("linux", 1000, packet_laboratory.PROGRAMS, (0, 0), "network namespaces need Linux and root"),
        ("linux", 0, ("ip", "iptables"), (0, 0), "not installed: iptables-save, iptables-restore"),
        ("linux", 0, packet_laboratory.PROGRAMS, (1, 0), "no network namespace can be made"),
        ("linux", 0, packet_laboratory.PROGRAMS, (0, 4), "iptables does not work in a namespace"),
        ("linux", 0, packet_laboratory.PROGRAMS, (0, 0), ""),
    ],
)
def test_why_it_cannot_be_done_here(
    monkeypatch: pytest.MonkeyPatch, platform: str, uid: int, there: Any, codes: tuple[int, int], why: str
) -> None:
    ran: list[str] = []

    def run(words: list[str], **_: Any) -> Any:
        ran.append(" ".join(words).replace(str(os.getpid()), "PID"))
        return SimpleNamespace(returncode=codes[0] if "add" in words else codes[1])

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(shutil, "which", lambda program: program if program in there else None)
    monkeypatch.setattr(subprocess, "run", run)
    assert reason_not_here() == why
    tried = [
        "ip netns add lifecycle-try-PID",
        "ip netns exec lifecycle-try-PID iptables -t nat -L",
        "ip netns del lifecycle-try-PID",
    ]
    assert ran == (
        tried if why in ("", "iptables does not work in a namespace") else tried[:1] if "made" in why else []
    )
