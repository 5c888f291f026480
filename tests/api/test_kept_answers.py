"""What Kubernetes' own API server took and gave back, field by field: our decoding and our protobuf know every one of them.

The answers are those of `tests/apiserver/registry/test_answers_of_fields.py` and `tests/apiserver/test_answers_to_scenes.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.protobuf import decode as from_protobuf
from lifecycle.api.protobuf import encode, is_supported
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from tests.differential.case import JSON, Step
from tests.differential.kept import read

TESTS = Path(__file__).parents[1]
FIELDS = read(TESTS / "apiserver/registry/answers_of_fields.jsonl.gz")
SCENES = read(TESTS / "apiserver/answers_to_scenes.jsonl.gz")
GO_TIME = re.compile(r"2006-01-02T15:04:05(\.0+)?Z")
REFUSED = "cannot be handled as a"


def settled_again(answer: Any) -> Any:
    """An answer with a time for every time that was taken out of it."""
    return json.loads(json.dumps(answer).replace('"TIME"', '"2026-01-01T00:00:00Z"'))


def exchanges(*kept: Any) -> Iterator[tuple[Step, Any]]:
    for cases in kept:
        for steps, answers in cases.values():
            yield from ((step, answer) for step, answer in zip(steps, answers, strict=True) if answer is not None)


def objects(*kept: Any) -> Iterator[dict[str, Any]]:
    for _, answer in exchanges(*kept):
        body = answer.get("body")
        kind = body.get("kind", "") if isinstance(body, dict) else ""
        whole = (
            kind not in ("", "Status", "Table") and not kind.endswith("List") and not kind.startswith("PartialObject")
        )
        if answer["status"] in (200, 201) and whole:
            yield settled_again(body)


@pytest.mark.parametrize("name", FIELDS)
def test_what_the_server_gave_back_is_in_normal_form_and_survives_protobuf(name: str) -> None:
    for obj in objects({name: FIELDS[name]}):
        decoded, strict = decode(obj, obj["apiVersion"], obj["kind"])
        assert strict == []
        assert fast_json.dumps(decoded) == fast_json.dumps(obj)  # the same keys, in the same order
        if is_supported(obj["apiVersion"], obj["kind"]):
            assert from_protobuf(encode(obj)) == obj


def creates() -> Iterator[tuple[Step, Any]]:
    for step, answer in exchanges(FIELDS, SCENES):
        plain = step.method == "POST" and step.content_type == JSON and isinstance(step.body, dict)
        if plain and step.path.partition("?")[0].count("/") <= 6 and {"apiVersion", "kind"} <= step.body.keys():
            yield step, answer


def complaint(body: dict[str, Any]) -> str:
    try:
        decode(body, body["apiVersion"], body["kind"])
    except StatusError as error:
        return GO_TIME.sub("TIME", error.message)  # as it is in the answers
    return ""


def test_what_cannot_be_decoded_is_refused_in_the_words_of_the_server() -> None:
    """What it took or found invalid it had decoded; what it refused for another reason it may not have looked at."""
    refused = taken = 0
    for step, answer in creates():
        body = answer.get("body")
        message = body.get("message", "") if isinstance(body, dict) else ""
        if REFUSED in message and "strict decoding error" not in message:
            refused += 1
            assert complaint(step.body) == message, step
        elif answer["status"] == 201 or re.match(rf'{step.body["kind"]}[."a-z0-9 ]* ".*" is invalid: ', message):
            taken += 1
            assert complaint(step.body) == "", step
    assert refused > 100
    assert taken > 4_000
