"""A packet and its answer, without a server between them."""

from __future__ import annotations

import random

from lifecycle.dns.wire import Answers, reply_to


def respond(packet: bytes, answerer: Answers, dice: random.Random, *, tcp: bool = False) -> bytes:
    """The packet that answers a packet; empty for one that is no question at all."""
    reply = reply_to(packet, answerer, dice, tcp=tcp)
    return reply.packet() if reply is not None else b""
