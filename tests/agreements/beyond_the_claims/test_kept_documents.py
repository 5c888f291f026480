"""How long a client may keep a published document, by what it asks and how."""

from __future__ import annotations

from lifecycle.api.http.wire import Request
from lifecycle.apiserver.non_resource.openapi_v3 import serve_document

PATH, HASH = "/openapi/v3/apis/apps/v1", "ABC"


def answered(hash_: str = "", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Code, body and headers for somebody who asks for a document with that hash."""
    request = Request("GET", PATH, {"hash": [hash_]} if hash_ else {}, dict(headers.items()))
    answer = serve_document(request, PATH, HASH, lambda: b"{}")
    return answer.status, answer.body or b"", dict(answer.headers)


def test_with_its_hash_in_the_address_a_document_is_kept_for_ever() -> None:
    code, body, headers = answered(HASH)
    assert (code, body) == (200, b"{}")
    assert (
        headers.items()
        >= {
            "Etag": '"ABC"',
            "Vary": "Accept",
            "Cache-Control": "public, immutable",
            "Expires": "Sat, 01 Jan 2050 00:00:00 GMT",
        }.items()
    )


def test_without_it_a_document_is_kept_until_somebody_asks_whether_it_is_the_same() -> None:
    code, _, headers = answered()
    assert (code, headers["Etag"], headers.get("Expires")) == (200, '"ABC"', None)
    assert answered(**{"if-none-match": '"ABC"'}) == (304, b"", {"Etag": '"ABC"', "Vary": "Accept"})
    assert answered(**{"if-none-match": '"OLD"'})[:2] == (200, b"{}")


def test_an_old_hash_leads_to_the_new_one() -> None:
    there = {"Location": f"{PATH}?hash=ABC", "Content-Type": "application/json"}
    assert answered("OLD") == (301, b"", there)
    for known in ("ABC", "OLD"):  # whatever the client has already
        assert answered("OLD", **{"if-none-match": f'"{known}"'}) == (301, b"", there)
    assert answered(HASH, **{"if-none-match": '"ABC"'})[0] == 304


def test_there_are_documents_in_json_only() -> None:
    protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert answered(accept=protobuf) == (406, b"", {})
    assert answered(accept=f"{protobuf}, application/json")[0] == 200
