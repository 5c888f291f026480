"""A rule as it is written, and as `iptables-save` prints it.

The kernel does not keep the text of a rule. What is printed comes from what it kept:
source, destination and protocol first, then the matches in order, each with all of its
options, then the target with its defaults. `-d 10.96.0.1` comes back as `-d
10.96.0.1/32`, `--or-mark 0x4000` as `--set-xmark 0x4000/0x4000`, a probability as the
nearest 31-bit fraction. To compare our rules with a node's they are brought into that
form; a test holds this module against the real program.

Upstream: netfilter's iptables 1.8.9, `iptables/nft-shared.c`, `extensions/libxt_*.c`,
`libipt_*.c`. Left out: matches and targets that kube-proxy never writes.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from ipaddress import ip_network

UNQUOTED = frozenset("_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
CONNTRACK_STATES = (
    "INVALID",
    "NEW",
    "RELATED",
    "ESTABLISHED",
    "UNTRACKED",
    "SNAT",
    "DNAT",
)
HEAD = {
    "-s": "-s",
    "--source": "-s",
    "-d": "-d",
    "--destination": "-d",
    "-p": "-p",
    "--protocol": "-p",
}
PORT_MATCHES = ("tcp", "udp", "sctp")
FLAGS = frozenset({"--rcheck", "--set", "--reap", "--rsource", "--random-fully"})
STATISTIC_SCALE = 0x80000000

Options = dict[str, tuple[bool, str]]
"""Option → (inverted, value)."""


def saved_form(rule: str) -> str:
    """A rule's arguments (without command and chain) as `iptables-save` would print
    them. Raises ValueError for what it does not know.
    """
    head: Options = {}
    matches: list[tuple[str, Options]] = []
    target = ""
    target_options: Options = {}
    inverted = False
    tokens = iter(shlex.split(rule))
    for token in tokens:
        if token == "!":
            inverted = True
            continue
        if token in HEAD:
            head[HEAD[token]] = (inverted, next(tokens))
        elif token == "-m":
            matches.append((next(tokens), {}))
        elif token == "-j":
            target = next(tokens)
        else:
            value = "" if token in FLAGS else next(tokens)
            options = target_options if target else _owner(token, matches)
            options[token] = (inverted, value)
        inverted = False
    parts = _head(head)
    for module, options in matches:
        parts += ["-m", module, *MATCHES[module](options)]
    if target:
        v6 = any(":" in value for _, value in head.values())
        parts += ["-j", target, *_target(target, target_options, v6)]
    return " ".join(parts)


def _owner(option: str, matches: list[tuple[str, Options]]) -> Options:
    """The match an option belongs to: the ports' to the protocol's match, others to the
    last one named.
    """
    if option in ("--dport", "--sport"):
        return next(
            options for module, options in reversed(matches) if module in PORT_MATCHES
        )
    if not matches:
        raise ValueError(f"{option} belongs to no match")
    return matches[-1][1]


def _head(head: Options) -> list[str]:
    parts: list[str] = []
    for option in ("-s", "-d", "-p"):
        if option not in head:
            continue
        inverted, value = head[option]
        if option != "-p":
            network = ip_network(value, strict=False)
            if network.prefixlen == 0 and not inverted:
                continue
            value = str(network)
        parts += [*(["!"] if inverted else []), option, value]
    return parts


def _plain(options: Options, *order: str) -> list[str]:
    parts: list[str] = []
    for option in order:
        if option in options:
            inverted, value = options[option]
            parts += [*(["!"] if inverted else []), option, *([value] if value else [])]
    return parts


def quoted(text: str) -> str:
    """A string as the save format writes it."""
    if text and UNQUOTED.issuperset(text):
        return text
    escaped = "".join("\\" + letter if letter in "\"\\'" else letter for letter in text)
    return f'"{escaped}"'


def _comment(options: Options) -> list[str]:
    return ["--comment", quoted(options["--comment"][1])]


def _conntrack(options: Options) -> list[str]:
    inverted, value = options["--ctstate"]
    asked = set(value.split(","))
    states = ",".join(state for state in CONNTRACK_STATES if state in asked)
    return [*(["!"] if inverted else []), "--ctstate", states]


def _mark_match(options: Options) -> list[str]:
    inverted, value = options["--mark"]
    return [
        *(["!"] if inverted else []),
        "--mark",
        "/".join(f"{int(part, 0):#x}" for part in value.split("/")),
    ]


def _statistic(options: Options) -> list[str]:
    kept = round(float(options["--probability"][1]) * STATISTIC_SCALE)
    return ["--mode", "random", "--probability", f"{kept / STATISTIC_SCALE:.11f}"]


def _recent(options: Options) -> list[str]:
    seen = _plain(options, "--set", "--rcheck", "--seconds", "--reap")
    return [
        *seen,
        "--name",
        options["--name"][1],
        "--mask",
        "255.255.255.255",
        "--rsource",
    ]


def _nfacct(options: Options) -> list[str]:
    return [
        "--nfacct-name",
        "",
        options["--nfacct-name"][1],
    ]  # the real program prints two spaces here


MATCHES: dict[str, Callable[[Options], list[str]]] = {
    "addrtype": lambda options: _plain(options, "--src-type", "--dst-type"),
    "comment": _comment,
    "conntrack": _conntrack,
    "mark": _mark_match,
    "nfacct": _nfacct,
    "recent": _recent,
    "statistic": _statistic,
    **{
        module: lambda options: _plain(options, "--sport", "--dport")
        for module in PORT_MATCHES
    },
}


def _target(target: str, options: Options, v6: bool) -> list[str]:
    if target == "MARK":
        ((option, (_, value)),) = options.items()
        mark, _, mask = value.partition("/")
        bits = int(mark, 0)
        masks = {
            "--or-mark": bits,
            "--xor-mark": 0,
            "--set-xmark": int(mask or "0xffffffff", 0),
        }
        return ["--set-xmark", f"{bits:#x}/{masks[option]:#x}"]
    if target == "REJECT":
        default = "icmp6-port-unreachable" if v6 else "icmp-port-unreachable"
        return ["--reject-with", options.get("--reject-with", (False, default))[1]]
    return _plain(options, "--to-destination", "--random-fully")
