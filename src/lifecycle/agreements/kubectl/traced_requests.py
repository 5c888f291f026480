"""The requests in a recorded `-v=8` or `-v=9` trace: what kubectl put on the wire, read
back from what it printed.

Two dialects are understood: that of 1.36 (structured log lines, `"Request" verb=… url=…
headers=<…>` or a curl command) and that of 1.20 (`GET https://…`, `Request Headers:`,
`Request Body: …`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

_START = re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ \S+\] ", re.MULTILINE)
_CURL = re.compile(
    r"curl (?:-k )?-v -X(?P<method>\w+) (?P<headers>.*?) '(?P<url>[^']+)'"
)
_HEADER = re.compile(r'-H "(?P<name>[^:"]+): (?P<value>(?:[^"\\]|\\.)*)"')
_VERB = re.compile(r'"Request" verb="(?P<method>\w+)" url="(?P<url>[^"]+)"')
_OLD = re.compile(r"(?P<method>[A-Z]+) (?P<url>https?://\S+)$")
_OLD_HEADER = re.compile(r" {4}(?P<name>[A-Za-z-]+): (?P<value>.*)")
_DUMP = re.compile(r"\s*[0-9a-f]{8}  (?P<hex>[0-9a-f ]+?)\s*\|")


@dataclass(slots=True, frozen=True)
class Traced:
    """One request as a trace shows it. `body` is what was sent: bytes of protobuf, text
    of JSON, or nothing.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def line(self) -> str:
        """`METHOD path`."""
        return f"{self.method} {self.path}"


def traced_requests(err: str) -> list[Traced]:
    """All requests in the stderr of a traced command, in order. Headers have lower-case
    names.
    """
    requests: list[Traced] = []
    body = b""
    heading = False
    headers: dict[str, str] = {}
    for part in _parts(err):
        if part.startswith(('"Request Body"', "Request Body: ")):
            body = _body(part)
        elif (curl := _CURL.search(part)) and (
            "curlCommand=" in part or part.startswith("curl")
        ):
            named = {
                m["name"].lower(): m["value"].replace('\\"', '"')
                for m in _HEADER.finditer(curl["headers"])
            }
            requests.append(_traced(curl["method"], curl["url"], named, body))
            body = b""
        elif verb := _VERB.match(part):
            named = dict(
                _named(line) for line in part.splitlines()[1:] if line.startswith("\t")
            )
            requests.append(_traced(verb["method"], verb["url"], named, body))
            body = b""
        elif old := _OLD.match(part.strip()):
            headers = {}
            requests.append(_traced(old["method"], old["url"], headers, body))
            body = b""
        elif part.startswith("Request Headers:"):
            heading = True
        elif heading and (header := _OLD_HEADER.match(part)):
            headers[header["name"].lower()] = header["value"].strip()
        else:
            heading = False
    return requests


def _parts(err: str) -> list[str]:
    return _START.split(err)[1:]


def _named(line: str) -> tuple[str, str]:
    name, _, value = line.strip().partition(": ")
    return name.lower(), value


def _traced(method: str, url: str, headers: dict[str, str], body: bytes) -> Traced:
    parts = urlsplit(url)
    return Traced(method, parts.path, dict(parse_qsl(parts.query)), headers, body)


def _body(part: str) -> bytes:
    if part.startswith("Request Body: "):
        return part.removeprefix("Request Body: ").strip().encode()
    text = part.removeprefix('"Request Body" body=').strip()
    if text.startswith('"'):
        return str(json.loads(text)).encode()
    lines = text.removeprefix("<").removesuffix(">").strip("\n").splitlines()
    dumped = [match for match in map(_DUMP.match, lines) if match]
    if dumped:
        return bytes.fromhex("".join(match["hex"] for match in dumped))
    return "\n".join(line.removeprefix("\t") for line in lines).strip().encode()
