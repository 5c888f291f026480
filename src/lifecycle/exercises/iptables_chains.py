"""The names of kube-proxy's chains: which chain belongs to which port of which Service,
and to which endpoint?

The right answers are read off the recorded nodes' `iptables-save`: each jump to such a
chain carries the Service, or the endpoint, in its comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from lifecycle.agreements.proxy.iptables_rules import MOMENTS
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import Recording, open_recording
from lifecycle.proxy.iptables.chains import ServiceChains, endpoint_chain
from lifecycle.proxy.service_port_name import ServicePortName

CONTRACT = """\
chain_name(prefix, namespace, service, port, protocol, endpoint) -> str

prefix:   "KUBE-SVC", "KUBE-SVL", "KUBE-EXT", "KUBE-FW" (one for each port of a
        Service) or "KUBE-SEP" (one for each endpoint of it).
port:     the port's name, "" if it has none. protocol: "TCP", "UDP" or "SCTP".
endpoint: "ip:port" for KUBE-SEP, else "".
Returns the name of the chain, like "KUBE-SVC-ERIFXISQEP7F7OF4"."""

STARTER = '''\
from base64 import b32encode
from hashlib import sha256


def chain_name(prefix, namespace, service, port, protocol, endpoint):
    """The chain's name: its prefix, and sixteen letters that stand for the rest."""
    text = f"{namespace}/{service}"
    return f"{prefix}-{b32encode(sha256(text.encode()).digest()).decode()[:16]}"
'''

JUMP = re.compile(
    r"-A KUBE-(?:SERVICES|NODEPORTS|EXTERNAL-SERVICES) .*-p"
    r" (?P<protocol>tcp|udp|sctp) .*"
    r'--comment "(?P<name>[^ "]+)(?: [^"]*)?" .*-j'
    r" (?P<chain>(?P<prefix>KUBE-(?:SVC|SVL|EXT|FW))-\w{16})"
)
TO_ENDPOINT = re.compile(
    r'-A (?P<parent>KUBE-(?:SVC|SVL)-\w{16}) .*--comment "(?P<name>[^ "]+) ->'
    r' (?P<endpoint>[^ "]+)" .*'
    r"-j (?P<chain>KUBE-SEP-\w{16})"
)

UNRECORDED = (
    ("KUBE-SVC", ""),
    ("KUBE-SVL", ""),
    ("KUBE-EXT", ""),
    ("KUBE-FW", ""),
    ("KUBE-SEP", "10.244.1.9:8080"),
    ("KUBE-SEP", "[fd00:10:244::9]:8080"),
)
"""Kinds of chains, protocols and families that the recorded cluster has few or nothing
of: the book's own names.
"""


def cases() -> Iterator[Case]:
    """Each chain that any recorded node had at any moment, and what those have nothing
    of.
    """
    recording, seen = open_recording(), set[str]()
    for node in recording.nodes():
        for moment in MOMENTS:
            for prefix, name, protocol, endpoint, chain in _chains_of(
                _saved(recording, node, moment)
            ):
                if chain not in seen:
                    seen.add(chain)
                    yield _case(prefix, name, protocol, endpoint, chain)
    for (prefix, endpoint), name, protocol in product(
        UNRECORDED, ("shop/web", "shop/web:http"), ("TCP", "UDP", "SCTP")
    ):
        namespace, service, port = re.fullmatch(r"(\w+)/(\w+):?(\w*)", name).groups()  # type: ignore[union-attr]
        yield _case(
            prefix,
            name,
            protocol,
            endpoint,
            _ours(prefix, namespace, service, port, protocol, endpoint),
        )


def _saved(recording: Recording, node: str, moment: str) -> str:
    name = f"iptables-save.{moment}" if moment else "iptables-save"
    try:
        return recording.text(f"node/{node}/{name}.txt")
    except FileNotFoundError:
        return ""


def _chains_of(saved: str) -> Iterator[tuple[str, str, str, str, str]]:
    """`(prefix, service port, protocol, endpoint, chain)` of each chain whose jump says
    whose it is.
    """
    protocols: dict[str, str] = {}
    lines = saved.splitlines()
    for line in lines:
        if jump := JUMP.search(line):
            protocols[jump["chain"]] = jump["protocol"].upper()
            yield (
                jump["prefix"],
                jump["name"],
                jump["protocol"].upper(),
                "",
                jump["chain"],
            )
    for line in lines:
        if (jump := TO_ENDPOINT.search(line)) and jump["parent"] in protocols:
            yield (
                "KUBE-SEP",
                jump["name"],
                protocols[jump["parent"]],
                jump["endpoint"],
                jump["chain"],
            )


def _case(prefix: str, name: str, protocol: str, endpoint: str, chain: str) -> Case:
    namespace, _, rest = name.partition("/")
    service, _, port = rest.partition(":")
    label = f"{name} {protocol} {endpoint}".strip().replace("/", "∕")

    def ask(attempt: Attempt) -> object:
        return attempt(prefix, namespace, service, port, protocol, endpoint)

    return Case(prefix, label, chain, ask)


def _ours(
    prefix: str, namespace: str, service: str, port: str, protocol: str, endpoint: str
) -> str:
    name = ServicePortName(namespace, service, port, protocol)
    if endpoint:
        return endpoint_chain(name, endpoint)
    return next(
        chain for chain in ServiceChains.of(name) if chain.startswith(f"{prefix}-")
    )


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "iptables-chains",
    "The names of kube-proxy's chains",
    CONTRACT,
    STARTER,
    "iptables-save of the recorded nodes",
    cases,
    ours,
    ("iptables",),
)
