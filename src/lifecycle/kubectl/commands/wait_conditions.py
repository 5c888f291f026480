"""What `kubectl wait` can wait for: `create`, `delete`, `condition=TYPE[=STATUS]`,
`jsonpath=PATH[=VALUE]`.

Upstream: `kubectl/pkg/cmd/wait/wait.go` (`conditionFuncFor`, `processJSONPathInput`,
`splitJSONPathInput`), `condition.go` (`checkCondition`), `json.go` (`checkCondition`,
`compareResults`), v1.36.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.printing import jsonpath
from lifecycle.kubectl.printing.custom_columns import relaxed_jsonpath

_FORMAT = (
    "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or"
    " --for=jsonpath='{.status.readyReplicas}'"
)
_NO_VALUE = (
    "jsonpath wait has to have a value after equal sign, like"
    " --for=jsonpath='{.status.readyReplicas}'=3"
)


@dataclass(slots=True, frozen=True)
class Created:
    """It is there."""

    def check(self, obj: Object) -> bool:
        """What can be looked at is there."""
        return True


@dataclass(slots=True, frozen=True)
class Deleted:
    """It is gone."""


@dataclass(slots=True, frozen=True)
class StatusCondition:
    """A condition of its status has this status; case does not matter."""

    name: str
    status: str

    def check(self, obj: Object) -> bool:
        """Whether the object is so. A condition that was found before the last change
        of the object does not count.
        """
        for condition in (obj.get("status") or {}).get("conditions") or ():
            if str(condition.get("type", "")).casefold() != self.name.casefold():
                continue
            generation = obj["metadata"].get("generation")
            observed = condition.get(
                "observedGeneration", obj["status"].get("observedGeneration")
            )
            if None not in (generation, observed) and observed < generation:
                return False
            return str(condition.get("status", "")).casefold() == self.status.casefold()
        return False


@dataclass(slots=True, frozen=True)
class JSONPathValue:
    """A path leads to this value; `None`: to any."""

    path: tuple[Any, ...]
    value: str | None

    def check(self, obj: Object) -> bool:
        """Whether the object is so. Raises CommandError for what cannot be compared."""
        results = jsonpath.find_all(self.path, obj)
        if not results or not results[0]:
            return False
        if len(results) > 1:
            raise CommandError("given jsonpath expression matches more than one list")
        if len(results[0]) > 1:
            raise CommandError("given jsonpath expression matches more than one value")
        if self.value is None:
            return True
        if isinstance(results[0][0], (dict, list)):
            raise CommandError(
                "jsonpath leads to a nested object or list which is not supported"
            )
        return jsonpath.go_sprint(results[0][0]).strip() == self.value.strip()


Condition = Created | Deleted | StatusCondition | JSONPathValue


def condition_for(text: str) -> Condition:
    """What a `--for` says. Raises CommandError."""
    if text.lower() == "delete":
        return Deleted()
    if text.lower() == "create":
        return Created()
    if text.startswith("condition="):
        name, equals, status = text.removeprefix("condition=").partition("=")
        return StatusCondition(name, status if equals else "true")
    if text.startswith("jsonpath="):
        return _json_path(text.removeprefix("jsonpath="))
    raise CommandError(f"unrecognized condition: {go_quote(text)}")


def _json_path(text: str) -> JSONPathValue:
    # a single = separates path and value; == is part of a path
    parts = [part.replace("\0", "==") for part in re.sub("==", "\0", text).split("=")]
    if len(parts) > 2:
        raise CommandError(_FORMAT)
    path = relaxed_jsonpath(parts[0]) if parts[0] else ""
    value = parts[1].strip("'\"") if len(parts) == 2 else None
    if value == "":
        raise CommandError(_NO_VALUE)
    if not path:
        raise CommandError("jsonpath expression cannot be empty")
    return JSONPathValue(jsonpath.parse(path), value)
