"""The audit log held against a real API server's: two policies, and what each keeps of
which request.

One policy has a rule of every sort – users, groups, verbs, names, subresources, paths,
stages left out –, the other keeps everything. Each row is one request: which events it
leaves, on which level, at which stages, with which objects in them.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.token_request import ISSUED_CREDENTIAL_ID
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.etcd.memory import MemoryStore

PASSING = ("auditID", "stageTimestamp", "requestReceivedTimestamp", "sourceIPs")
"""Of an event: what is another one each time."""
OF_OBJECTS = (
    *("uid", "resourceVersion", "creationTimestamp", "time"),
    *("token", "expirationTimestamp"),
)


def audit_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each request. `programs`: what the real one wrote; None: as
    recorded.
    """
    policies = asked(programs, "audited")
    table = AgreementTable(
        "What the audit log keeps",
        "lifecycle",
        f"{policies[0].program}, asked directly",
        _opening,
    )
    for each in policies:
        requests = each.answer["requests"]
        ours = our_events(each.answer["policy"], requests)
        for request, events in zip(requests, ours, strict=True):
            table.add(
                f"audit, policy of {each.question.partition('/')[2]}",
                request["what"],
                short(events),
                short(request["events"]),
                compare({"events": events}, {"events": request["events"]}),
            )
    return table


def _opening(table: AgreementTable) -> str:
    silent = sum(row.cluster == short([]) for row in table.computed)
    return (
        f"{len(table.computed)} requests to a real API server and to ours, under the"
        f" same two audit policies; {silent} of them leave no trace in the real log."
        f" Event by event, the same was kept: {table.outcome('requests')}."
    )


def short(events: list[Object]) -> str:
    """Levels and stages."""
    return ", ".join(f"{e['level']} {e['stage']}" for e in events) or "nothing"


def masked(event: Object) -> Object:
    """An event without what differs from run to run; of a user name and groups."""
    kept = {key: _without(value) for key, value in event.items() if key not in PASSING}
    notes = kept.get("annotations", {})
    if ISSUED_CREDENTIAL_ID in notes:
        notes[ISSUED_CREDENTIAL_ID] = notes[ISSUED_CREDENTIAL_ID].partition("=")[0]
    user = event.get("user", {})
    kept["user"] = {key: user[key] for key in ("username", "groups") if key in user}
    return kept


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without(v) for k, v in value.items() if k not in OF_OBJECTS}
    return [_without(each) for each in value] if isinstance(value, list) else value


def our_events(policy: Object, requests: list[Object]) -> list[list[Object]]:
    """The events that our server writes of each request."""

    async def scene(folder: Path) -> list[list[Object]]:
        file, log = folder / "policy.json", folder / "audit.log"
        file.write_text(json.dumps(policy))
        options = AuditOptions(policy_file=file, log_path=log)
        server = create_server_chain(MemoryStore(), audit=options)
        await server.start()
        try:
            written = []
            for request in requests:
                before = len(lines_of(log))
                user = request["user"], tuple(request["groups"])
                target = HandlerTarget(server, user)
                headers = {"Accept": "application/json", **request["headers"]}
                body = json.dumps(request["body"]).encode() if request["body"] else b""
                await target.request(request["method"], request["path"], headers, body)
                await asyncio.sleep(1.0)
                written.append(events_of(request["path"], lines_of(log)[before:]))
            return written
        finally:
            await server.stop()

    with TemporaryDirectory() as folder:
        return on_virtual_time(scene(Path(folder)))


def lines_of(log: Path) -> list[str]:
    """The lines that are finished."""
    return log.read_text().split("\n")[:-1]


def events_of(path: str, lines: list[str]) -> list[Object]:
    """The events of a path's requests, masked."""
    events = map(fast_json.loads, lines)
    return [masked(event) for event in events if event["requestURI"] == path]
