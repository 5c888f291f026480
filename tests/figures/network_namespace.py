"""A network namespace with what a picture asks it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class End:
    """A link as the kernel lists it."""

    index: int
    name: str
    kind: str = "veth"
    parent: int = 0
    master: int = 0


@dataclass
class Way:
    destination: str
    link: int


@dataclass
class Namespace:
    """Its links, their addresses by number, its routes."""

    ends: list[End]
    addresses: dict[int, list[str]]
    ways: list[Way] = field(default_factory=list)

    def links(self) -> list[End]:
        return self.ends

    def link(self, name: str) -> End:
        return next(end for end in self.ends if end.name == name)

    def addrs(self, index: int) -> list[str]:
        return self.addresses.get(index, [])

    def routes(self) -> list[Way]:
        return self.ways
