"""A webhook that turns custom objects of one version into those of another."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.names import NameSource
from lifecycle.apiserver.apiextensions.conversion_webhook import (
    ConversionError,
    WebhookConverter,
)
from lifecycle.cluster.outside_services import LoopbackService

Break = Callable[[Object], Object | None]
"""What is wrong with a response; None: there is none."""
OLD, NEW = "example.com/v1", "example.com/v2"


def thing(name: str, api_version: str = OLD) -> Object:
    """An object as it is stored."""
    meta = {"name": name, "uid": name, "resourceVersion": "7"}
    return {"apiVersion": api_version, "kind": "Thing", "metadata": meta}


class Converter(LoopbackService):
    """Does what it is asked to, and then something is wrong with its answer."""

    def __init__(self, wrong: Break) -> None:
        super().__init__()
        self.wrong = wrong

    def answer(self, request: Request) -> tuple[int, Any]:
        """The review with the objects in the other version."""
        review = json.loads(request.body)
        asked = review["request"]
        response = {
            "uid": asked["uid"],
            "result": {"status": "Success"},
            "convertedObjects": [
                {**obj, "apiVersion": asked["desiredAPIVersion"], "new": True} for obj in asked["objects"]
            ],
        }
        del review["request"]
        return 200, {**review, "response": self.wrong(response)}


def converted(*objects: Object, wrong: Break = lambda response: response) -> tuple[list[Object], list[Object], str]:
    """The objects in the new version, those that the webhook was asked about, and why
    there are none.
    """

    async def main() -> tuple[list[Object], list[Object], str]:
        async with Converter(wrong) as webhook:
            ca = base64.b64encode(webhook.authority.ca_pem).decode()
            where = {"url": f"{webhook.url}/convert", "caBundle": ca}
            hook = {"conversionReviewVersions": ["v9", "v1"], "clientConfig": where}
            definition = {"spec": {"conversion": {"webhook": hook}}}
            converter = WebhookConverter(definition, cast(Any, None), NameSource(1))
            found, why = list[Object](), ""
            try:
                found = await converter.convert(objects, NEW)
            except ConversionError as error:
                why = str(error)
            asked = [obj for request in webhook.requests for obj in json.loads(request.body)["request"]["objects"]]
        return found, asked, why

    return on_a_loop(main())


WRONG: dict[str, Break] = {
    "failed: no response provided": lambda response: None,
    'failed: expected response.uid="UID", got ""': lambda r: {**r, "uid": ""},
    "failed: sold out": lambda r: {**r, "result": {"message": "sold out"}},
    "failed: response.result.status was 'Maybe', not 'Success'": lambda r: {
        **r,
        "result": {"status": "Maybe"},
    },
    "returned 0 objects, expected 1": lambda r: {**r, "convertedObjects": []},
}


def test_those_that_need_it_are_converted_each_in_its_place() -> None:
    found, asked, _ = converted(thing("a"), thing("b", NEW), thing("c"))
    assert [(obj["metadata"]["name"], obj["apiVersion"], "new" in obj) for obj in found] == [
        ("a", NEW, True),
        ("b", NEW, False),
        ("c", NEW, True),
    ]
    assert [obj["metadata"]["name"] for obj in asked] == ["a", "c"]
    assert not any("resourceVersion" in obj["metadata"] for obj in asked), "which is the store's"


def test_who_needs_nothing_may_come_first_or_last() -> None:
    for names, versions in (("abc", (NEW, OLD, OLD)), ("abc", (OLD, OLD, NEW)), ("ab", (NEW, OLD))):
        found, _, _ = converted(*(thing(name, version) for name, version in zip(names, versions, strict=True)))
        assert [(obj["metadata"]["name"], "new" in obj) for obj in found] == [
            (name, version == OLD) for name, version in zip(names, versions, strict=True)
        ]


def test_where_none_needs_it_nobody_is_asked() -> None:
    assert converted(thing("b", NEW)) == ([thing("b", NEW)], [], "")


@pytest.mark.parametrize("why", WRONG)
def test_what_is_wrong_with_an_answer_is_said(why: str) -> None:
    found, _, told = converted(thing("a"), wrong=WRONG[why])
    about, _, rest = told.partition("Kind=Thing ")
    assert found == []
    assert (about, re.sub('uid="[^"]+"', 'uid="UID"', rest)) == (f"conversion webhook for {OLD}, ", why)
