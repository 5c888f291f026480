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
from typing import Any

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
        r"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])"
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
    pattern = re.compile(r"\b(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """The zero time stays."""
        if match[1] == "0001":
            return None
        return ("<time with microseconds>" if match[2] else "<time>"), None


class EventHash(TextRule):
    """An Event's name ends in the time it happened, in hexadecimal nanoseconds."""

    name = "event names"
    hint = "."
    pattern = re.compile(r"(?<=[a-z0-9])\.[0-9a-f]{16}\b")

    def applies(self, site: Site) -> bool:
        """Names only."""
        return site.key in ("name", "Name")

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

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """One server, one address."""
        return "<server address>", ("server address", match[0])


class Duration(TextRule):
    """How long an image pull took."""

    name = "durations"
    hint = "in "
    pattern = re.compile(
        r"(?<=in )[\d.]+(?:ms|µs|s|m[\d.]+s)(?: \([\d.]+(?:ms|µs|s|m[\d.]+s) including"
        r" waiting\))?"
    )

    def applies(self, site: Site) -> bool:
        """Messages only."""
        return site.key in ("message", "note", "Message")

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """That waiting was measured too stays visible."""
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
    pattern = re.compile(r"(?<=Too large resource version: )(\d+, current: )\d+")

    def applies(self, site: Site) -> bool:
        """Messages only."""
        return site.key == "message"

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """What was asked for stays."""
        return f"{match[1]}<resourceVersion>", None


class FirstBinding(TextRule):
    """Several cluster role bindings may allow a request; the first one met is named,
    and they are met in no particular order.
    """

    name = "binding named among several"
    hint = "RBAC: allowed by "
    pattern = re.compile(
        r'(?<=RBAC: allowed by )ClusterRoleBinding "[^"]+" of ClusterRole "[^"]+"'
        r' to (?:User|Group|ServiceAccount) "[^"]+"'
    )

    def applies(self, site: Site) -> bool:
        """Only where an access review gives its reason."""
        return site.key == "reason"

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """That it was allowed, and by a binding that the cluster has, stays. Whether
        *this* one allows it is compared in the authorization table.
        """
        name = match[0].split('"')[1]
        if ("ClusterRoleBinding", "", name) not in site.known.by_name:
            return None
        return "<a ClusterRoleBinding>", None


class Certificate(TextRule):
    """Certificates, keys and their fingerprints are made for each cluster."""

    name = "certificates"
    pattern = re.compile(
        r"-----BEGIN ([A-Z ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----\n?(?:-----BEGIN"
        r" \1-----[A-Za-z0-9+/=\s]+-----END \1-----\n?)*"
        r"|LS0tLS1CRUdJTi[A-Za-z0-9+/=]+|X509SHA256=[0-9a-f]{64}"
    )

    def replace(self, match: re.Match[str], site: Site) -> tuple[str, Identity | None]:
        """PEM, PEM in base64, or a fingerprint."""
        if match[1]:
            return f"<PEM {match[1].lower()}>", ("certificate", match[0].strip())
        if match[0].startswith("X509"):
            return "X509SHA256=<fingerprint>", ("fingerprint", match[0])
        return "<base64 of PEM>", ("certificate in base64", match[0])


class Token(TextRule):
    """Signed tokens. Their signature is free, and so are times and ids in them; who
    signed them, for whom and about whom is not.
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
        identifying = {
            name: claims[name] for name in ("iss", "aud", "sub") if name in claims
        }
        algorithm = _json_of(header).get("alg", "unsigned")
        return f"<JWT {algorithm} {json.dumps(identifying, sort_keys=True)}>", identity


def _json_of(part: str) -> dict[str, Any]:
    """A part of a token; nothing if it is no JSON object."""
    try:
        decoded = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}
