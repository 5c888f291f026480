"""Connections to Services begin where the cluster's network is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lifecycle.apiserver.webhook.egress_selector import RECEIVED, EgressSelector

ELSEWHERE = "127.0.0.77"
"""An address of this machine that no connection begins at by itself."""


def from_elsewhere(family: int, kind: int, protocol: int) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    made.bind((ELSEWHERE, 0))
    return made


@contextmanager
def listener() -> Iterator[tuple[tuple[str, int], list[str]]]:
    """Its address, and from where it was called."""
    callers: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connected, (host, _) = server.accept()
            callers.append(host)
            connected.close()

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[:2], callers
        thread.join(5)


def test_a_connection_begins_on_the_machine_itself_at_first() -> None:
    with listener() as (address, callers), EgressSelector().dial(address, 5):
        pass
    assert callers == ["127.0.0.1"]


def test_it_begins_where_it_was_led_through() -> None:
    egress = EgressSelector()
    egress.lead_cluster_through(from_elsewhere)
    with listener() as (address, callers), egress.dial(address, 5):
        pass
    assert callers == [ELSEWHERE]


def test_the_last_problem_is_what_a_caller_hears() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = taken.getsockname()[:2]
    with pytest.raises(ConnectionRefusedError):
        EgressSelector().dial(address, 5)


def test_addresses_of_pods_are_dialled_by_who_plays_them_and_no_others() -> None:
    egress = EgressSelector()
    ours, theirs = socket.socketpair()
    asked: list[tuple[tuple[str, int], float]] = []

    def dial(address: tuple[str, int], timeout: float) -> socket.socket:
        asked.append((address, timeout))
        return ours

    egress.lead_pods_through("10.244.0.0/16", dial)
    with theirs, egress.dial(("10.244.3.4", 443), 5) as connected:
        assert connected is ours
    with listener() as (address, callers), egress.dial(address, 5):
        pass
    with listener() as ((_, port), others), egress.dial(("localhost", port), 5):
        pass
    assert (asked, callers, others) == ([(("10.244.3.4", 443), 5)], ["127.0.0.1"], ["127.0.0.1"])


def test_little_is_taken_in_from_the_other_side_before_it_is_read() -> None:
    with EgressSelector().cluster_socket(socket.AF_INET, socket.SOCK_STREAM, 0) as made:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) <= 2 * RECEIVED
