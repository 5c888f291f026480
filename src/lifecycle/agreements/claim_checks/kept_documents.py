"""How long a client may keep a published document, by what it asks and how."""

from __future__ import annotations

from lifecycle.api.wire import Request
from lifecycle.apiserver.non_resource.openapi_v3 import serve_document

PATH, HASH = "/openapi/v3/apis/apps/v1", "ABC"


def answered(hash_: str = "", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Code, body and headers for somebody who asks for a document with that hash."""
    request = Request(
        "GET", PATH, {"hash": [hash_]} if hash_ else {}, dict(headers.items())
    )
    answer = serve_document(request, PATH, HASH, lambda: b"{}")
    return answer.status, answer.body or b"", dict(answer.headers)


def documents_say_how_long() -> bool:
    """For ever, with the hash in the address; without it until somebody asks whether it
    is still the same; with an old one not at all; and only as JSON.
    """
    code, body, kept = answered(HASH)
    for_ever = {"Etag": '"ABC"', "Vary": "Accept"} | {
        "Cache-Control": "public, immutable",
        "Expires": "Sat, 01 Jan 2050 00:00:00 GMT",
    }
    plain = answered()
    moved = answered("OLD")
    same = answered(**{"if-none-match": '"ABC"'})
    other = answered(**{"if-none-match": '"OLD"'})
    protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    return (
        (code, body) == (200, b"{}")
        and for_ever.items() <= kept.items()
        and (plain[0], plain[2]["Etag"], plain[2].get("Expires"))
        == (200, '"ABC"', None)
        and moved
        == (
            301,
            b"",
            {"Location": f"{PATH}?hash=ABC", "Content-Type": "application/json"},
        )
        and same == (304, b"", {"Etag": '"ABC"', "Vary": "Accept"})
        and other[:2] == (200, b"{}")
        and answered(accept=protobuf) == (406, b"", {})
        and answered(accept=f"{protobuf}, application/json")[0] == 200
    )
