"""Questions to answers: the semantics of DNS on top of the cluster's names.

Three ways to say no must be told apart, for resolvers act on them: the name does not
exist (NXDOMAIN: try the next search domain), it exists without such records (NODATA: do
not), and we cannot know (SERVFAIL: ask again). The first two carry the zone's SOA
record, whose last number says how long the "no" may be remembered.

Upstream: CoreDNS 1.14, `plugin/kubernetes/handler.go` (`ServeDNS`),
`plugin/backend_lookup.go` (`A`, `AAAA`, `SRV`, `PTR`, `CNAME`, `NS`, `SOA`,
`BackendError`). Left out: MX, DNSSEC, looking up names outside the cluster (an
ExternalName is answered with the CNAME alone, as CoreDNS does when its own resolver
knows nothing of the target).
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.dns.kubernetes_plugin import NS_NAME, KubernetesPlugin, NameDoesNotExist
from lifecycle.dns.records import (
    NOERROR,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    Answer,
    Record,
    RecordTarget,
    fqdn,
)

REVERSE_ZONES = ("in-addr.arpa.", "ip6.arpa.")
TRANSFERS = ("AXFR", "IXFR")
"""A whole zone at once; not given out."""

CHAIN_LIMIT = 10
"""CNAMEs followed before giving up."""

REFRESH, RETRY, EXPIRE = 7200, 1800, 86400
MAX_NEGATIVE_TTL = 300

MANY = 64
"""Records of an answer that is remembered until something changes."""

MANY_ANSWERS = 32
"""Of them so many are remembered: some megabytes each, at the most."""


class Answerer:
    """Answers questions about `plugin`'s zone and about addresses. `ttl` in seconds.

    Whoever changes what the plugin knows says `forget`.
    """

    def __init__(self, plugin: KubernetesPlugin, *, ttl: int = 30) -> None:
        self.plugin = plugin
        self.ttl = ttl
        self._vast = BoundedCache[tuple[str, str], Answer](MANY_ANSWERS)
        self.forget = self._vast.clear

    def answer(self, qname: str, qtype: str) -> Answer:
        """The answer to one question; names in it are spelled as asked. Outside our
        zones: SERVFAIL, there being nobody to ask.
        """
        qname = fqdn(qname)
        name = qname.lower()
        for zone in (self.plugin.zone, *REVERSE_ZONES):
            if name == zone or name.endswith(f".{zone}"):
                spelled = qname[-len(zone) :]
                if qtype in TRANSFERS:
                    return Answer(REFUSED, authoritative=False)
                if zone == self.plugin.zone:
                    return self._in_zone(qname, name, qtype, spelled)
                return self._reverse(qname, name, qtype, spelled)
        return Answer(SERVFAIL, authoritative=False)

    def soa(self, zone: str = "") -> Record:
        """The zone's SOA record. Its serial is the time of the last change."""
        zone = zone or self.plugin.zone
        serial = int(self.plugin.index.modified)
        ttl = min(self.ttl, MAX_NEGATIVE_TTL)
        numbers = f"{serial} {REFRESH} {RETRY} {EXPIRE} {self.ttl}"
        return Record(zone, ttl, "SOA", f"{NS_NAME}.{zone} hostmaster.{zone} {numbers}")

    def _in_zone(self, qname: str, name: str, qtype: str, zone: str) -> Answer:
        if (vast := self._vast.get((name, qtype))) is not None:
            return vast.spelled(zone)
        if (
            name == f"{NS_NAME}.{self.plugin.zone}"
            and zone != self.plugin.zone
            and qtype != "SOA"
        ):
            # the one name that CoreDNS knows in small letters only
            return Answer(NXDOMAIN, authority=[self.soa(zone)])
        try:
            message = self._found(qname, name, qtype, zone)
            if len(message.answer) > MANY:
                if qname != name:  # whatever it is spelled like next time
                    message = self._found(name, name, qtype, self.plugin.zone)
                self._vast.put((name, qtype), message)
                return message.spelled(zone)
        except NameDoesNotExist:
            return Answer(NXDOMAIN, authority=[self.soa(zone)])
        return message if message.answer else self.no_data(zone)

    def _found(self, qname: str, name: str, qtype: str, zone: str) -> Answer:
        """What there is of a type. Raises NameDoesNotExist."""
        message = Answer()
        find: Callable[[Answer, str, str, str], None] = {
            "A": self._addresses,
            "AAAA": self._addresses_v6,
            "SRV": self._services,
            "TXT": self._txt,
            "CNAME": self._alias,
            "NS": self._name_servers,
            "SOA": self._soa,
            "PTR": self._pointers,
        }.get(qtype, self._nothing)
        find(message, qname, name, zone)
        return message

    def no_data(self, zone: str = "") -> Answer:
        """The name exists; there are no such records."""
        return Answer(NOERROR, authority=[self.soa(zone)])

    def _addresses(self, message: Answer, qname: str, name: str, zone: str) -> None:
        message.answer = self._resolve(qname, "A", [])

    def _addresses_v6(self, message: Answer, qname: str, name: str, zone: str) -> None:
        message.answer = self._resolve(qname, "AAAA", [])

    def _resolve(self, qname: str, qtype: str, before: list[Record]) -> list[Record]:
        """Addresses of a name, each once; an alias is followed as long as it stays in
        the cluster.
        """
        records: dict[Record, None] = {}  # a set that keeps its order
        for target in self.plugin.targets(qname.lower(), qtype):
            if target.type == "CNAME":
                alias = Record(qname, self.ttl, "CNAME", target.host)
                if (
                    target.host.lower() == qname.lower()
                    or len(before) > CHAIN_LIMIT
                    or alias in before
                ):
                    continue
                if not f".{target.host.lower()}".endswith(f".{self.plugin.zone}"):
                    records[alias] = None
                    continue
                try:
                    further = self._resolve(target.host, qtype, [*before, alias])
                except NameDoesNotExist:
                    continue
                if further:
                    records |= dict.fromkeys([alias, *further])
            elif target.type == qtype:
                records[Record(qname, self.ttl, qtype, target.host)] = None
        return list(records)

    def _services(self, message: Answer, qname: str, name: str, zone: str) -> None:
        """SRV records share 100 points of weight; each target's address comes along."""
        targets = self.plugin.targets(name, "SRV")
        weight = max(1, 100 // len(targets)) if targets else 0
        records: dict[Record, None] = {}
        addresses: dict[Record, None] = {}
        for target in targets:
            if target.port < 0:
                continue
            address = self._address(target, zone)
            addresses[address] = None
            record = Record(
                qname, self.ttl, "SRV", f"0 {weight} {target.port} {address.name}"
            )
            records[record] = None
        message.answer, message.additional = list(records), list(addresses)

    def _address(self, target: RecordTarget, zone: str) -> Record:
        """A target's address, its name in the zone as the asker spells it."""
        return Record(
            target.name.removesuffix(self.plugin.zone) + zone,
            self.ttl,
            target.type,
            target.host,
        )

    def _txt(self, message: Answer, qname: str, name: str, zone: str) -> None:
        text = self.plugin.text(name)
        if text:
            message.answer.append(Record(qname, self.ttl, "TXT", f'"{text}"'))

    def _alias(self, message: Answer, qname: str, name: str, zone: str) -> None:
        targets = self.plugin.targets(name, "CNAME")
        if targets and targets[0].type == "CNAME":
            message.answer.append(Record(qname, self.ttl, "CNAME", targets[0].host))

    def _name_servers(self, message: Answer, qname: str, name: str, zone: str) -> None:
        if (
            name != zone
        ):  # nor is it the zone's if the asker spells the zone in capitals
            self._nothing(message, qname, name, zone)
            return
        message.additional += [
            self._address(server, zone) for server in self.plugin.name_servers()
        ]
        message.answer += [
            Record(qname, self.ttl, "NS", server)
            for server in dict.fromkeys(r.name for r in message.additional)
        ]

    def _soa(self, message: Answer, qname: str, name: str, zone: str) -> None:
        if qname == zone:
            message.answer.append(self.soa(zone))

    def _pointers(self, message: Answer, qname: str, name: str, zone: str) -> None:
        self.plugin.pointed(name)

    def _nothing(self, message: Answer, qname: str, name: str, zone: str) -> None:
        """A type we have no records of: only whether the name exists matters."""
        self.plugin.targets(name, "A")

    def _reverse(self, qname: str, name: str, qtype: str, zone: str) -> Answer:
        """PTR. What nobody here has is passed on (`fallthrough`), and there is nobody
        to pass it on to.
        """
        ip = address_of(name)
        names = self.plugin.reverse(ip) if ip and qtype == "PTR" else []
        if names:
            return Answer(
                answer=[Record(qname, self.ttl, "PTR", text) for text in names]
            )
        message = Answer()
        if qtype == "SOA":
            self._soa(message, qname, name, zone)
        elif qname != zone or qtype == "TXT":
            return Answer(SERVFAIL, authoritative=False)
        elif qtype == "NS":
            self._name_servers(message, qname, name, zone)
        return message if message.answer else self.no_data(zone)


def address_of(name: str) -> str:
    """The address a reverse name stands for: `22.2.244.10.in-addr.arpa.` →
    `10.244.2.22`; empty if it is none.
    """
    for zone, joined in zip(REVERSE_ZONES, (".", "")):
        if name.endswith(f".{zone}"):
            labels = name[: -len(zone) - 1].split(".")[::-1]
            text = joined.join(labels)
            if zone == "ip6.arpa.":
                text = ":".join(text[i : i + 4] for i in range(0, len(text), 4))
            try:
                return str(ip_address(text))
            except ValueError:
                return ""
    return ""
