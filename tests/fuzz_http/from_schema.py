"""What schemathesis makes of our own OpenAPI v3 documents."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.core import NotSet

from tests.fuzz_http.objects import put_in
from tests.fuzz_http.sent import Sent

EXISTING = {"namespace": "default", "name": "kubernetes"}
AT_ONCE = 5
"""Cases of one operation that are made in a row."""
VARIATIONS = 3
"""Each case is sent again so often, changed in one place: to make a case takes a tenth of a second, to change one takes nothing."""
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**63, 2**70, 0.5, 1e300, "", "x", "-1", "50%", "1Gi", "..", "a/b", "\0", "\ud800", "x" * 300,
    "2027-01-01T00:00:00Z", [], [None], [[]], ["x", "x"], {}, {"": ""}, {"x": None}, [{}], {"name": "x"}, [{"name": "x"}, {"name": "x"}],
)  # fmt: skip


def from_schema(documents: list[dict[str, Any]], number: int) -> Iterator[Sent]:
    """For ever: operations in random order, a few cases of each, and changed ones."""
    rng = random.Random(f"schema {number}")
    operations = [
        result.ok()
        for document in documents
        for result in schemathesis.openapi.from_dict(document).get_all_operations()
    ]
    for turn in range(1 << 30):
        operation = rng.choice(operations)
        for case in _cases(operation, number * 1_000_003 + turn):
            yield _request(operation, case, case.body, rng)
            for _ in range(VARIATIONS):
                yield _request(operation, case, _changed(case.body, rng), rng)


def _request(operation: Any, case: Any, content: Any, rng: random.Random) -> Sent:
    parameters = {**(case.path_parameters or {}), **(EXISTING if rng.random() < 0.5 else {})}
    target = operation.path
    for name, value in parameters.items():
        target = target.replace(f"{{{name}}}", quote(str(value), safe=""))
    if case.query:
        target += f"?{urlencode(case.query, doseq=True, errors='replace')}"
    headers = {name: str(value) for name, value in (case.headers or {}).items()}
    body = b""
    if not isinstance(content, NotSet):
        body = content if isinstance(content, bytes) else json.dumps(content).encode("utf-8", "surrogatepass")
        headers["Content_Type"] = case.media_type or "application/json"
    return Sent.request("schema", operation.method.upper(), target, body, **headers)


def _changed(content: Any, rng: random.Random) -> Any:
    """With something odd put in."""
    if not isinstance(content, dict | list):
        return content
    other = copy.deepcopy(content)
    put_in(other, copy.deepcopy(rng.choice(ODD)), rng)
    return other


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
