"""What a kubectl sends and what it tells of it, held against a real one: the headers
that arrive at the other end, and every line that `-v=6` to `-v=9` print.

The real one was called with several kubeconfigs and flags, and a server on loopback
kept what came. Ours is called with the same ones, over a real TLS connection, too. What
differs from run to run is replaced on both sides: ports, times, versions, the
identifier of a session. Go writes the headers of a `curl` command in any order. In
which source file a line was written is not compared: ours has other files.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request
from lifecycle.cluster.outside_services import LoopbackService
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.inspector.opening import recordings_directory
from lifecycle.kubectl.main import main as kubectl

VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.2"}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEPLOYMENT = {
    "kind": "Deployment",
    "apiVersion": "apps/v1",
    "metadata": {"name": "web", "creationTimestamp": "2026-11-26T12:00:00Z"},
    "spec": {"selector": {}, "template": {"metadata": {}, "spec": {"containers": []}}},
    "status": {},
}
GONE = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "there is no such thing",
    "reason": "NotFound",
    "details": {},
    "code": 404,
}
AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;charset=utf-8"
)
WORLD, HALF = "/world", "/half"
"""Paths below which there is a server with several groups, which it tells at once; and
one that has no core group.
"""


def _group(name: str, plural: str, kind: str, short: str, **more: str) -> Object:
    served = {
        "resource": plural,
        "responseKind": {"group": name, "version": "v1", "kind": kind},
        "scope": "Namespaced",
        "singularResource": kind.lower(),
        "shortNames": [short],
        "verbs": ["get", "list"],
    }
    version = {"version": "v1", "resources": [served], "freshness": "Current", **more}
    return {"metadata": {"name": name}, "versions": [version]}


def _discovered(*groups: Object) -> Object:
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": list(groups),
    }


def _widgets(group: str) -> tuple[str, Object]:
    what = {"apiVersion": f"{group}/v1", "kind": "Widget"}
    item = {**what, "metadata": {"name": group.partition(".")[0]}}
    listed = {**what, "kind": "WidgetList", "metadata": {}, "items": [item]}
    return f"/apis/{group}/v1/namespaces/default/widgets", listed


SHAPES, COLORS = "shapes.example.com", "colors.example.com"
SERVED: dict[str, Object] = {
    "/api": _discovered(_group("", "pods", "Pod", "po")),
    "/apis": _discovered(
        _group(SHAPES, "widgets", "Widget", "w"),
        _group(COLORS, "widgets", "Widget", "w"),
        _group("plants.example.com", "weeds", "Weed", "w"),
        _group("late.example.com", "wheels", "Wheel", "wh", freshness="Stale"),
    ),
    **dict(map(_widgets, (SHAPES, COLORS))),
}
WORLDS = (WORLD, HALF)
FILES = {"token": "of a file", "empty": ""}
"""Files beside the kubeconfig."""
TELLING = (
    "accept", "authorization", "content-type", "user-agent", "kubectl-command",
    "kubectl-session", "impersonate-user", "impersonate-group", "impersonate-uid",
    "impersonate-extra-scopes",
)  # fmt: skip
"""Headers that are kubectl's own; others are its HTTP library's."""
_HEAD = re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ (\w+\.go):\d+\] ", re.MULTILINE)
_ASIDE = ("envvar.go", "feature_gate.go")
"""Sources of lines about switches that only Go's client library has."""
_SAME = (
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"kubectl[\w.-]*/v?[^\s\"\\]+ \([^)]*\) kubernetes/[\w$]+"), "KUBECTL"),
    (re.compile(r"(?m)^(\s*Date: ).*$"), r"\1TODAY"),
    (re.compile(r"\w{8}-\w{4}-\w{4}-\w{4}-\w{12}"), "IDENTIFIER"),
    (re.compile(r'(?:"\S*|\S+)/config\b'), "CONFIG"),
    (re.compile(r"illiseconds=\d+"), "illiseconds=N"),
    (re.compile(r"(my-app|our-app)-[b-df-hj-np-tv-xz2456789]{5}\b"), r"\1-SUFFIX"),
)
_CURL_HEADER = re.compile(r'-H "(?:[^"\\]|\\.)*"')


class Listener(LoopbackService):
    """Has a version, and takes one Deployment; and below a path, there is a world."""

    def content_type(self, obj: Any) -> str:
        """Discovery all at once is called by its own name."""
        told = obj.get("kind") == "APIGroupDiscoveryList"
        return AGGREGATED if told else super().content_type(obj)

    def answer(self, request: Request) -> tuple[int, Any]:
        """Its version, always the same Deployment, or that there is no such thing."""
        known = {"/version": (200, VERSION), DEPLOYMENTS: (201, DEPLOYMENT)}
        where = next((w for w in WORLDS if request.path.startswith(f"{w}/")), "")
        path = request.path.removeprefix(where)
        if where and path in SERVED:
            if (where, path) == (HALF, "/api"):
                return 404, GONE
            return 200, SERVED[path]
        return known.get(request.path, (404, GONE))


def write_kubeconfig(
    service: LoopbackService, user: dict[str, Any], where: str, home: str
) -> Path:
    """A file for such a user of the service, and what it may name beside it."""
    for name, text in FILES.items():
        Path(home, name).write_text(text)
    config = Path(home, "config")
    config.write_text(kubeconfig(service, user, where))
    return config


def kubeconfig(service: LoopbackService, user: dict[str, Any], where: str = "") -> str:
    """A file for such a user of the service. `where`: the path of its server."""
    ca = base64.b64encode(service.authority.ca_pem).decode()
    cluster = {"server": f"{service.url}{where}", "certificate-authority-data": ca}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "a", "cluster": cluster}],
            "users": [{"name": "a", "user": user}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
        }
    )


def same_words(text: str) -> str:
    """What differs from run to run, replaced."""
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return text


def lines_of(err: str) -> list[str]:
    """The lines of a log; in front whatever was printed before."""
    parts = _HEAD.split(err)
    told = [parts[0]] if parts[0] else []
    for source, text in zip(parts[1::2], parts[2::2], strict=True):
        if source not in _ASIDE:
            told.append(_sorted_curl(same_words(text)).rstrip())
    return told


def _sorted_curl(text: str) -> str:
    headers = iter(sorted(_CURL_HEADER.findall(text)))
    return _CURL_HEADER.sub(lambda _: next(headers), text)


def arrived(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """What came, as it is compared: discovery asks several things at once, in any
    order.
    """
    return [
        {
            "asked": f"{request.method} {request.path}",
            "query": dict(request.query),
            "headers": {
                name: same_words(request.headers[name])
                for name in TELLING
                if name in request.headers
            },
        }
        for request in sorted(requests, key=lambda request: request.path)
    ]


async def asked(
    user: dict[str, Any], flags: Sequence[str], where: str = ""
) -> dict[str, Any]:
    """Our kubectl, called like this."""
    out, err = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as home:
        async with Listener() as service:
            config = await asyncio.to_thread(
                write_kubeconfig, service, user, where, home
            )
            argv = [f"--kubeconfig={config}", *flags]
            code = await kubectl(argv, out=out, err=err, environ={"HOME": home})
            requests = arrived(service.requests)
    return {
        "exit": code,
        "arrived": requests,
        "out": same_words(out.getvalue()),
        "told": lines_of(err.getvalue()),
    }


def _asked(call: dict[str, Any]) -> Any:
    return asked(call["user"], call["flags"], call.get("where", ""))


def told_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each call. `programs`: what the real one did; None: as recorded."""
    if programs is None:
        programs = newest_programs(recordings_directory())
    calls = [e for name, e in programs.answers.items() if name.startswith("told/")]
    table = AgreementTable(
        "What kubectl tells",
        "lifecycle",
        f"{calls[0].program}, asked directly",
        lambda table: (
            f"{len(calls)} calls of a real kubectl and of ours, with several users and"
            " flags, `-v=6` to `-v=9` among them. What arrives at the server, and every"
            f" line that they print about it: {table.outcome('calls')}."
        ),
    )
    for each in calls:
        ours = on_a_loop(_asked(each.answer))
        theirs = {key: each.answer[key] for key in ours}
        here, there = (" · ".join(_short(side)) for side in (ours, theirs))
        what = each.question.partition("/")[2]
        table.add("kubectl", what, here, there, compare(ours, theirs))
    return table


def _short(answer: dict[str, Any]) -> Iterator[str]:
    for request in answer["arrived"]:
        signed = request["headers"].get("authorization", "")
        yield f"{request['asked']} {signed}".strip()
    yield f"{len(answer['told'])} lines"
