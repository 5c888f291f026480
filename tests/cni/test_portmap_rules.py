"""The rules of portmap, one by one: what leads where, and what is masqueraded."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins import iptables
from lifecycle.cni.plugins.portmap_rules import all_chains, dnat_chain, filled_dnat_chain

FOUR, SIX = parse_cidr("10.1.0.5/24"), parse_cidr("fd00::5/64")
COMMENT = ["-m", "comment", "--comment"]


def conf(*mappings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "net", "runtimeConfig": {"portMappings": list(mappings)}, **more}


WEB = {"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}
BASE = ["-p", "tcp", "--dport", "8080"]
MARK = ["-j", "CNI-HOSTPORT-SETMARK"]
DNAT = [*BASE, "-j", "DNAT", "--to-destination", "10.1.0.5:80"]


def rules(address: Any, *mappings: dict[str, Any], **more: Any) -> list[list[str]]:
    return filled_dnat_chain(conf(*mappings, **more), "c1", address).rules


def test_hairpin_and_localhost_are_marked_before_the_port_leads_to_the_container() -> None:
    assert rules(FOUR, WEB) == [[*BASE, "-s", "10.1.0.5/24", *MARK], [*BASE, "-s", "127.0.0.1", *MARK], DNAT]


def test_of_version_six_nothing_comes_from_localhost() -> None:
    assert rules(SIX, WEB) == [
        [*BASE, "-s", "fd00::5/64", *MARK],
        [*BASE, "-j", "DNAT", "--to-destination", "[fd00::5]:80"],
    ]


@pytest.mark.parametrize(("address", "everywhere"), [(FOUR, "0.0.0.0/0"), (SIX, "::/0")])
def test_all_are_marked_if_all_are_to_be_masqueraded(address: Any, everywhere: str) -> None:
    assert rules(address, WEB, masqAll=True)[:-1] == [[*BASE, "-s", everywhere, *MARK]]


def test_nobody_is_marked_where_nothing_is_masqueraded() -> None:
    assert rules(FOUR, WEB, snat=False) == [DNAT]


def test_a_chain_of_somebody_elses_marks_if_there_is_one() -> None:
    assert [rule[-1] for rule in rules(FOUR, WEB, externalSetMarkChain="KUBE-MARK-MASQ")[:2]] == ["KUBE-MARK-MASQ"] * 2


@pytest.mark.parametrize(
    ("host_ip", "address", "destination"),
    [
        ("192.0.2.1", FOUR, ["-d", "192.0.2.1"]),
        ("0.0.0.0", FOUR, []),
        ("", FOUR, []),
        ("::", FOUR, None),
        ("fd00::1", FOUR, None),
        ("192.0.2.1", SIX, None),
        ("::", SIX, []),
        ("fd00::1", SIX, ["-d", "fd00::1"]),
        ("no address", FOUR, None),
        ("no address", SIX, ["-d", "no address"]),
    ],
)
def test_a_port_of_one_host_address_is_one_of_its_version(host_ip: str, address: Any, destination: Any) -> None:
    found = rules(address, {**WEB, "hostIP": host_ip})
    if destination is None:
        assert found == []
    else:
        assert all(rule[: len(BASE) + len(destination)] == [*BASE, *destination] for rule in found)
        assert ("-d" in found[-1]) is bool(destination)


def test_the_way_in_is_by_protocol_and_fifteen_ports_at_most() -> None:
    mappings = [
        {"hostPort": port, "containerPort": 1, "protocol": "udp" if port == 5 else "tcp"} for port in range(1, 18)
    ]
    chain = filled_dnat_chain(conf(*mappings, conditionsV4=["-i", "eth0"]), "c1", FOUR)
    comment = 'dnat name: "net" id: "c1"'
    tcp = [port for port in range(1, 18) if port != 5]
    assert chain.entry_rules == [
        [*COMMENT, comment, "-m", "multiport", "-p", protocol, "--destination-ports", ports, "-i", "eth0"]
        for protocol, ports in (("tcp", ",".join(map(str, tcp[:15]))), ("tcp", "17"), ("udp", "5"))
    ]
    assert [place for place, _ in chain.entries()] == ["CNI-HOSTPORT-DNAT"] * 3
    assert all(rule[-2:] == ["-j", chain.name] for _, rule in chain.entries())


def test_conditions_are_those_of_the_version() -> None:
    both: dict[str, Any] = {"conditionsV4": ["four"], "conditionsV6": ["six"]}
    assert [filled_dnat_chain(conf(WEB, **both), "c1", each).entry_rules[0][-1] for each in (FOUR, SIX)] == [
        "four",
        "six",
    ]


def test_a_long_comment_is_cut_to_what_the_kernel_takes() -> None:
    (rule,) = filled_dnat_chain(conf(WEB), "c" * 300, FOUR).entry_rules
    assert (len(rule[3]), rule[3][-4:]) == (256, "c...")
    (rule,) = filled_dnat_chain(conf(WEB), "c" * (255 - len('dnat name: "net" id: ""')), FOUR).entry_rules
    assert (len(rule[3]), rule[3][-2:]) == (255, 'c"')


def test_a_containers_own_chain_has_a_name_of_its_own() -> None:
    name = dnat_chain("net", "c1").name
    assert name.startswith("CNI-DN-")
    assert len({name, dnat_chain("net", "c2").name, dnat_chain("other", "c1").name}) == 3


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({}, ["CNI-HOSTPORT-SETMARK", "CNI-HOSTPORT-MASQ", "CNI-HOSTPORT-DNAT"]),
        ({"snat": False}, ["CNI-HOSTPORT-DNAT"]),
        ({"externalSetMarkChain": "X"}, ["CNI-HOSTPORT-DNAT"]),
    ],
)
def test_what_marks_is_only_there_where_it_is_needed(more: dict[str, Any], names: list[str]) -> None:
    chains = all_chains(conf(WEB, **more), "c1", FOUR)
    assert [chain.name for chain in chains] == [*names, dnat_chain("net", "c1").name]


@pytest.mark.parametrize(("more", "mark"), [({}, "0x2000"), ({"markMasqBit": 0}, "0x1"), ({"markMasqBit": 5}, "0x20")])
def test_a_mark_is_set_and_what_has_it_is_masqueraded_first_of_all(more: dict[str, Any], mark: str) -> None:
    setting, masquerading, entry, _ = all_chains(conf(WEB, **more), "c1", FOUR)
    assert setting.rules == [[*COMMENT, "CNI portfwd masquerade mark", "-j", "MARK", "--set-xmark", f"{mark}/{mark}"]]
    assert (setting.entry_chains, setting.entries()) == ((), [])
    assert masquerading.rules == [["-m", "mark", "--mark", f"{mark}/{mark}", "-j", "MASQUERADE"]]
    assert masquerading.entries() == [
        ("POSTROUTING", [*COMMENT, "CNI portfwd requiring masquerade", "-j", "CNI-HOSTPORT-MASQ"])
    ]
    assert masquerading.prepend_entry
    assert not entry.prepend_entry
    local = ["-m", "addrtype", "--dst-type", "LOCAL", "-j", "CNI-HOSTPORT-DNAT"]
    assert entry.entries() == [("PREROUTING", local), ("OUTPUT", local)]
    assert entry.rules == []


@pytest.mark.parametrize(("version", "program"), [(4, "iptables"), (6, "ip6tables")])
def test_without_the_program_there_are_no_rules(monkeypatch: pytest.MonkeyPatch, version: int, program: str) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(shutil, "which", lambda name, path: asked.append((name, path)))
    with pytest.raises(CNIError) as refused:
        iptables.IPTables(version)
    assert str(refused.value) == f'exec: "{program}": executable file not found in $PATH'
    assert asked == [(program, "/usr/sbin:/sbin:/usr/bin:/bin")]
