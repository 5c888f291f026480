"""Recorded creates, replayed without a server: decode, default, prepare, validate.

What admission and the allocators do is not ours here: `NOT_OURS` names the fields they own, and by whom.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle.api.field_errors import invalid_object
from lifecycle.api.go.format import go_quote
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from tests.apiserver.registry.by_kind import (
    canonicalize,
    prepare_for_create,
    set_defaults,
    strategy_of,
    validate_create,
    warnings_for,
)

RECORDINGS = Path(__file__).parents[3] / "recordings"

NOT_OURS: dict[str, str] = {
    r"\.metadata\.(uid|creationTimestamp|resourceVersion|managedFields.*|name)": "written by the server itself",
    r"\.metadata\.finalizers.*": "StorageObjectInUseProtection admission",
    r"\.spec\.storageClassName": "DefaultStorageClass admission",
    r"\.spec\.(serviceAccount|serviceAccountName|imagePullSecrets.*)": "ServiceAccount admission",
    r"\.spec\.volumes\[\d+\].*|\.spec\.volumes": "ServiceAccount admission adds the token volume",
    r"\.spec\.(initC|c)ontainers\[\d+\]\.volumeMounts.*": "ServiceAccount admission mounts it",
    r"\.spec\.tolerations.*": "DefaultTolerationSeconds admission",
    r"\.spec\.(priority|preemptionPolicy)": "Priority admission",
    r"\.spec\.(clusterIP|clusterIPs.*|ipFamilies.*|ipFamilyPolicy|healthCheckNodePort)": "the service address allocator",
    r"\.spec\.ports\[\d+\]\.nodePort": "the node port allocator",
}
_not_ours = re.compile("|".join(f"(?:{pattern})" for pattern in NOT_OURS))


def exchanges(scenario: str) -> Iterator[dict[str, Any]]:
    for line in (RECORDINGS / scenario).read_bytes().splitlines():
        yield json.loads(line)


def replay(row: dict[str, Any]) -> tuple[int, dict[str, Any], list[str]]:
    """What we make of a recorded create: code, answer, warnings as they stand in headers."""
    body, answer = row["body"], row["response"] if isinstance(row["response"], dict) else {}
    recorded = answer.get("metadata") or {}
    try:
        obj, warnings = decode(body, body["apiVersion"], body["kind"])
        set_defaults(obj)
        meta = obj["metadata"]
        namespace = re.search(r"/namespaces/([^/?]+)/", row["path"])
        if namespace:
            meta.setdefault("namespace", namespace[1])
        meta["uid"], meta["creationTimestamp"] = (
            recorded.get("uid", "uid"),
            recorded.get("creationTimestamp", "2026-01-01T00:00:00Z"),
        )
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = recorded.get("name", meta["generateName"] + "abcde")
        prepare_for_create(obj)
        errors = validate_create(obj)
        if errors:
            raise invalid_object(obj["kind"], obj["apiVersion"].rpartition("/")[0], meta.get("name", ""), errors)
        canonicalize(obj)
        set_defaults(obj)  # as reading it back does
        deprecated = strategy_of(obj).deprecation
        warnings += [*filter(None, [deprecated]), *warnings_for(obj)]
    except StatusError as error:
        return error.code, error.status, []
    return 201, obj, [f"299 - {go_quote(warning)}" for warning in warnings]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def compare_fields(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[int, list[str]]:
    """How many leaves there are on either side that are ours to get right, and where they differ."""
    mine, yours = dict(leaves(ours)), dict(leaves(theirs))
    paths = [path for path in {**yours, **mine} if not _not_ours.fullmatch(path)]
    return len(paths), [path for path in paths if mine.get(path, "absent") != yours.get(path, "absent")]
