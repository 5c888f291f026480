"""One number for TCP and UDP, and what happens if somebody has half of it."""

from __future__ import annotations

import errno
import socket
from typing import ClassVar

import pytest

from lifecycle.dns.sockets import ATTEMPTS, open_sockets


class Taken(socket.socket):
    """Somebody else has this UDP port, as often as `times` says."""

    times = 0
    bound: ClassVar[list[int]] = []

    def bind(self, address: tuple[str, int]) -> None:  # type: ignore[override]
        if self.type == socket.SOCK_DGRAM:
            Taken.bound.append(address[1])
            if len(Taken.bound) <= Taken.times:
                raise OSError(errno.EADDRINUSE, "taken")
        super().bind(address)


@pytest.fixture(autouse=True)
def taken(monkeypatch: pytest.MonkeyPatch) -> type[Taken]:
    monkeypatch.setattr(Taken, "bound", [])
    monkeypatch.setattr(socket, "socket", Taken)
    return Taken


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_both_have_one_number_and_wait_for_nobody(host: str) -> None:
    if host == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    tcp, udp = open_sockets(host)
    with tcp, udp:
        assert tcp.getsockname()[:2] == udp.getsockname()[:2]
        assert (tcp.type, udp.type) == (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        assert not tcp.getblocking()
        assert not udp.getblocking()
        with pytest.raises(BlockingIOError):
            udp.recv(1)


def test_a_client_can_connect_before_anybody_accepts() -> None:
    tcp, udp = open_sockets()
    with tcp, udp, socket.create_connection(tcp.getsockname(), timeout=5) as client:
        assert client.getpeername() == tcp.getsockname()


def test_if_a_number_is_taken_for_one_of_them_another_is_tried(taken: type[Taken], monkeypatch) -> None:
    monkeypatch.setattr(taken, "times", ATTEMPTS - 1)
    tcp, udp = open_sockets()
    with tcp, udp:
        assert len(taken.bound) == ATTEMPTS
        assert udp.getsockname()[1] == taken.bound[-1]


def test_twenty_times_is_enough(taken: type[Taken], monkeypatch) -> None:
    monkeypatch.setattr(taken, "times", 1000)
    with pytest.raises(OSError, match=r"taken$"):
        open_sockets()
    assert len(taken.bound) == ATTEMPTS == 20


def test_a_number_that_was_asked_for_is_tried_once(taken: type[Taken], monkeypatch) -> None:
    tcp, udp = open_sockets()
    port = tcp.getsockname()[1]
    tcp.close(), udp.close()
    taken.bound.clear()
    monkeypatch.setattr(taken, "times", 1)
    with pytest.raises(OSError, match=r"taken$"):
        open_sockets(port=port)
    assert taken.bound == [port]
    tcp, udp = open_sockets(port=port)
    with tcp, udp:
        assert tcp.getsockname()[1] == port


def test_a_server_that_comes_back_gets_its_number_though_clients_were_cut_off() -> None:
    """What the end of a connection leaves behind for a minute does not keep the number."""
    tcp, udp = open_sockets()
    tcp.setblocking(True)
    address = tcp.getsockname()
    with socket.create_connection(address, timeout=5):
        accepted, _ = tcp.accept()
        for each in (accepted, tcp, udp):  # the server's end closes first
            each.close()
    tcp, udp = open_sockets(port=address[1])
    with tcp, udp:
        assert tcp.getsockname() == address
