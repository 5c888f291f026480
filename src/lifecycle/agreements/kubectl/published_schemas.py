"""What kubectl makes of the published schemas, held against the real one: the patches
of `apply`, and the texts of `explain`.

A real kubectl applied a manifest, somebody else changed the object, and it applied
another one; `-v=8` showed the patch. The object as it was in between is put into a
server of ours, and our kubectl applies the same manifest to it. What a patch has to say
depends on the schema: which lists are known by a key, which are sets, which are one
value.
"""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
from typing import Any

from lifecycle.agreements.apiserver.resource_handling import (
    ADMIN,
    definition,
    on_a_server,
)
from lifecycle.api.http.wire import Object, Request
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster.command_line import Wiretap
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.inspector.opening import recordings_directory
from lifecycle.kubectl.command import run_kubectl

NAMESPACE = "schemas-kubectl-v1-36-4"
"""Where the real one applied: the name stands in the annotation that it left."""
PLURALS = {
    "Deployment": "deployments",
    "ConfigMap": "configmaps",
    "Service": "services",
    "Shirt": "shirts",
}
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CREATED = "/api/v1/namespaces"
DEFINED = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"


class _Scene:
    def __init__(self, server: GenericAPIServer, admin: Client) -> None:
        self.admin = admin
        self.tap = Wiretap(server.in_process_transport(ADMIN))

    async def play(self, programs: ProgramAnswers) -> dict[str, Any]:
        """Our answers, by the name of the question."""
        namespace: Object = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE},
        }
        await self.admin.request("POST", CREATED, obj=namespace)
        shirts = definition("schemas.example.com", "Shirt", ANYTHING)
        await self.admin.request("POST", DEFINED, obj=shirts)
        await asyncio.sleep(2)
        ours: dict[str, Any] = {}
        for question, each in programs.answers.items():
            how, _, what = question.partition("/")
            if how == "apply":
                ours[question] = await self.applied(each.answer)
            elif how == "explain":
                ours[question] = await self.typed("explain", *what.split())
        return ours

    async def typed(self, *line: str) -> Object:
        """One line of our kubectl: what came of it."""
        out, err = io.StringIO(), io.StringIO()
        client = Client(self.tap, "kubectl")
        code = await run_kubectl(list(line), client, out=out, err=err)
        return {"exit": code, "out": out.getvalue(), "err": err.getvalue()}

    async def applied(self, answer: Object) -> Object:
        """The patch of one case."""
        current = answer["current"]
        group, _, version = current["apiVersion"].rpartition("/")
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = f"{root}/namespaces/{NAMESPACE}/{PLURALS[current['kind']]}"
        await self.admin.request("POST", path, obj=current)
        self.tap.heard.clear()
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(answer["after"], file)
            file.flush()
            done = await self.typed("apply", "-n", NAMESPACE, "-f", file.name)
        patch = next((r for r, _ in self.tap.heard if r.method == "PATCH"), None)
        free = {"metadata": {"finalizers": None}}
        await self.admin.request("PATCH", f"{path}/thing", obj=free, content_type=MERGE)
        await self.admin.request("DELETE", f"{path}/thing")
        return {**_sent(patch), "out": done["out"]}


def _sent(patch: Request | None) -> Object:
    if patch is None:
        return {"patch": None, "type": ""}
    body = patch.obj if patch.obj is not None else json.loads(patch.body)
    return {"patch": body, "type": patch.headers["content-type"]}


def published_schemas_agreement(
    programs: ProgramAnswers | None = None,
) -> AgreementTable:
    """A row for each patch, and one for each text. `programs`: what the real kubectl
    did; None: as recorded.
    """
    if programs is None:
        programs = newest_programs(recordings_directory())
    answers = programs
    ours = on_a_server(lambda server, admin: _Scene(server, admin).play(answers))
    table = AgreementTable(
        "Published schemas",
        "lifecycle",
        f"{programs.answers['explain/service.spec.type'].program}, asked directly",
        _opening,
    )
    for question, mine in ours.items():
        how, _, what = question.partition("/")
        theirs = {key: programs[question][key] for key in mine}
        here, there = (_shown(side) for side in (mine, theirs))
        table.add(how, what, here, there, compare(mine, theirs))
    return table


def _shown(answer: Object) -> str:
    if "patch" in answer:
        return "a patch" if answer["patch"] else "no patch"
    return f"{len(answer['out'].splitlines())} lines"


def _opening(table: AgreementTable) -> str:
    applied = sum(row.stage == "apply" for row in table.computed)
    return (
        f"{applied} manifests applied by a real kubectl and by ours to the same"
        f" objects, and {len(table.computed) - applied} fields explained by both:"
        f" {table.outcome('patches and texts')}."
    )
