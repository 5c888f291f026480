"""What a hollow server's answer is called: by its program, or by how it begins, as Go's servers do."""

from __future__ import annotations

import pytest

from lifecycle.api.http.content_type import HTML, LOOKED_AT, detect_content_type
from lifecycle.cri.apis.pod_network import HTTPAnswer
from lifecycle.cri.hollow.network.http_headers import headers_of

TEXT = "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"hello", TEXT),
        (b"", TEXT),
        (b"\n <!doctype html>\n", HTML),
        (b"<!DOCTYPE HTML PUBLIC>", HTML),
        (b'<a href="/x">x</a>', HTML),
        (b"<A>", HTML),
        (b"<BODY >", HTML),
        (b"<abbr>", TEXT),
        (b"<b", TEXT),
        (b"<!-- a page -->", HTML),
        (b"x <html>", TEXT),
        (b'\t<?xml version="1.0"?>', "text/xml; charset=utf-8"),
        (b"%PDF-1.7", "application/pdf"),
        (b"a\x00b", "application/octet-stream"),
        (b"a" * LOOKED_AT + b"\x00", TEXT),
        (b"\x1b[1mbold\x1b[0m", TEXT),
        ("é".encode(), TEXT),
    ],
)
def test_how_a_body_begins_says_what_it_is(data: bytes, kind: str) -> None:
    assert detect_content_type(data) == kind


def test_what_the_program_says_stands_and_an_empty_answer_has_no_type() -> None:
    assert headers_of(HTTPAnswer(200, "<p>", content_type="text/css")) == {"Content-Type": "text/css"}
    assert headers_of(HTTPAnswer(200, "<p>")) == {"Content-Type": HTML}
    assert headers_of(HTTPAnswer(301, "", "a/")) == {"Location": "a/"}
    assert headers_of(HTTPAnswer(404)) == {}
