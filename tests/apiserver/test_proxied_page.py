"""Links of pages that come through `/proxy`."""

from __future__ import annotations

import gzip
import zlib
from functools import partial

import pytest

from lifecycle.api.http.wire import Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.endpoints.proxied_page import (
    MAX_PAGE,
    rewrite_html,
    rewrite_response,
    rewrite_url,
)

PREFIX = "/api/v1/namespaces/default/pods/p:1080/proxy"
REWRITE = partial(rewrite_url, prefix=PREFIX, source="10.244.1.2:1080", host="127.0.0.1:6443")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/rewriteme", f"{PREFIX}/rewriteme"),
        ("/folder/?a=b#c", f"{PREFIX}/folder/?a=b#c"),
        ("/", f"{PREFIX}/"),
        ("http://10.244.1.2:1080/x", f"{PREFIX}/x"),
        ("https://127.0.0.1:6443/x", f"https://127.0.0.1:6443{PREFIX}/x"),
        (f"{PREFIX}/there", f"{PREFIX}/there"),
        ("https://example.org/x", "https://example.org/x"),
        ("beside", "beside"),
        ("#below", "#below"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_a_link_to_its_own_server_leads_through_the_proxy(url: str, expected: str) -> None:
    assert REWRITE(url) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<a href="/rewriteme">test</a>', f'<a href="{PREFIX}/rewriteme">test</a>'),
        ("<p>\n<IMG src=/a.png\n alt='a'/>&amp;", f'<p>\n<img src="{PREFIX}/a.png" alt="a"/>&amp;'),
        ("<a title='/x' href='/?a&amp;b'>", f'<a title="/x" href="{PREFIX}/?a&amp;b">'),
        ('<script>"<a href=\'/x\'>"</script><!-- <a href="/x"> -->', '<script>"<a href=\'/x\'>"</script><!-- <a href="/x"> -->'),
        ("no page < at all", "no page < at all"),
        ("", ""),
    ],
)  # fmt: skip
def test_only_start_tags_are_written_anew(page: str, expected: str) -> None:
    assert rewrite_html(page, REWRITE) == expected


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def test_a_compressed_page_stays_compressed() -> None:
    page, rewritten = b'<a href="/x">\xff', f'<a href="{PREFIX}/x">'.encode() + b"\xff"

    async def answer(body: bytes, **headers: str) -> bytes:
        given = {key.replace("_", "-"): value for key, value in headers.items()}
        return (await rewrite_response(Response(200, given, body=body), REWRITE)).body or b""

    async def main() -> None:
        html = "text/html; charset=utf-8"
        assert await answer(page, Content_Type=html) == rewritten
        packed = await answer(gzip.compress(page), Content_Type=html, Content_Encoding="gzip")
        assert gzip.decompress(packed) == rewritten
        packed = await answer(deflated(page), Content_Type=html, Content_Encoding="deflate")
        assert zlib.decompress(packed, -zlib.MAX_WBITS) == rewritten
        assert await answer(page, Content_Type=html, Content_Encoding="gzip") == page
        assert await answer(page, Content_Type=html, Content_Encoding="br") == page
        assert await answer(page, Content_Type="text/plain") == page

    run_virtual(main())


class Endless:
    """A page that a pod sends, piece by piece, and never ends."""

    def __init__(self, piece: bytes) -> None:
        self.piece, self.sent, self.closed = piece, 0, False

    def __aiter__(self) -> Endless:
        return self

    async def __anext__(self) -> bytes:
        self.sent += len(self.piece)
        return self.piece

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
def test_a_page_without_an_end_is_passed_on_and_not_collected(coding: str) -> None:
    async def main() -> None:
        page = Endless(b'<a href="/x">' * 1000)
        headers = {"Content-Type": "text/html", "Content-Encoding": coding}
        given = Response(200, headers, stream=page, encode_frame=bytes)  # type: ignore[arg-type]
        answer = await rewrite_response(given, REWRITE)
        assert page.sent < 2 * MAX_PAGE
        assert answer.stream is not None
        assert answer.encode_frame is not None
        passed = 0
        async for frame in answer.stream:
            passed += len(answer.encode_frame(frame))
            if passed > 3 * MAX_PAGE:
                break
        assert passed == page.sent
        await answer.stream.aclose()  # type: ignore[attr-defined]
        assert page.closed

    run_virtual(main())


def test_a_page_that_is_vast_once_unpacked_or_no_page_goes_on_as_it_is() -> None:
    vast, page = bytes(5 * MAX_PAGE), b'<a href="/x">'

    async def answer(body: bytes, coding: str) -> bytes:
        headers = {"Content-Type": "text/html", "Content-Encoding": coding}
        return (await rewrite_response(Response(200, headers, body=body), REWRITE)).body or b""

    async def main() -> None:
        for body, coding in (
            (gzip.compress(vast), "gzip"),
            (gzip.compress(page) + gzip.compress(vast), "gzip"),
            (deflated(vast), "deflate"),
            (gzip.compress(page)[:-9], "gzip"),
            (b"<![" * 10, ""),
        ):
            assert await answer(body, coding) == body
        twice = gzip.decompress(await answer(gzip.compress(page) + gzip.compress(page), "gzip"))
        assert twice == f'<a href="{PREFIX}/x">'.encode() * 2

    run_virtual(main())
