"""What counts of an answer: everything but what chance and clock decide.

Each pattern stands for one thing that two servers, or one server twice, cannot have in common: uids, times, revisions, addresses and
ports taken from a range, random ends of names, tokens. Nothing else is masked.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lifecycle.api.protobuf import decode, decode_watch_frames, is_protobuf

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_PATTERNS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r'(resourceVersion\\*":\\*")\d+'), r"\1REVISION"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-NAME"),
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "TOKEN"),
    (re.compile(r"X509SHA256=[0-9a-f]{64}"), "X509SHA256=HASH"),
    (re.compile(r"(ResourceVersion in record \()\d+"), r"\1REVISION"),
    (re.compile(r"(ResourceVersion in object meta: )\d+"), r"\1REVISION"),
)
_GENERATE_NAME = re.compile(r'"generateName": ?("(?:[^"\\]|\\.)*")')
_SERVICE_IP = re.compile(r"\b10\.96\.\d+\.\d+\b")
_NODE_PORT = re.compile(r"\b3[012]\d{3}\b")
_ANYTHING = re.compile(
    "|".join(each.pattern for each in (*(pattern for pattern, _ in _PATTERNS), _TIME, _SERVICE_IP, _NODE_PORT))
)
"""In most texts there is nothing of all that; who looks once need not look ten times."""
_REVISIONS = ("resourceVersion", "continue", "shardInfo")


def settled(status: int, headers: dict[str, str], body: bytes, sent: str) -> Any:
    """The answer as data. `sent`: the request's body, whose own times, addresses and ports are no chance."""
    if status == 0:
        return {"status": 0}
    warning = headers.get("Warning", "")
    return {
        "status": status,
        **({"warning": _settle(warning, sent)} if warning else {}),
        "body": _settle(_parsed(body, headers), sent),
    }


def _parsed(body: bytes, headers: dict[str, str]) -> Any:
    content_type = headers.get("Content-Type", "")
    if "protobuf" in content_type:
        if "stream=watch" in content_type:
            return [{"type": type_, "object": obj} for type_, obj in decode_watch_frames(body)[0]]
        return {"protobuf": decode(body)} if is_protobuf(body) else base64.b64encode(body).decode()
    text = body.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return text


def _settle(value: Any, sent: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {_settle_text(name, sent, ""): _settle(part, sent, name) for name, part in value.items()}
    if isinstance(value, list) and key == "managedFields":
        return sorted((_settle(part, sent, key) for part in value), key=_manager)
    if isinstance(value, list):
        return [_settle(part, sent, key) for part in value]
    if key in _REVISIONS and value:
        return "REVISION"
    if key in ("nodePort", "healthCheckNodePort") and value and str(value) not in sent:
        return "NODE_PORT"
    if isinstance(value, str):
        return _settle_text(value, sent, key)
    return value


def _manager(entry: Any) -> str:
    """Who wrote, and how: the order of two writers is decided by the second they wrote in."""
    return json.dumps(
        [entry.get(key) for key in ("manager", "operation", "subresource")] if isinstance(entry, dict) else entry
    )


@lru_cache(maxsize=1)  # all texts of an answer follow each other
def _generated_names(sent: str) -> list[str]:
    """What names begin with whose end is left to the server."""
    return [json.loads(generated)[:58] for generated in _GENERATE_NAME.findall(sent)]


def _settle_text(text: str, sent: str, key: str) -> str:
    if key == "cells" and re.fullmatch(r"\d+s", text):
        return "AGE"
    generated_names = _generated_names(sent)
    if not generated_names and not _ANYTHING.search(text):
        return text
    for pattern, name in _PATTERNS:
        text = pattern.sub(name, text)
    for base in generated_names:
        for start in filter(None, (base, json.dumps(base)[1:-1])):
            text = re.sub(
                f"{re.escape(start)}[bcdfghjklmnpqrstvwxz2456789]{{5}}", lambda _, start=start: f"{start}RANDOM", text
            )
    text = _TIME.sub(lambda match: match[0] if match[0] in sent else "TIME", text)
    text = _SERVICE_IP.sub(lambda match: match[0] if match[0] in sent else "SERVICE_IP", text)
    if '"nodePort' in text or "nodePort:" in text:
        text = _NODE_PORT.sub(lambda match: match[0] if match[0] in sent else "NODE_PORT", text)
    return text


def differences(real: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where two answers are not the same, one line each."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted(real.keys() | ours.keys()):
            if key not in ours:
                yield f"{path}.{key}: only the real one: {_short(real[key])}"
            elif key not in real:
                yield f"{path}.{key}: only ours: {_short(ours[key])}"
            else:
                yield from differences(real[key], ours[key], f"{path}.{key}")
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for index, (one, other) in enumerate(zip(real, ours, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif type(real) is not type(ours) or real != ours:
        yield f"{path}: {_short(real)} | ours: {_short(ours)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else f"{text[:300]} … {text[-90:]}"
