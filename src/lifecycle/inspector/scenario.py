"""A scenario: the list of questions put to a cluster.

The recorder puts them to a live cluster, the comparison puts the same ones to the
embedded cluster. Questions that repeat something an earlier answer said – a uid, a
resourceVersion, a page's token – do so by reference: `${4:/metadata/uid}` is the value
at that path in the answer to request 4, whatever it was *this* time. `derive` finds
those references in a recording by itself.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.unrecorded import (
    unrecorded_deletions,
    unrecorded_namespaces,
)

_FOLDER = Path(__file__).with_name("scenarios")
_REFERENCE = re.compile(r"\$\{(\d+):([^}]*)\}")
_REFERRED = frozenset({"uid", "resourceVersion", "continue", "token"})


@dataclass(slots=True, frozen=True)
class Step:
    """One thing to do: a request, waiting until everything has settled, or a kubectl
    command with the request it boils down to.

    `recorded=False` is preparation that leaves no line. `as_` is who asks: admin,
    anonymous, or token. `t` is when, in seconds since the first such step; None: as
    soon as the step before is done.
    """

    method: str = "GET"
    path: str = ""
    note: str = ""
    accept: str = "application/json"
    content_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    as_: str = "admin"
    recorded: bool = True
    settle: str = ""
    kubectl: str = ""
    file: str = ""
    number: int = -1
    t: float | None = None


@dataclass(slots=True, frozen=True)
class Scenario:
    """Named steps. `watches` are opened before the first of them; `creates` are the
    namespaces that the steps themselves make.
    """

    name: str
    steps: tuple[Step, ...]
    watches: tuple[str, ...] = ()
    creates: tuple[str, ...] = ()

    def in_namespace(self, namespace: str) -> Scenario:
        """The same questions about another namespace than `default`."""
        steps = []
        for step in self.steps:
            path = step.path.replace("/namespaces/default", f"/namespaces/{namespace}")
            path = path.replace(
                "metadata.namespace%3Ddefault", f"metadata.namespace%3D{namespace}"
            )
            text = json.dumps(step.body).replace(
                '"namespace": "default"', f'"namespace": "{namespace}"'
            )
            steps.append(dataclasses.replace(step, path=path, body=json.loads(text)))
        return dataclasses.replace(self, steps=tuple(steps))


def scenario_names() -> list[str]:
    """The scenarios that are kept as data."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load_scenario(name: str) -> Scenario:
    """Read `scenarios/<name>.yaml`. Raises InspectorError naming the ones there are."""
    file = _FOLDER / f"{name}.yaml"
    if not file.is_file():
        raise InspectorError(
            f"no scenario {name!r}; there are: {', '.join(scenario_names())}"
        )
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a tab has the slow one
    document = yaml.load(file.read_text(), Loader=loader)
    steps = [
        Step(**{("as_" if key == "as" else key): value for key, value in entry.items()})
        for entry in document["steps"]
    ]
    return Scenario(
        name,
        _numbered(steps),
        tuple(document.get("watches", ())),
        tuple(document.get("creates", ())),
    )


def derive(name: str, exchanges: Sequence[Exchange]) -> Scenario:
    """The scenario behind recorded exchanges, with references in place of values that
    earlier answers gave, at the recorded pace.
    """
    references: dict[str, str] = {}
    steps = [_namespace(namespace) for namespace in unrecorded_namespaces(exchanges)]
    deletions = unrecorded_deletions(exchanges)
    for exchange in exchanges:
        if exchange.n in deletions:
            steps.append(Step("DELETE", deletions[exchange.n], recorded=False))
        steps.append(
            Step(
                exchange.method,
                _refer_in_path(exchange.path, references),
                exchange.moment,
                exchange.accept or "application/json",
                exchange.content_type,
                dict(exchange.headers_sent),
                _refer(exchange.body, references),
                exchange.identity,
                number=exchange.n,
                t=exchange.t,
            )
        )
        _learn(exchange.response, f"{exchange.n}:", references)
    return Scenario(name, tuple(steps))


def _namespace(name: str) -> Step:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    path = "/api/v1/namespaces"
    return Step(
        "POST", path, content_type="application/json", body=body, recorded=False
    )


def resolve(value: Any, answers: dict[int, Any]) -> Any:
    """A path or body with its references replaced by what the answers say."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _look_up(match, answers), value)
    if isinstance(value, dict):
        return {key: resolve(item, answers) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, answers) for item in value]
    return value


def _numbered(steps: list[Step]) -> tuple[Step, ...]:
    numbered, number = [], 0
    for step in steps:
        asks = step.recorded and bool(step.path) and not step.kubectl
        numbered.append(dataclasses.replace(step, number=number) if asks else step)
        number += asks
    return tuple(numbered)


def _learn(value: Any, path: str, references: dict[str, str]) -> None:
    """Remember where values worth referring to were said last (`references`: value →
    reference).
    """
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _REFERRED and isinstance(item, str) and item:
                references[item] = f"${{{path}/{key}}}"
            _learn(item, f"{path}/{key}", references)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _learn(item, f"{path}/{index}", references)


def _refer(body: Any, references: dict[str, str]) -> Any:
    if isinstance(body, dict):
        return {
            key: (
                references[item]
                if key in _REFERRED and isinstance(item, str) and item in references
                else _refer(item, references)
            )
            for key, item in body.items()
        }
    return (
        [_refer(item, references) for item in body] if isinstance(body, list) else body
    )


def _refer_in_path(path: str, references: dict[str, str]) -> str:
    def swap(match: re.Match[str]) -> str:
        return match[1] + references.get(match[2], match[2])

    return re.sub(r"([?&](?:continue|resourceVersion)=)([^&]+)", swap, path)


def _look_up(match: re.Match[str], answers: dict[int, Any]) -> str:
    value: Any = answers.get(int(match[1]))
    for part in match[2].strip("/").split("/"):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return ""
    return value if isinstance(value, str) else json.dumps(value)
