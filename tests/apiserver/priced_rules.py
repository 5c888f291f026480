"""Rules of custom resources, and how a real API server is asked what it makes of them when a definition is written.

Each line of `priced_rules.txt` is a rule about the same kind of value. It is asked three times: for one such value, where only what
does not compile is refused; and for many of them, where it may cost too much, and the answer says by how much. The answers stand in
`priced_rules.json`; `KUBE_BIN=… python -m tests.apiserver.priced_rules` asks for all of them again.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from tests.apiserver.questions import Asker, keep
from tests.differential.player import Target

RULES = (Path(__file__).parent / "priced_rules.txt").read_text().splitlines()
ANSWERS = Path(__file__).parent / "priced_rules.json"
HOW_MANY = (1, 300_000, 10_000_000)
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
_SELF_TYPE = re.compile(r"selfType\d+")
_RULE = re.compile(r"Invalid value: \{.*?\}: ")


def _text(most: int | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "string", **({} if most is None else {"maxLength": most}), **more}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: Any, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, **({} if most is None else {"maxItems": most})}


def _map(values: Any, most: int | None = None) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **({} if most is None else {"maxProperties": most})}


INTEGER = {"type": "integer"}
VALUE = _object(
    i=INTEGER, j=INTEGER, n={"type": "number"}, bo={"type": "boolean"},
    s=_text(10), su=_text(), e=_text(enum=["ab", "cdefg"]), b=_text(12, format="byte"), bu=_text(format="byte"),
    d=_text(format="duration"), t=_text(format="date-time"), da=_text(format="date"),
    l=_list(INTEGER, 5), lu=_list(INTEGER), ls=_list(_text(7), 4), lsu=_list(_text()), ll=_list(_list(INTEGER, 3), 2),
    lo=_list(_object(a=INTEGER, b=_text(3)), 6), lou=_list(_object(a=INTEGER, b=_text())),
    m=_map(_text(8), 3), mu=_map(INTEGER), mm=_map(_map(_text(4), 2), 3),
    io={"x-kubernetes-int-or-string": True}, iom={"x-kubernetes-int-or-string": True, "maxLength": 5},
    o=_object(x=INTEGER, y=_text(9), z=_object(w=_list(_text(2), 3))),
    **{"x-dash": _text(6), "in": INTEGER, "namespace": _text(5)},
)  # fmt: skip
"""With limits and without, by short names."""


def definition(rule: str, how_many: int) -> dict[str, Any]:
    """A custom resource with so many of these values."""
    spec = {**copy.deepcopy(VALUE), "x-kubernetes-validations": [{"rule": rule}]}
    if how_many > 1:
        keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["i"]}
        spec = {**_list({**spec, "required": ["i"]}, how_many), **keys}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _object(spec=spec)}}
    names = {"plural": "things", "kind": "Thing"}
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Cluster", "versions": [version]},
    }


async def answers(target: Target, rules: list[str] = RULES) -> list[Any]:
    """For each rule what is said to so many values each: why it is refused, nothing if it is not."""
    ask = Asker(target)
    said = []
    for rule in rules:
        told = [await ask("POST", PATH, definition(rule, how_many)) for how_many in HOW_MANY]
        said.append([rule, *map(_why, told)])
    return said


def _why(answer: Any) -> str:
    if answer["status"] == 201:
        return ""
    _, _, why = answer["body"]["message"].partition(" is invalid: ")
    return _RULE.sub("", _SELF_TYPE.sub("selfTypeN", why))


if __name__ == "__main__":
    keep(ANSWERS, answers)
