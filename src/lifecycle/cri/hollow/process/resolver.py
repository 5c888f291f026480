"""A pod's resolver: which names it asks for one, and what may come back.

Upstream: glibc's `resolv/res_query.c` (`res_search`).
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.cri.apis.message import Fields


class Record(NamedTuple):
    """One resource record; `data` is its right-hand side as `dig` prints it."""

    name: str
    ttl: int
    type: str
    data: str


def names_to_ask(name: str, dns: Fields) -> list[str]:
    """What is asked for one name, in order: with few dots in it, the search domains
    come first.
    """
    if name.endswith("."):
        return [name]
    found = [
        str(option).partition(":")[2]
        for option in dns.get("options") or ()
        if str(option).startswith("ndots:")
    ]
    searched = [f"{name}.{domain}" for domain in dns.get("searches") or ()]
    few = name.count(".") < int(found[-1] if found else 1)
    return [*searched, name] if few else [name, *searched]
