"""Expressions of Kubernetes' own CEL libraries, and how a real API server is asked for their values.

Each is the rule of one field of a custom resource: an object with all these fields is refused for those whose rule is false, or
cannot be evaluated, and why. They stand with their values in `cel_answers.json`; `KUBE_BIN=… python -m tests.apiserver.cel_expressions`
asks for all of them again: for a new one write `null`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.differential.player import Target
from tests.differential.servers import HTTPTarget, ask_real_server

ANSWERS = Path(__file__).parent / "cel_answers.json"
GROUP, CRD = "cel.example.com", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AT_ONCE = 30
"""So many rules a definition may have before it is too costly."""


def definition(name: str, expressions: dict[str, str]) -> dict[str, Any]:
    """A custom resource each of whose fields has an expression for its rule."""
    fields = {
        field: {"type": "string", "x-kubernetes-validations": [{"rule": rule}]} for field, rule in expressions.items()
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    names = {"plural": name, "singular": name, "kind": name.title(), "listKind": f"{name.title()}List"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": GROUP, "names": names, "scope": "Cluster", "versions": [version]}
    meta = {"name": f"{name}.{GROUP}"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


async def values(target: Target, name: str, expressions: dict[str, str]) -> dict[str, Any]:
    """True, false, or what it says of the expression."""

    async def ask(path: str, document: Any = None) -> tuple[int, Any]:
        body = b"" if document is None else json.dumps(document).encode()
        code, _, text = await target.request(
            "POST" if body else "GET", path, {"Content-Type": "application/json"}, body
        )
        return code, json.loads(text) if text.startswith(b"{") else {}

    code, said = await ask(CRD, definition(name, expressions))
    if code != 201:
        refused = [
            (cause["field"].partition("[spec].properties[")[2], cause["message"]) for cause in said["details"]["causes"]
        ]
        causes = {where.partition("]")[0]: what for where, what in refused if where}
        left = {field: rule for field, rule in expressions.items() if field not in causes}
        return causes | await values(target, name, left)
    path = f"/apis/{GROUP}/v1/{name}"
    while (await ask(path))[0] != 200:  # noqa: ASYNC110  it is not served yet, and another program tells nobody
        await asyncio.sleep(0.2)
    kind = {"apiVersion": f"{GROUP}/v1", "kind": name.title(), "metadata": {"name": "x"}}
    code, said = await ask(path, {**kind, "spec": dict.fromkeys(expressions, "")})
    causes = {
        cause["field"].removeprefix("spec."): cause["message"]
        for cause in (said.get("details") or {}).get("causes", ())
    }
    assert code == 201 or causes, said
    return {
        field: False if "failed rule" in causes.get(field, "") else causes.get(field, True) for field in expressions
    }


async def answers(target: HTTPTarget) -> dict[str, Any]:
    """To all that are kept."""
    said: dict[str, Any] = {}
    expressions = list(json.loads(ANSWERS.read_text()))
    for first in range(0, len(expressions), AT_ONCE):
        asked = {f"f{number}": rule for number, rule in enumerate(expressions[first : first + AT_ONCE])}
        by_field = await values(target, f"things{first}", asked)
        said |= {rule: by_field[field] for field, rule in asked.items()}
        print(len(said), flush=True)
    return said


if __name__ == "__main__":
    ANSWERS.write_text(json.dumps(ask_real_server(answers), indent=0, ensure_ascii=False) + "\n")
