"""Command-line flags the way kubectl parses them: flags and arguments in any order,
`--` ends the flags.

Upstream: `spf13/pflag/flag.go` (`parseLongArg`, `parseSingleShortArg`),
`spf13/cobra/command.go` (`ValidateRequiredFlags`), as used by kubectl v1.36. The
messages are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.go.duration import parse_duration
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.strconv import parse_int
from lifecycle.api.loop.clock import Clock
from lifecycle.kubectl.failures import CommandError, FlagError
from lifecycle.kubectl.flag_values import pair, read_as_csv
from lifecycle.kubectl.request.debugging import plain_klog_line


@dataclass(slots=True, frozen=True)
class Flag:
    """One flag. `kind`: string, bool, int, int32, int64, duration (seconds), slice
    (comma separated, repeatable), array (repeatable), map (`key=value,key=value`).

    `bare` is the value of a flag that is given without one (`--dry-run`). `deprecated`:
    what is said when it is given; help does not speak of it any more.
    """

    name: str
    kind: str = "string"
    default: Any = None
    short: str = ""
    required: bool = False
    bare: str | None = None
    deprecated: str = ""


class ErrHelp(Exception):
    """`--help` was given: what `command` takes is to be printed, and nothing to be
    done.
    """

    def __init__(self, command: str, flags: Iterable[Flag]) -> None:
        super().__init__(command)
        self.command = command
        self.flags = tuple(flags)


def flag(name: str, kind: str = "string", default: Any = None, **more: Any) -> Flag:
    """A flag with the zero value of its kind as its default."""
    zero: Any = {
        "string": "",
        "bool": False,
        "slice": (),
        "array": (),
        "map": {},
        "duration": 0.0,
    }.get(kind, 0)
    return Flag(
        name,
        kind,
        zero if default is None else default,
        bare="true" if kind == "bool" else more.pop("bare", None),
        **more,
    )


DRY_RUN = flag("dry-run", default="none", bare="unchanged")
OUTPUT = flag("output", short="o")
PRINT = (
    OUTPUT,
    flag("template"),
    flag("allow-missing-template-keys", "bool", True),
    flag("show-managed-fields", "bool"),
)
"""How a command prints the objects it has changed."""
SELECTOR = flag("selector", short="l")
ALL_NAMESPACES = flag("all-namespaces", "bool", short="A")
VALIDATE = flag("validate", default="strict", bare="strict")
RECORD = flag("record", "bool", deprecated="--record will be removed in the future")


def generated(command: str) -> tuple[Flag, ...]:
    """The flags of commands that make an object from flags: what to lay over it, and
    what to note on it.
    """
    return (
        flag("overrides"),
        flag("override-type", default="merge"),
        flag("field-manager", default=f"kubectl-{command}"),
        flag("save-config", "bool"),
        RECORD,
    )


COMMON = (
    flag("namespace", short="n"),
    flag("v", "int32", short="v"),
    flag("context"),
    flag("cluster"),
    flag("user"),
    flag("kubeconfig"),
    flag("server", short="s"),
    flag("token"),
    flag("as"),
    flag("as-group", "array"),
    flag("as-uid"),
    flag("as-user-extra", "array"),
    flag("cache-dir"),
    flag("certificate-authority"),
    flag("client-certificate"),
    flag("client-key"),
    flag("disable-compression", "bool"),
    flag("password"),
    flag("request-timeout", default="0"),
    flag("tls-server-name"),
    flag("username"),
    flag("warnings-as-errors", "bool"),
    flag("insecure-skip-tls-verify", "bool"),
    flag("match-server-version", "bool"),
    flag("profile", default="none"),
    flag("profile-output", default="profile.pprof"),
    flag("log-flush-frequency", "duration", 5.0),
    flag("vmodule", "map"),
    flag("kuberc"),
    flag("help", "bool", short="h"),
)
"""Flags that every command takes; those that choose a cluster are the caller's business
and ignored here.
"""


_TAKES_VALUE = {spec.name for spec in COMMON if spec.bare is None} | {
    spec.short for spec in COMMON if spec.short and spec.bare is None
}


def word_positions(argv: Sequence[str]) -> list[int]:
    """Where the words are that are neither flags nor values of common flags: the
    command is the first, its subcommand the next.
    """
    positions = []
    skip = False
    for i, word in enumerate(argv):
        if word == "--":
            break
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = "=" not in word and word.lstrip("-") in _TAKES_VALUE
        else:
            positions.append(i)
    return positions


@dataclass(slots=True)
class Parsed:
    """A parsed command line. `changed` names the flags that were given, `actual` also
    with the texts of their values, each time they were; `dash` is the number of
    arguments before `--`, or -1.
    """

    values: dict[str, Any]
    args: list[str] = field(default_factory=list)
    changed: dict[str, None] = field(default_factory=dict)
    actual: list[tuple[str, str]] = field(default_factory=list)
    dash: int = -1

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def parse(
    argv: Iterable[str],
    flags: Iterable[Flag],
    command: str,
    warn: Callable[[str], object] = lambda text: None,
) -> Parsed:
    """Parse what follows the command's name; `warn` is told of flags on their way out.

    Raises FlagError, and CommandError for required flags that are missing.
    """
    specs = [*flags, *COMMON]
    formal = {spec.name: spec for spec in reversed(specs)}
    shorts = {spec.short: spec for spec in reversed(specs) if spec.short}
    parsed = Parsed({spec.name: spec.default for spec in formal.values()})
    specs = specs[: -len(COMMON)]
    rest = list(argv)
    while rest:
        token = rest.pop(0)
        if token == "--":
            parsed.dash = len(parsed.args)
            parsed.args += rest
            break
        before = len(parsed.actual)
        if token.startswith("--"):
            _long(token[2:], rest, formal, parsed, command)
        elif token.startswith("-") and len(token) > 1:
            _short(token[1:], rest, shorts, parsed, command)
        else:
            parsed.args.append(token)
        for name, _ in parsed.actual[before:]:
            if formal[name].deprecated:
                warn(f"Flag --{name} has been deprecated, {formal[name].deprecated}\n")
    missing = [
        spec.name
        for spec in formal.values()
        if spec.required and spec.name not in parsed.changed
    ]
    if "help" in parsed.changed:
        raise ErrHelp(command, specs)
    if missing:
        raise CommandError(
            "required flag(s) "
            + ", ".join(f'"{name}"' for name in sorted(missing))
            + " not set"
        )
    return parsed


def _long(
    text: str, rest: list[str], formal: dict[str, Flag], parsed: Parsed, command: str
) -> None:
    name, equals, value = text.partition("=")
    spec = formal.get(name)
    if spec is None:
        raise FlagError(f"unknown flag: --{name}", command)
    if not equals:
        if spec.bare is not None:
            value = spec.bare
        elif rest:
            value = rest.pop(0)
        else:
            raise FlagError(f"flag needs an argument: --{name}", command)
    _set(spec, value, parsed, command)


def _short(
    text: str, rest: list[str], shorts: dict[str, Flag], parsed: Parsed, command: str
) -> None:
    while text:
        letter, after = text[0], text[1:]
        spec = shorts.get(letter)
        if spec is None:
            raise FlagError(f"unknown shorthand flag: '{letter}' in -{text}", command)
        if after.startswith("="):
            value, text = after[1:], ""
        elif spec.bare is not None:
            value, text = spec.bare, after
        elif after:
            value, text = after, ""
        elif rest:
            value, text = rest.pop(0), ""
        else:
            raise FlagError(f"flag needs an argument: '{letter}' in -{text}", command)
        _set(spec, value, parsed, command)


def _set(spec: Flag, value: str, parsed: Parsed, command: str) -> None:
    first = spec.name not in parsed.changed
    parsed.changed.setdefault(spec.name)
    parsed.actual.append((spec.name, value))
    try:
        if spec.kind == "slice":
            items = read_as_csv(value)
            parsed.values[spec.name] = (
                items if first else (*parsed.values[spec.name], *items)
            )
        elif spec.kind == "map":
            pairs = dict(pair(part) for part in value.split(",")) if value else {}
            parsed.values[spec.name] = (
                pairs if first else {**parsed.values[spec.name], **pairs}
            )
        elif spec.kind == "array":
            parsed.values[spec.name] = (
                (value,) if first else (*parsed.values[spec.name], value)
            )
        else:
            parsed.values[spec.name] = _scalar(spec.kind, value)
    except ValueError as error:
        flag_name = f"-{spec.short}, --{spec.name}" if spec.short else f"--{spec.name}"
        raise FlagError(
            f'invalid argument {go_quote(value)} for "{flag_name}" flag: {error}',
            command,
        ) from None


_TRUE, _FALSE = (
    {"1", "t", "T", "TRUE", "true", "True"},
    {"0", "f", "F", "FALSE", "false", "False"},
)


def _scalar(kind: str, value: str) -> Any:
    if kind == "string":
        return value
    if kind == "bool":
        if value in _TRUE or value in _FALSE:
            return value in _TRUE
        raise ValueError(f'strconv.ParseBool: parsing "{value}": invalid syntax')
    if kind == "duration":
        return parse_duration(value)
    return parse_int(value, 32 if kind == "int32" else 64, base=0)


def dry_run_strategy(parsed: Parsed, warn: Callable[[str], object]) -> str:
    """`none`, `client` or `server`; `warn` is told of older ways to say it. Raises
    CommandError for anything else.
    """
    value = str(parsed["dry-run"])
    if value in ("none", "client", "server"):
        return value
    if value == DRY_RUN.bare:
        _deprecated(
            "--dry-run is deprecated and can be replaced with --dry-run=client.",
            719,
            warn,
        )
        return "client"
    if value not in _TRUE and value not in _FALSE:
        raise CommandError(
            f'Invalid dry-run value ({value}). Must be "none", "server", or "client".'
        )
    meant = "client" if value in _TRUE else "none"
    text = (
        f"--dry-run={value} is deprecated (boolean value) and can be replaced with"
        f" --dry-run={meant}."
    )
    _deprecated(text, 733 if value in _TRUE else 736, warn)
    return meant


def _deprecated(text: str, line: int, warn: Callable[[str], object]) -> None:
    warn(
        plain_klog_line(
            text, source=f"helpers.go:{line}", now=Clock().now(), severity="W"
        )
    )


def validation_directive(parsed: Parsed) -> str:
    """What the server is to do with unknown and repeated fields: `Strict`, `Warn` or
    `Ignore`. Raises CommandError for anything else.
    """
    value = parsed["validate"]
    known = {"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}
    known |= dict.fromkeys(_TRUE, "Strict") | dict.fromkeys(_FALSE, "Ignore")
    if value not in known:
        raise CommandError(
            f"invalid - validate option {go_quote(value)}; must be one of: strict (or"
            " true), warn, ignore (or false)"
        )
    return known[value]
