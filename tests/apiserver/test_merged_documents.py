"""The documents of a server with custom resources: how much is worked out for many versions, and where."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import Resource
from lifecycle.apiserver.apiextensions.extensions import Extensions, _document
from lifecycle.apiserver.non_resource import merged
from lifecycle.apiserver.non_resource.merged import MergedDocuments
from tests.apiserver.test_beside_the_loop import where


class Definitions(Extensions):
    """One definition with so many versions, as the server would serve it."""

    def __init__(self, versions: int) -> None:
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        names = {"plural": "manies", "singular": "many", "kind": "Many", "listKind": "ManyList"}
        spec = {
            "group": "attack.example",
            "scope": "Namespaced",
            "names": names,
            "versions": [
                {"name": f"v{i}", "served": True, "storage": i == 1, "schema": schema} for i in range(1, versions + 1)
            ],
        }
        established = {"conditions": [{"type": "Established", "status": "True"}]}
        self.definition: dict[str, Any] = {
            "metadata": {"name": "manies.attack.example"},
            "spec": spec,
            "status": established,
        }
        self.made = 0

    @property
    def version(self) -> int:
        return 1

    def all(self) -> Iterable[dict[str, Any]]:
        return [self.definition]

    def resources(self) -> list[Resource]:
        return []

    def openapi_document(self, parts: bytes) -> bytes:
        self.made += 1
        return super().openapi_document(parts)


def get(path: str, **headers: str) -> Request:
    return Request("GET", path, headers=headers)


def test_what_a_document_is_made_of_has_one_version_in_it_not_all() -> None:
    def size(versions: int) -> int:
        return sum(map(len, Definitions(versions).openapi().values()))

    assert size(200) < 2.1 * size(100)


def test_one_document_is_made_for_one_document() -> None:
    served = Definitions(100)
    answer = run_virtual(MergedDocuments(served).openapi_v3(get("/x"), "/openapi/v3/apis/attack.example/v7"))
    assert answer is not None
    assert served.made == 1


def test_what_needs_all_documents_is_worked_out_once_however_many_ask() -> None:
    served = Definitions(40)
    _document.cache_clear()  # type: ignore[attr-defined]
    documents = MergedDocuments(served)

    async def ask() -> list[Any]:
        return await asyncio.gather(
            *(documents.openapi_v3(get("/openapi/v3"), "/openapi/v3") for _ in range(3)),
            *(documents.openapi_v2(get("/openapi/v2")) for _ in range(3)),
        )

    sizes: list[int] = []

    async def beside(size: int, work: Any, *args: Any) -> Any:
        sizes.append(size)
        return work(*args)

    with patch("lifecycle.apiserver.non_resource.merged.beside", beside):
        answers = run_virtual(ask())
    assert len(sizes) == 2
    assert min(sizes) > LARGE, "the worker's"
    assert served.made == 2 * 40
    paths = json.loads(answers[0].body)["paths"]
    assert "apis/attack.example/v40" in paths
    assert "/apis/attack.example/v40/manies" in json.loads(answers[3].body)["paths"]
    url = paths["apis/attack.example/v7"]["serverRelativeURL"]
    etag = run_virtual(documents.openapi_v3(get(url), "/openapi/v3/apis/attack.example/v7")).headers["Etag"]  # type: ignore[union-attr]
    assert url.endswith(f"?hash={etag.strip(chr(34))}")


def test_what_could_not_be_made_is_tried_again() -> None:
    served = Definitions(2)
    documents, make = MergedDocuments(served), served.openapi_document
    served.openapi_document = lambda parts: b"{"  # type: ignore[method-assign]

    async def status() -> int:
        answer = await documents.openapi_v2(get("/openapi/v2"))
        assert answer is not None
        return answer.status

    with pytest.raises(fast_json.JSONDecodeError):
        run_virtual(status())
    served.openapi_document = make  # type: ignore[method-assign]
    assert run_virtual(status()) == 200


def test_the_one_document_is_the_workers_however_little_is_added_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    called = where(monkeypatch, merged, "with_custom_resources")
    answer = asyncio.run(MergedDocuments(Definitions(1)).openapi_v2(get("/openapi/v2", accept="application/json")))
    assert answer is not None
    assert called == ["worker"]
