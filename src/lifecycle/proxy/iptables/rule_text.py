"""The rules of `iptables-save` as something that can be asked: does this rule match,
and where does it lead?

The options of a rule are read in the printed form only (`saved_form` brings any rule
into it). A match that is not known here raises: a rule that one does not understand
must not be taken for one that does not match.

Upstream: netfilter's iptables 1.8.9, `extensions/libxt_*.c`, `libipt_*.c`, as far as
the tenants of a kind node's tables use them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

Options = dict[str, tuple[bool, str]]
"""Option → (inverted, value)."""

FLAGS = frozenset(
    {"--rcheck", "--set", "--reap", "--rsource", "--random-fully", "--random"}
)
WITHOUT_EFFECT = frozenset({"comment", "nfacct"})
"""Matches that always match: a remark, a counter."""


@dataclass(slots=True, frozen=True)
class Rule:
    """One rule. `head` has `-s`, `-d`, `-p`; `matches` the modules with their options;
    `target` is a chain, a verdict, or empty.
    """

    chain: str
    text: str
    head: Options
    matches: tuple[tuple[str, Options], ...]
    target: str = ""
    target_options: Options = field(default_factory=dict)

    @property
    def comment(self) -> str:
        """What whoever wrote it says of it; may be empty."""
        return next(
            (
                options["--comment"][1]
                for module, options in self.matches
                if module == "comment"
            ),
            "",
        )


Ruleset = dict[str, dict[str, list[Rule]]]
"""Table → chain → rules."""


def parse_saved(text: str) -> Ruleset:
    """The tables in a text of `iptables-save`. Raises ValueError, with the line, for
    one that is not understood.
    """
    tables: Ruleset = {}
    chains: dict[str, list[Rule]] = {}
    for line in text.splitlines():
        if line.startswith("*"):
            chains = tables.setdefault(line[1:], {})
        elif line.startswith(":"):
            chains.setdefault(line[1:].split()[0], [])
        elif line.startswith("-A "):
            try:
                rule = parse_rule(line)
                chains[rule.chain].append(rule)
            except (StopIteration, KeyError, IndexError) as error:
                raise ValueError(f"not understood: {line}") from error
    return tables


def parse_rule(line: str) -> Rule:
    """One line that begins with `-A`."""
    words = iter(shlex.split(line)[2:])
    head: Options = {}
    matches: list[tuple[str, Options]] = []
    target, target_options = "", Options()
    for inverted, word in _with_inversions(words):
        if word in ("-s", "-d", "-p", "-i", "-o"):
            head[word] = inverted, next(words)
        elif word == "-m":
            matches.append((next(words), {}))
        elif word in ("-j", "-g"):
            target = next(words)
        else:
            options = target_options if target else matches[-1][1]
            options[word] = inverted, "" if word in FLAGS else next(words)
    return Rule(
        line.split(" ", 2)[1], line, head, tuple(matches), target, target_options
    )


def _with_inversions(words: Iterator[str]) -> Iterator[tuple[bool, str]]:
    for word in words:
        if word == "!":
            yield True, next(words)
        else:
            yield False, word
