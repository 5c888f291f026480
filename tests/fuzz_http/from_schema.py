"""What schemathesis makes of our own OpenAPI v3 documents."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.core import NotSet

from tests.fuzz_http.sent import Sent

EXISTING = {"namespace": "default", "name": "kubernetes"}
AT_ONCE = 5
"""Cases of one operation that are made in a row: to make the first is what takes time."""


def from_schema(documents: list[dict[str, Any]], number: int) -> Iterator[Sent]:
    """For ever: operations in random order, a few cases of each."""
    rng = random.Random(f"schema {number}")
    operations = [
        result.ok()
        for document in documents
        for result in schemathesis.openapi.from_dict(document).get_all_operations()
    ]
    for turn in range(1 << 30):
        operation = rng.choice(operations)
        for case in _cases(operation, number * 1_000_003 + turn):
            parameters = {**(case.path_parameters or {}), **(EXISTING if rng.random() < 0.5 else {})}
            target = operation.path
            for name, value in parameters.items():
                target = target.replace(f"{{{name}}}", quote(str(value), safe=""))
            if case.query:
                target += f"?{urlencode(case.query, doseq=True, errors='replace')}"
            headers = {name: str(value) for name, value in (case.headers or {}).items()}
            body = b""
            if not isinstance(case.body, NotSet):
                body = (
                    case.body
                    if isinstance(case.body, bytes)
                    else json.dumps(case.body).encode("utf-8", "surrogatepass")
                )
                headers["Content_Type"] = case.media_type or "application/json"
            yield Sent.request("schema", operation.method.upper(), target, body, **headers)


def _cases(operation: Any, number: int) -> list[Any]:
    cases: list[Any] = []

    @seed(number)
    @settings(
        max_examples=AT_ONCE,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def collect(case: Any) -> None:
        cases.append(case)

    collect()
    return cases
