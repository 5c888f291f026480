"""What the real programs and the kernel are asked, and what their answers mean, without either."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Any

import pytest

from lifecycle.cni.netlink.wire import nested
from lifecycle.proxy import kernel_conntrack
from lifecycle.proxy.iptables.runner import KEPT, WAIT, CommandRunner, TextRunner
from lifecycle.proxy.iptables.tables import RestoreError, Tables


class Programs(CommandRunner):
    """Writes down what would be run; `answers` by the words of a command that decide."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        super().__init__("netns")
        self.answers, self.ran = list(answers), list[tuple[tuple[str, ...], str]]()

    async def _run(self, *command: str, stdin: str = "") -> tuple[int, str, str]:
        self.ran.append((command, stdin))
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("call", "answers", "commands", "result"),
    [
        (lambda r: r.ensure_chain("nat", "C"), [(0, "", "")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], False),
        (lambda r: r.ensure_chain("nat", "C"), [(1, "", "")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], True),
        (lambda r: r.ensure_chain("nat", "C"), [(4, "", "lock")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], RestoreError),
        (lambda r: r.chain_exists("nat", "C"), [(0, "", "")], [("iptables", *WAIT, "-t", "nat", "-S", "C", "1")], True),
        (lambda r: r.chain_exists("nat", "C"), [(1, "", "")], [("iptables", *WAIT, "-t", "nat", "-S", "C", "1")], False),
        (
            lambda r: r.ensure_rule("nat", "C", '-m comment --comment "a b" -j D'), [(0, "", "")],
            [("iptables", *WAIT, "-t", "nat", "-C", "C", "-m", "comment", "--comment", "a b", "-j", "D")], True,
        ),
        (
            lambda r: r.ensure_rule("nat", "C", "-j D"), [(1, "", ""), (0, "", "")],
            [("iptables", *WAIT, "-t", "nat", how, "C", "-j", "D") for how in ("-C", "-I")], False,
        ),
        (
            lambda r: r.ensure_rule("nat", "C", "-j D"), [(1, "", ""), (2, "", " no \n")],
            [("iptables", *WAIT, "-t", "nat", how, "C", "-j", "D") for how in ("-C", "-I")], RestoreError,
        ),
        (lambda r: r.chains("nat"), [(0, "*nat\n:A - [0:0]\n:B ACCEPT [1:2]\n-A A -j B\n", "")],
         [("iptables-save", "-t", "nat")], ["A", "B"]),
        (lambda r: r.restore_all("text"), [(0, "", "")], [("iptables-restore", *WAIT, "--noflush", "--counters")], None),
        (lambda r: r.restore_all("text"), [(1, "", "no")], [("iptables-restore", *WAIT, "--noflush", "--counters")], RestoreError),
    ],
)  # fmt: skip
def test_which_programs_are_asked(call: Any, answers: list[Any], commands: list[tuple[str, ...]], result: Any) -> None:
    runner = Programs(*answers)
    if result is RestoreError:
        with pytest.raises(RestoreError) as caught:
            asyncio.run(call(runner))
        words = str(caught.value)
        assert words == answers[-1][2] or words.endswith(f": exit code {answers[-1][0]}: {answers[-1][2].strip()}")
    else:
        assert asyncio.run(call(runner)) == result
    assert [command for command, _ in runner.ran] == commands
    assert {stdin for command, stdin in runner.ran} == ({"text"} if commands[0][0] == "iptables-restore" else {""})
    assert WAIT == ("-w", "5", "-W", "100000")


@pytest.mark.parametrize(
    ("there", "answer", "counted"),
    [
        (False, None, False), (True, (0, "", ""), True), (True, (1, "", "nfacct: object already exists"), True),
        (True, (1, "", "Device or resource Busy"), True), (True, (1, "", "not permitted"), False),
    ],
)  # fmt: skip
def test_a_counter_is_there_if_it_could_be_made_or_was(
    there: bool, answer: Any, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/sbin/{name}" if there else None)
    runner = Programs(answer)
    assert asyncio.run(runner.ensure_counter("c")) is counted
    assert runner.ran == ([(("nfacct", "add", "c"), "")] if there else [])


def test_the_machines_own_rules_are_not_ours() -> None:
    with pytest.raises(
        ValueError, match=r"a network namespace is needed: the machine's own rules are not ours to change$"
    ):
        CommandRunner("")


def test_a_picture_of_the_kernel_remembers_what_was_restored() -> None:
    async def main() -> None:
        runner = TextRunner(keep=2)
        for number in range(3):
            await runner.restore_all(f"*nat\n:C{number} - [0:0]\nCOMMIT\n")
        assert [text.split()[1] for text in runner.restored] == [":C1", ":C2"]
        for _ in range(2):  # of what is long only the last is kept
            await runner.restore_all("#" + " " * KEPT)
        assert [len(text) for text in runner.restored] == [KEPT + 1]
        assert await runner.chains("nat") == ["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING", "C0", "C1", "C2"]
        assert [await runner.chain_exists("nat", chain) for chain in ("C0", "X")] == [True, False]
        assert [await runner.ensure_chain("nat", chain) for chain in ("C0", "X", "X")] == [True, False, True]
        assert [await runner.ensure_rule("nat", "X", rule) for rule in ("-j C0", "-j C1", "-j C0")] == [
            False,
            False,
            True,
        ]
        assert runner.tables.rules("nat", "X") == ["-j C1", "-j C0"]
        assert await runner.ensure_counter("x")
        assert not await TextRunner(counters=False).ensure_counter("x")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*nat\n-A X -j DROP\nCOMMIT\n", "line 2 failed: -A X -j DROP: 'X'"), ("*odd\n", "line 1 failed: *odd: 'odd'"),
        ("*nat\n:X - [0:0]\n-A X -j Y\nCOMMIT\n", "line 4 failed: COMMIT: no chain Y"),
        ("*nat\n:X - [0:0]\n-A X -j DROP\n-X X\nCOMMIT\n", "line 4 failed: -X X: X is not empty"),
        ("*nat\n\n# remark\n-F X\n", "line 4 failed: -F X: -F is not known here"),
        ("*nat\n-A INPUT --odd 1\n", "line 2 failed: -A INPUT --odd 1: --odd belongs to no match"),
    ],
)  # fmt: skip
def test_a_table_changes_as_a_whole_or_not_at_all(text: str, words: str) -> None:
    tables = Tables()
    tables.restore("*nat\n:KEPT - [0:0]\n-A KEPT -j DROP\n-I KEPT -j ACCEPT\nCOMMIT\n")
    before = tables.save()
    assert before.endswith("-A KEPT -j ACCEPT\n-A KEPT -j DROP\nCOMMIT\n")
    with pytest.raises(RestoreError) as caught:
        tables.restore(text)
    assert str(caught.value) == words
    assert tables.save() == before
    assert (tables.save("filter"), tables.save("nat")) == ("", before)


class FakeSocket:
    """Answers a dump with given entries."""

    def __init__(self, entries: list[bytes]) -> None:
        self.entries, self.asked, self.error, self.closed = entries, list[tuple[int, int, bytes]](), 0, False

    def request(self, kind: int, flags: int, body: bytes) -> list[tuple[int, bytes]]:
        self.asked.append((kind, flags, body))
        if self.error:
            raise OSError(self.error, "no")
        return [(0, body[:4] + entry) for entry in self.entries]

    def close(self) -> None:
        self.closed = True


def _side(kind: int, source: str, destination: str, protocol: int, ports: tuple[int, int]) -> bytes:
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    numbers = (3, 4) if family == socket.AF_INET6 else (1, 2)
    ip = b"".join(
        nested(number, socket.inet_pton(family, text)) for number, text in zip(numbers, (source, destination))
    )
    proto = nested(1, bytes([protocol])) + b"".join(
        nested(number, value.to_bytes(2, "big")) for number, value in zip((2, 3), ports)
    )
    return nested(kind, nested(1, ip) + nested(2, proto))


@pytest.mark.parametrize(
    ("family", "client", "to", "pod"),
    [("IPv4", "10.0.0.9", "10.96.0.10", "10.244.1.2"), ("IPv6", "fd00::9", "fd00::a", "fd00::2")],
)
def test_flows_are_read_out_of_the_kernels_messages(
    family: str, client: str, to: str, pod: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    udp = _side(1, client, to, socket.IPPROTO_UDP, (4053, 53)) + _side(2, pod, client, socket.IPPROTO_UDP, (5353, 4053))
    tcp = _side(1, client, to, socket.IPPROTO_TCP, (4053, 53)) + _side(2, pod, client, socket.IPPROTO_TCP, (5353, 4053))
    made: list[int] = []
    fake = FakeSocket([udp, tcp])

    def open_socket(protocol: int) -> FakeSocket:
        made.append(protocol)
        return fake

    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", open_socket)
    conntrack = kernel_conntrack.KernelConntrack("/proc/self/ns/net", family)
    (flow,) = conntrack.udp_flows()
    assert made == [12]
    assert (flow.to, flow.answered_by) == ((to, 53), (pod, 5353))
    header = bytes([socket.AF_INET6 if family == "IPv6" else socket.AF_INET, 0, 0, 0])
    assert fake.asked == [(0x101, 0x300, header)]
    fake.asked.clear()
    conntrack.forget([flow, flow])
    assert fake.asked == [(0x102, 0, header + nested(1, flow.key))] * 2
    for code, raised in ((errno.ENOENT, False), (errno.EPERM, True)):
        fake.error = code
        if raised:
            with pytest.raises(OSError, match=r"\[Errno"):
                conntrack.forget([flow])
        else:
            conntrack.forget([flow])
    conntrack.close()
    assert fake.closed


def test_where_there_is_no_netfilter_there_are_no_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(protocol: int) -> FakeSocket:
        raise OSError("no such protocol")

    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", refused)
    assert kernel_conntrack.KernelConntrack.where_possible("/proc/self/ns/net") is None
    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", lambda protocol: FakeSocket([]))
    assert kernel_conntrack.KernelConntrack.where_possible("/proc/self/ns/net") is not None
