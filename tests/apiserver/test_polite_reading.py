"""Threads that read answers compute one at a time, and an answer has one time in which to arrive."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator

import pytest

from lifecycle.apiserver.webhook import polite_reading
from lifecycle.apiserver.webhook.polite_reading import Answer, Polite


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


another_pair = pair
Pair = tuple[socket.socket, socket.socket]


def read(polite: Polite) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("webhook")
    connection.response_class = Answer
    with polite as connected:
        connection.sock = connected
        connection.request("POST", "/", b"{}")
        answer = connection.getresponse()
        return answer.status, answer.read(100)


def test_who_waits_for_bytes_leaves_the_turn_to_the_others(pair: Pair, another_pair: Pair) -> None:
    (silent, _), (talking, peer) = pair, another_pair

    def wait() -> None:
        with pytest.raises(ConnectionError):
            read(Polite(silent, 20))

    waiting = threading.Thread(target=wait)
    waiting.start()
    peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 50 + b"0\r\n\r\n")
    assert read(Polite(talking, 20)) == (200, b"a" * 50)
    silent.shutdown(socket.SHUT_RDWR)
    waiting.join()


def test_there_is_one_turn_for_all_who_do_not_wait(pair: Pair) -> None:
    ours, peer = pair
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    results: list[tuple[int, bytes]] = []
    another = threading.Thread(target=lambda: results.append(read(Polite(ours, 20))))
    with Polite(peer, 20):
        another.start()
        another.join(0.05)
        assert another.is_alive()
    another.join()
    assert results == [(200, b"")]


def test_an_answer_that_arrives_busily_has_no_more_time_than_any_other(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(polite_reading.time, "monotonic", lambda: now[0])
    ours, peer = pair
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    polite = Polite(ours, 10)
    received = polite.receive

    def receive(buffer: bytearray) -> int:
        peer.sendall(b"x")
        now[0] += 1
        return received(buffer)

    monkeypatch.setattr(polite, "receive", receive)
    with pytest.raises(TimeoutError):
        read(polite)
    assert now[0] == 10


@pytest.mark.parametrize("announced", [3, 4])
def test_an_answer_that_is_announced_for_ever_is_none(
    announced: int, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polite_reading, "MOST_ANNOUNCEMENTS", 3)
    ours, peer = pair
    peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * announced + b"HTTP/1.1 204 No Content\r\n\r\n")
    if announced == 3:
        assert read(Polite(ours, 20)) == (204, b"")
    else:
        with pytest.raises(http.client.HTTPException, match=r"exceeded 10485760 bytes; aborted$"):
            read(Polite(ours, 20))
