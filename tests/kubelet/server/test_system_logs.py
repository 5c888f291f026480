"""What a node's `/var/log` looks like through its kubelet: each answer is what a real kubelet 1.36.2 gave for the same files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.kubelet.server.system_logs import PIECE, SystemLogs

HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n'


@pytest.fixture
def logs(tmp_path: Path) -> SystemLogs:
    probe = tmp_path / "log" / "probe"
    (probe / "dir").mkdir(parents=True)
    (probe / "a b&c.log").write_text("hello\n")
    (probe / "plain").write_text("<html>x\n")
    (probe / "words").write_text("words\n")
    (probe / "bin").write_bytes(b"\x00\x01")
    (probe / "dir" / "index.html").write_text("idx\n")
    return SystemLogs(tmp_path / "log")


def asked(logs: SystemLogs, path: str, method: str = "GET") -> tuple[Response, bytes]:
    async def ask() -> tuple[Response, bytes]:
        response = await logs.serve(Request(method, path))
        if response.stream is not None:
            return response, b"".join([bytes(piece) async for piece in response.stream])  # type: ignore[call-overload]
        return response, response.body or b""

    return asyncio.run(ask())


def test_a_folder_is_a_page_of_links(logs: SystemLogs) -> None:
    response, body = asked(logs, "/logs/probe/")
    assert (response.status, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "Last-Modified" in response.headers
    assert body.decode() == (
        HEAD
        + '<a href="a%20b&c.log">a b&amp;c.log</a>\n<a href="bin">bin</a>\n<a href="dir/">dir/</a>\n'
        + '<a href="plain">plain</a>\n<a href="words">words</a>\n</pre>\n'
    )


def test_a_name_that_looks_like_a_scheme_or_like_markup_is_a_name(logs: SystemLogs, tmp_path: Path) -> None:
    (tmp_path / "log" / "a:b").touch()
    (tmp_path / "log" / """<'">""").touch()
    _, body = asked(logs, "/logs/")
    assert b'<a href="./a:b">a:b</a>\n' in body
    assert b'<a href="%3C%27%22%3E">&lt;&#39;&#34;&gt;</a>\n' in body


@pytest.mark.parametrize(
    ("name", "kind", "content"),
    [
        ("a b&c.log", "text/x-log; charset=utf-8", b"hello\n"),
        ("plain", "text/html; charset=utf-8", b"<html>x\n"),
        ("words", "text/plain; charset=utf-8", b"words\n"),
        ("bin", "application/octet-stream", b"\x00\x01"),
        ("dir/", "text/html; charset=utf-8", b"idx\n"),
    ],
)
def test_a_file_is_sent_as_it_is_with_its_type(logs: SystemLogs, name: str, kind: str, content: bytes) -> None:
    response, body = asked(logs, f"/logs/probe/{name}")
    assert (response.status, response.headers["Content-Type"], body) == (200, kind, content)
    assert "Last-Modified" in response.headers


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        ("/logs", 307, "/logs/"),
        ("/logs/probe", 301, "probe/"),
        ("/logs/probe/plain/", 301, "../plain"),
        ("/logs/probe/dir/index.html", 301, "./"),
    ],
)
def test_who_takes_a_file_for_a_folder_is_sent_on(logs: SystemLogs, path: str, status: int, location: str) -> None:
    response, _ = asked(logs, path)
    assert (response.status, response.headers["Location"]) == (status, location)


@pytest.mark.parametrize("path", ["/logs/probe/none", "/logs/probe/plain/below", "/logs/../outside", "/logs/\0"])
def test_what_is_not_there_is_not_found(logs: SystemLogs, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").write_text("no log\n")
    response, body = asked(logs, path)
    assert (response.status, body) == (404, b"404 page not found\n")
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_link_leads_anywhere_below_the_folder_and_nowhere_else(logs: SystemLogs, tmp_path: Path) -> None:
    (tmp_path / "shadow").write_text("secret\n")
    (tmp_path / "log" / "out").symlink_to(tmp_path / "shadow")
    (tmp_path / "log" / "in").symlink_to(tmp_path / "log" / "probe" / "words")
    assert asked(logs, "/logs/out")[0].status == 404
    assert asked(logs, "/logs/in")[1] == b"words\n"


def test_a_file_that_grows_meanwhile_is_sent_as_long_as_it_was(logs: SystemLogs, tmp_path: Path) -> None:
    grows = tmp_path / "log" / "grows"
    grows.write_bytes(b"x" * (PIECE + 7))
    pieces = []

    async def read() -> None:
        response = await logs.serve(Request("GET", "/logs/grows"))
        assert response.stream is not None
        async for piece in response.stream:
            pieces.append(bytes(piece))  # type: ignore[call-overload]
            with grows.open("ab") as file:
                file.write(b"more")

    asyncio.run(read())
    assert [len(piece) for piece in pieces] == [PIECE, 7]


def test_nothing_is_written_through_it(logs: SystemLogs) -> None:
    response, body = asked(logs, "/logs/probe/plain", "POST")
    assert (response.status, response.headers["Allow"], body) == (405, "GET", b"405: Method Not Allowed")


def test_a_node_without_a_disk_has_an_empty_folder() -> None:
    response, body = asked(SystemLogs(None), "/logs/")
    assert (response.status, body.decode()) == (200, f"{HEAD}</pre>\n")
    assert asked(SystemLogs(None), "/logs/syslog")[0].status == 404


def test_a_name_that_no_file_can_have_is_an_error_of_the_server(logs: SystemLogs) -> None:
    response, body = asked(logs, "/logs/" + 300 * "x")
    assert (response.status, body) == (500, b"500 Internal Server Error\n")
