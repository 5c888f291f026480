"""Reads `.proto` files: messages and their fields, enums, services; nothing else of the
language.

Names of nested types carry their outer ones (`ContainerMetadata.Kind`), fields of a
`oneof` count as the message's own. Everything keeps the order of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True, frozen=True)
class ProtoField:
    """`label` is `one`, `list` or `map`; the type of a map is its values'."""

    number: int
    name: str
    type: str
    label: str


@dataclass(slots=True, frozen=True)
class ProtoMethod:
    """One rpc; `streams` says whether its answer is a stream."""

    service: str
    name: str
    request: str
    response: str
    streams: bool


@dataclass(slots=True)
class ProtoFile:
    """What one file declares."""

    messages: dict[str, list[ProtoField]] = field(default_factory=dict)
    enums: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    methods: list[ProtoMethod] = field(default_factory=list)


OPTIONS = "options"
"""What braces are called that declare nothing."""

_OPEN = re.compile(r"(message|enum|service|oneof)\s+(\w+)\s*\{(\s*\})?")
_MAP = re.compile(r"map<\s*\w+,\s*([\w.]+)>\s+(\w+)\s*=\s*(\d+)")
_PLAIN = re.compile(r"(?:(optional|repeated)\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)")
_VALUE = re.compile(r"(\w+)\s*=\s*(-?\d+)")
_RPC = re.compile(
    r"rpc\s+(\w+)\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)\s*returns\s*\(\s*(stream\s+)?([\w.]+)\s*\)"
)


def read_proto(path: Path) -> ProtoFile:
    """One file. Raises FileNotFoundError."""
    declared = ProtoFile()
    around: list[tuple[str, str]] = []
    for line in _without_comments(path.read_text("utf-8")).splitlines():
        row = line.strip()
        if opened := _OPEN.match(row):
            around.append((opened[1], opened[2]))
            _declare(declared, around)
            if opened[3]:
                around.pop()
        elif row.startswith("}"):
            if around:
                around.pop()
        elif row:
            if around and around[-1][0] != OPTIONS:
                _read_row(declared, around, row)
            if row.endswith("{"):
                around.append((OPTIONS, ""))
    return declared


def _without_comments(text: str) -> str:
    return re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", text)


def _name(around: list[tuple[str, str]]) -> str:
    return ".".join(name for kind, name in around if kind not in ("oneof", OPTIONS))


def _declare(declared: ProtoFile, around: list[tuple[str, str]]) -> None:
    if around[-1][0] == "message":
        declared.messages[_name(around)] = []
    elif around[-1][0] == "enum":
        declared.enums[_name(around)] = []


def _read_row(declared: ProtoFile, around: list[tuple[str, str]], row: str) -> None:
    kind, name = around[-1][0], _name(around)
    if kind == "service":
        if rpc := _RPC.match(row):
            method = ProtoMethod(name, rpc[1], rpc[2], rpc[4], bool(rpc[3]))
            declared.methods.append(method)
    elif kind == "enum":
        if value := _VALUE.match(row):
            declared.enums[name].append((value[1], int(value[2])))
    elif entry := _MAP.match(row):
        rows = declared.messages[name]
        rows.append(ProtoField(int(entry[3]), entry[2], entry[1], "map"))
    elif plain := _PLAIN.match(row):
        label = "list" if plain[1] == "repeated" else "one"
        rows = declared.messages[name]
        rows.append(ProtoField(int(plain[4]), plain[3], plain[2], label))
