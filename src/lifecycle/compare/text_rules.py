"""The freedoms that are parts of strings: names, addresses, times, wherever they are
mentioned.

Each docstring says why the part is Kubernetes' own to choose. Where it belongs to
somebody – a uid, a generated name, an address – the placeholder says to whom, and every
mention has to agree.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from typing import Any, ClassVar

from lifecycle.api.go.duration import parse_duration
from lifecycle.compare.entities import is_ipv4
from lifecycle.compare.masked import Identity
from lifecycle.compare.rule import Site, TextRule


class SchedulerChoice(TextRule):
    """The scheduler may choose any of several nodes that nothing tells apart; what
    follows from the choice must follow it everywhere.
    """

    name = "node chosen by the scheduler"
    pattern = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")

    def applies(self, site: Site) -> bool:
        """Only in what speaks of a pod whose node was computed to be one of several
        equally good ones; see `placements`.
        """
        pod = site.pod
        return pod is not None and bool(pod.node) and site.known.chosen_freely(pod)

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """The pod's node by name or by address."""
        pod = site.pod
        assert pod is not None
        if match[0] == pod.node:
            return "<node of the pod>", None
        if site.known.node_address(match[0]) == pod.node:
            return "<address of the pod's node>", None
        return None


class Uid(TextRule):
    """A uid is random; the same object keeps its own everywhere."""

    name = "uids"
    hint = "-"
    pattern = re.compile(
        r"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![0-9a-f-])"
    )

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """`<uid of …>` where the owner is known."""
        entity = site.known.by_uid.get(match[0])
        if entity:
            turn = entity.uids.index(match[0]) if match[0] in entity.uids else 0
            return (
                f"<uid of {entity.label}{f', made again ({turn})' if turn else ''}>",
                entity.identity,
            )
        return "<uid>", ("uid", match[0])


class ContainerId(TextRule):
    """The runtime draws a container's id; the same container keeps it."""

    name = "container ids"
    hint = "://"
    pattern = re.compile(r"\b(containerd|docker|cri-o|hollow|sandbox)://[0-9a-f]{64}\b")

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """Any runtime's scheme stays visible."""
        return f"{match[1]}://<id>", ("container", match[0])


class Time(TextRule):
    """When something happened. That it has a time, and in which precision, is not
    free.
    """

    name = "times"
    hint = "T"
    pattern = re.compile(r"\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z")
    _told = (
        *("time", "startedAt", "finishedAt", "buildDate", "Created At"),
        *("kubernetes.io/config.seen", "kubectl.kubernetes.io/restartedAt"),
        "endpoints.kubernetes.io/last-change-trigger-time",
        "autoscaling.alpha.kubernetes.io/conditions",
    )
    _precision: ClassVar = {0: "", 3: " with milliseconds", 6: " with microseconds"}

    def applies(self, site: Site) -> bool:
        """Where Kubernetes says when: in fields named so, and in texts outside of any
        field. A time in somebody's data was given, not taken.
        """
        return (
            not site.key
            or site.key in self._told
            or site.key.endswith(("Time", "Timestamp"))
        ) and site.parent not in ("data", "stringData", "binaryData")

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """The zero time stays, and what is no time at all."""
        try:
            moment = datetime.fromisoformat(match[1])
        except ValueError:
            return None
        if moment.year == 1:
            return None
        digits = len(match[2] or ".") - 1
        return f"<time{self._precision.get(digits, ' with nanoseconds')}>", None


class EventHash(TextRule):
    """An Event's name ends in the time it happened, in hexadecimal nanoseconds."""

    name = "event names"
    hint = "."
    pattern = re.compile(r"(?<=[a-z0-9])\.[0-9a-f]{16}\b")

    def applies(self, site: Site) -> bool:
        """Names of Events only."""
        return site.kind == "Event" and site.key in ("name", "Name")

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """The part before the dot is masked by other rules."""
        return ".<hash>", None


class GeneratedName(TextRule):
    """Five random letters after `generateName` (and token volumes, named alike);
    references must use the same ones.
    """

    name = "generated names"
    pattern = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """Only names that were learned to be generated."""
        entity = site.known.generated.get(match[0])
        if entity is None:
            return None
        if entity.kind == "Volume":
            return "kube-api-access-<random>", entity.identity
        return entity.label.rpartition("/")[2].rpartition(" ")[2], entity.identity


class Address(TextRule):
    """An IP given out by an allocator: to a pod, a Service or (by docker) a node. It
    has to be the same one wherever it is used.
    """

    name = "IP addresses"
    hint = "."
    pattern = re.compile(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b")

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """Only addresses that were learned to be somebody's."""
        owner = site.known.addresses.get(match[0])
        if owner is None:
            return None
        what, entity = owner
        return f"<{what} of {entity.label}>", entity.identity


_SERVER_ADDRESS_KEYS = (
    "serverAddress",
    "jwks_uri",
    "kubernetes.io/peer-advertise-address",
    "kubernetes.io/kube-apiserver.advertise-address.endpoint",
)


class ServerAddress(TextRule):
    """The API server's own address, from the network the cluster was put on."""

    name = "server address"
    hint = ":"
    pattern = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}:\d+\b")

    def applies(self, site: Site) -> bool:
        """Where the server tells clients how to reach it."""
        return site.key in _SERVER_ADDRESS_KEYS

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """One server, one address."""
        address, _, port = match[0].partition(":")
        if not is_ipv4(address) or not 0 < int(port) < 65_536:
            return None
        return "<server address>", ("server address", match[0])


class Duration(TextRule):
    """How long an image pull took."""

    name = "durations"
    hint = "Successfully pulled image "
    _one = r"(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ms|µs|s)"
    pattern = re.compile(
        rf'(?<=" in )({_one})(?: \(({_one}) including waiting\))?(?=$|\. )'
    )

    def applies(self, site: Site) -> bool:
        """Messages only."""
        return site.key in ("message", "note", "Message")

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """That waiting was measured too stays visible."""
        if match[2] and parse_duration(match[1]) > parse_duration(match[2]):
            return None
        return (
            "<duration>"
            if "(" not in match[0]
            else "<duration> (<duration> including waiting)"
        ), None


class CurrentRevision(TextRule):
    """The store's current revision, told to a client that asked for one from the
    future.
    """

    name = "resource versions"
    hint = "Too large resource version: "
    pattern = re.compile(r"(?<=Too large resource version: )(\d+)(, current: )(\d+)")

    def applies(self, site: Site) -> bool:
        """Messages only."""
        return site.key == "message"

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """What was asked for stays, and it has to be too large."""
        if int(match[1]) <= int(match[3]):
            return None
        return f"{match[1]}{match[2]}<resourceVersion>", None


class FirstBinding(TextRule):
    """Several cluster role bindings may allow a request; the first one met is named,
    and they are met in no particular order.
    """

    name = "binding named among several"
    hint = "RBAC: allowed by "
    pattern = re.compile(
        r'(?<=RBAC: allowed by )ClusterRoleBinding "([^"]+)" of (ClusterRole "[^"]+")'
        r' to ((?:User|Group|ServiceAccount) "[^"]+")'
    )

    def applies(self, site: Site) -> bool:
        """Only where an access review gives its reason."""
        return site.key == "reason"

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """That it was allowed, and by a binding that the cluster has, to that role and
        for that subject, stays. Whether *this* one allows it is compared in the
        authorization table.
        """
        role, subjects = site.known.bindings.get(match[1], ("", frozenset()))
        if match[2] != role or match[3] not in subjects:
            return None
        return "<a ClusterRoleBinding>", None


class Certificate(TextRule):
    """Certificates, keys and their fingerprints are made for each cluster."""

    name = "certificates"
    pattern = re.compile(
        r"-----BEGIN ([A-Z ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----\n?"
        r"|LS0tLS1CRUdJTi[A-Za-z0-9+/=]+|X509SHA256=[0-9a-f]{64}"
    )

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """PEM, PEM in base64, or a fingerprint."""
        if match[1]:
            return f"<PEM {match[1].lower()}>", ("certificate", match[0].strip())
        if match[0].startswith("X509"):
            return "X509SHA256=<fingerprint>", ("fingerprint", match[0])
        decoded = base64.b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode(
            "latin-1"
        )
        kinds = [pem[1].lower() for pem in self.pattern.finditer(decoded) if pem[1]]
        rest = self.pattern.sub("", decoded)
        text = f"<base64 of PEM: {', '.join(kinds)}{rest and ' and more'}>"
        return text, ("certificate in base64", match[0])


class Token(TextRule):
    """Signed tokens. Their signature is free, and so are moments and ids in them; who
    signed them, for whom, about whom, with what else and for how long is not.
    """

    name = "tokens"
    hint = "eyJ"
    pattern = re.compile(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+")

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """A JWT with its claims, or a detached JWS."""
        identity = "token", match[0]
        header, payload, _ = match[0].split(".")
        if not payload:
            return "<JWS>", identity
        claims = _json_of(payload)
        lasts = claims.get("iat", claims.get("nbf"))
        since = {
            name: claims[name] - lasts
            for name in _MOMENTS
            if isinstance(claims.get(name), int | float)
            and isinstance(lasts, int | float)
        }
        told = {name: "<moment>" for name in _MOMENTS if name in claims} | since
        ids = {"jti": "<id>"} if "jti" in claims else {}
        shown = json.dumps(claims | told | ids, sort_keys=True)
        algorithm = _json_of(header).get("alg", "unsigned")
        return f"<JWT {algorithm} {_without_uids(shown, site)}>", identity


_MOMENTS = ("exp", "iat", "nbf")


def _without_uids(text: str, site: Site) -> str:
    rule = Uid()
    return rule.pattern.sub(lambda match: rule.replace(match, site)[0], text)


def _json_of(part: str) -> dict[str, Any]:
    """A part of a token; nothing if it is no JSON object."""
    try:
        decoded = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}
