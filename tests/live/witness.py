"""What came of a scene: the objects that are left, and the writes that controllers made on the way.

Objects go through the project's normaliser, siblings are paired, and every field is compared. Writes come from the API server's
audit log, so they were counted by one that did not know who works for it.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import all_resources, resource
from lifecycle.client.rest import Client
from lifecycle.compare.compare import Difference, compare
from lifecycle.compare.normalise import Normaliser
from lifecycle.compare.pairing import pair_siblings

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
"""
_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]{5}"
GENERATED = re.compile(rf"(?<=[a-z0-9])-(?:[0-9a-f]{{6,10}}(?:-{_RANDOM})?|{_RANDOM})(?![a-z0-9-])")
"""The end of a name that a controller made up: a template's hash, a random word, or both."""
NOT_LISTED = frozenset({"leases.coordination.k8s.io", "events", "events.events.k8s.io"})
"""Events are told in a form of their own."""
SLICES = "endpointslices.discovery.k8s.io"
REPEATED = frozenset({"update", "patch", "deletecollection"})
SLACK = 3
CONFLICT = "the object has been modified; please apply your changes to the latest version and try again"
MADE_BEFORE = re.compile(r'Failed to create endpoint for service \S+: endpoints "[^"]+" already exists')
"""Said by an endpoints controller that looks again before its cache knows what it has made itself, which is soon when etcd is fast;
the real one says it, too."""
NODE_SIDE = frozenset({"kubelet", "default-scheduler", "kube-proxy"})
"""Whose events are not a controller's."""

Write = tuple[str, str, str, str, int]
"""Account, verb, resource with its subresource, name, status code."""
Told = tuple[str, str, str, str, str]
"""Component, kind and name of whom an event is about, reason, message."""


@dataclass(slots=True)
class Outcome:
    """Of one scene: what is left, `lists` by resource; `writes` with how often each was made; the `events` that were told."""

    lists: dict[str, Object] = field(default_factory=dict)
    writes: Counter[Write] = field(default_factory=Counter)
    events: Counter[Told] = field(default_factory=Counter)
    error: str = ""
    """Why the scene did not end."""


async def objects(client: Client, namespace: str, beside: Sequence[str] = ()) -> dict[str, Object]:
    """Everything in a namespace, list by list, and the cluster's objects that carry its name."""
    lists = {}
    for row in all_resources():
        name = f"{row.plural}.{row.group}".rstrip(".")
        if name in NOT_LISTED or "list" not in row.verbs:
            continue
        if row.namespaced:
            answer = await client.list(row, namespace)
        elif name in beside:
            answer = await client.list(row)
            mine = [o for o in answer["items"] if o["metadata"]["name"].startswith(namespace)]
            answer = {**answer, "items": mine}
        else:
            continue
        if answer["items"]:
            lists[name] = answer
    return lists


def writes(log: Path, accounts: Sequence[str]) -> dict[str, Counter[Write]]:
    """What these users wrote, by namespace; what is in none stands under its own name."""
    made: dict[str, Counter[Write]] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        user, about = event["user"]["username"], event.get("objectRef")
        if about is None or about["resource"] == "events" or not user.startswith(tuple(accounts)):
            continue
        what = ".".join(part for part in (about["resource"], about.get("apiGroup", "")) if part)
        if about.get("subresource"):
            what += f"/{about['subresource']}"
        name = GENERATED.sub("-…", about.get("name", ""))
        where = about.get("namespace") or about.get("name", "")
        write = (user.rpartition(":")[2], event["verb"], what, name, event.get("responseStatus", {}).get("code", 0))
        made.setdefault(where, Counter())[write] += 1
    return made


async def events(client: Client, namespace: str, components: frozenset[str] = frozenset()) -> Counter[Told]:
    """What these components (left out: the controllers) told of a namespace's objects.

    How often the same was told is a matter of retries, and not counted.
    """
    answer = await client.list(resource("events"), namespace)
    told: set[Told] = set()
    for event in answer["items"]:
        about, component = (
            event["involvedObject"],
            event.get("reportingComponent") or event["source"].get("component", ""),
        )
        if component not in components if components else component in NODE_SIDE:
            continue
        who, message = (GENERATED.sub("-…", text) for text in (about.get("name", ""), event["message"]))
        told.add((component, about["kind"], who, f"{event['type']} {event['reason']}", message))
    return Counter(told)


def readable(lists: dict[str, Object]) -> dict[str, Object]:
    """What depends on the cluster's keys, or on a hash over uids, in a form that can be compared."""
    shown = dict(lists)
    for secret in (secrets := json.loads(json.dumps(lists.get("secrets", {"items": []}))))["items"]:
        if "token" in (secret.get("data") or {}):
            claims = base64.b64decode(secret["data"]["token"]).split(b".")[1]
            secret["data"]["token"] = json.loads(base64.urlsafe_b64decode(claims + b"=="))
            secret["data"]["ca.crt"] = base64.b64decode(secret["data"]["ca.crt"])[:27].decode()
    if secrets["items"]:
        shown["secrets"] = secrets
    for endpoints in (answer := json.loads(json.dumps(lists.get("endpoints", {"items": []}))))["items"]:
        endpoints.get("subsets", []).sort(key=lambda subset: json.dumps(subset.get("ports")))
    if answer["items"]:
        shown["endpoints"] = answer
    # A slice's generation says how often it was written, so it says how many pods one look has seen: `unwritten` counts the writes.
    for endpoint_slice in (slices := json.loads(json.dumps(lists.get(SLICES, {"items": []}))))["items"]:
        del endpoint_slice["metadata"]["generation"]
    if slices["items"]:
        shown[SLICES] = slices
    return shown


def differences(ours: Outcome, theirs: Outcome) -> list[Difference]:
    """Where the objects that are left differ, field by field."""
    shown: list[dict[str, Any]] = []
    for side in (ours, theirs):
        lists = readable(side.lists)
        normaliser = Normaliser().learn(*lists.values())
        shown.append({name: normaliser.normalise(answer) for name, answer in lists.items()})
    bijection = pair_siblings(shown[0].values(), shown[1].values())
    different: list[Difference] = []
    for name in sorted({*shown[0], *shown[1]}):
        pair = [side.get(name) for side in shown]
        there: Object = pair[0] or pair[1] or {}
        mine, yours = (answer or {**there, "items": []} for answer in pair)
        different += compare(mine, yours, bijection, name).differences
    return different


AS_IT_IS = ("statefulset-controller", "update", "pods")


def untold(ours: Outcome, theirs: Outcome) -> list[str]:
    """Events that only one side told. A conflict is nobody's decision: who loses a race is retried."""
    sides = (("ours", ours.events - theirs.events), ("theirs", theirs.events - ours.events))
    return [f"{side} only: {told}" for side, events in sides for told in sorted(events) if not _lost_race(told)]


def _lost_race(told: Told) -> bool:
    made_before = told[0] == "endpoint-controller" and MADE_BEFORE.fullmatch(told[-1]) is not None
    as_it_is = (told[0], told[3]) == (AS_IT_IS[0], "Normal SuccessfulUpdate")
    return CONFLICT in told[-1] or made_before or as_it_is


def of_a_namespace_that_ends(made: Counter[Write]) -> Counter[Write]:
    """Without the garbage collector's deletes of what the namespace controller clears out as a whole: both are after the same
    objects, and who comes first is chance.
    """
    cleared = {what for who, verb, what, *_ in made if (who, verb) == ("namespace-controller", "deletecollection")}
    late = ("generic-garbage-collector", "delete")
    return Counter({write: count for write, count in made.items() if write[:2] != late or write[2] not in cleared})


def unwritten(ours: Outcome, theirs: Outcome) -> list[str]:
    """Writes that one side made and the other did not, or not as often.

    Creates and deletes are counted. How often a status is brought up to date depends on how many changes one look has seen; there
    a side may have needed twice as many as the other and `SLACK` more. Refused writes are retries, and the next one counts. A
    StatefulSet's pod is written once, as it is, when its claims were given their owners; whoever is refused then (its kubelet was
    quicker) finds nothing left to do.
    """
    different = []
    for write in sorted({*ours.writes, *theirs.writes}):
        who, verb, what, name, code = write
        mine, yours = ours.writes[write], theirs.writes[write]
        few, many = sorted((mine, yours))
        if code >= 400 or mine == yours or (write[:3] == AS_IT_IS and many == 1):
            continue
        repeated = verb in REPEATED or (who, verb) == ("generic-garbage-collector", "delete")
        if not few or not repeated or many > 2 * few + SLACK:
            different.append(f"{who} {verb} {what} {name}: ours {mine}×, theirs {yours}×")
    return different
