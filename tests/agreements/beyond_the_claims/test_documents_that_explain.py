"""Which document `kubectl explain` reads, and in which form it prints."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from lifecycle.api.resources import Resource
from lifecycle.kubectl.commands.explain import explain
from lifecycle.kubectl.failures import CommandError

GVK = {"group": "g.io", "kind": "Thing", "version": "v1"}
SCHEMA = {"description": "A thing.", "type": "object", "x-kubernetes-group-version-kind": [GVK]}
DOCUMENT = {
    "paths": {"/apis/g.io/v1/things": {"get": {"x-kubernetes-group-version-kind": GVK}}},
    "components": {"schemas": {"io.g.Thing": SCHEMA}},
}


class _Session:
    """One whose server publishes one document, under the address that its index says."""

    def __init__(self, version: str = "v1") -> None:
        self.asked, self.printed = list[str](), list[str]()
        self.resource = Resource("g.io", version, "things", "Thing", "thing", True, ("get",))

    async def resources_for(self, name: str) -> list[Resource]:
        assert name == "things"
        return [self.resource]

    async def raw(self, method: str, path: str, *_: Any) -> bytes:
        assert method == "GET"
        self.asked.append(path)
        index = {"paths": {"apis/g.io/v1": {"serverRelativeURL": "/openapi/v3/apis/g.io/v1?hash=ABC"}}}
        return json.dumps(index if path == "/openapi/v3" else DOCUMENT).encode()

    def print(self, text: str) -> None:
        self.printed.append(text)


def _explained(session: _Session, *argv: str) -> str:
    asyncio.run(explain(["things", *argv], session))  # type: ignore[arg-type] # all that it is asked for
    return "".join(session.printed)


def test_a_document_is_asked_for_by_the_hash_that_the_index_says() -> None:
    """So whoever has it in a cache need not be asked again."""
    session = _Session()
    assert "A thing." in _explained(session)
    assert session.asked == ["/openapi/v3", "/openapi/v3/apis/g.io/v1?hash=ABC"]


@pytest.mark.parametrize("form", ["json", "yaml", "html", "md", "wide", ""])
def test_there_is_one_form(form: str) -> None:
    session = _Session()
    with pytest.raises(CommandError, match=f"^unrecognized format: {form}$"):
        _explained(session, "--output", form)
    assert session.printed == []


def test_what_is_not_published_is_missed_before_anybody_asks_for_its_form() -> None:
    with pytest.raises(CommandError, match=re.escape('couldn\'t find resource for "g.io/v2, Resource=things"') + "$"):
        _explained(_Session("v2"), "--output", "json")
