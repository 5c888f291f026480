"""Flags that say which server, as whom, how patiently and how talkatively; read before
the command itself is looked at.

Upstream: `cli-runtime/pkg/genericclioptions/config_flags.go` (`ConfigFlags.AddFlags`),
`kubectl/pkg/cmd/cmd.go`, v1.36.2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lifecycle.api.go.duration import parse_duration
from lifecycle.kubectl.failures import CommandError, FlagError
from lifecycle.kubectl.flags import COMMON

_OF_KIND = {
    kind: tuple(each.name for each in COMMON if each.kind == kind)
    for kind in ("string", "int32", "bool", "array")
}
SHORT = {each.short: each.name for each in COMMON if each.short and each.kind != "bool"}


@dataclass(slots=True)
class GlobalFlags:
    """What was given, by name without dashes; lists for what may come several times."""

    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    command: str = ""

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def true(self, name: str) -> bool:
        """A boolean flag was given, and not as `=false`."""
        return self.values.get(name, "false").lower() in ("true", "1", "t")

    @property
    def level(self) -> int:
        """The `-v`. Raises CommandError for what is no number."""
        text = self["v"]
        if text and not text.lstrip("-").isdecimal():
            raise FlagError(
                f'invalid argument "{text}" for "-v, --v" flag: strconv.ParseInt:'
                f' parsing "{text}": invalid syntax',
                self.command,
            )
        return int(text or 0)


def global_flags(argv: Sequence[str], own: Collection[str] = ()) -> GlobalFlags:
    """All of them, wherever they stand before `--`; the last one wins. `own` are the
    names that mean something else to the command.
    """
    flags = GlobalFlags()
    words = iter(argv)
    for word in words:
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        elif word[:1] == "-" and word[1:2] in SHORT:
            name, value = SHORT[word[1]], word[2:].removeprefix("=")
            equals = "=" if len(word) > 2 else ""
        else:
            continue
        if name in own:
            continue
        if name in _OF_KIND["bool"]:
            flags.values[name] = value if equals else "true"
        elif name in (*_OF_KIND["string"], *_OF_KIND["int32"], *_OF_KIND["array"]):
            value = value if equals else next(words, "")
            if name in _OF_KIND["array"]:
                flags.lists.setdefault(name, []).append(value)
            else:
                flags.values[name] = value
    return flags


def parse_timeout(text: str) -> float:
    """Seconds of `--request-timeout`: `3`, `3s`, `1m30s`; 0 for none. Raises
    CommandError for anything else.
    """
    if not text or text == "0":
        return 0.0
    if text.isdecimal():
        return float(text)
    try:
        return parse_duration(text)
    except ValueError:
        raise CommandError(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an"
            " integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
        ) from None
