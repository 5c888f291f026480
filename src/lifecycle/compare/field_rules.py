"""The freedoms that are whole values: counters, opaque tokens, ages.

Each docstring says why the value is Kubernetes' own to choose.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, ClassVar

from lifecycle.api.go.duration import parse_duration
from lifecycle.api.human_duration import human_duration
from lifecycle.compare.masked import ABSENT, Masked, Near
from lifecycle.compare.rule import FieldRule, Site


class ResourceVersion(FieldRule):
    """etcd's revision at the last write: it counts every write of the whole cluster."""

    name = "resource versions"
    _pattern = re.compile(r"[1-9][0-9]*")
    _holders = ("metadata", "involvedObject", "regarding", "claimRef")

    def mask(self, value: Any, site: Site) -> Masked | None:
        """Opaque numbers, of objects and of what speaks of them; `0` has a meaning of
        its own and stays.
        """
        if (
            site.key == "resourceVersion"
            and site.parent in self._holders
            and isinstance(value, str)
            and self._pattern.fullmatch(value)
        ):
            return self.placeholder("<resourceVersion>", value)
        return None


class ContinueToken(FieldRule):
    """A page's continue token: the revision in it is free, the key it continues after
    is not.
    """

    name = "continue tokens"

    def mask(self, value: Any, site: Site) -> Masked | None:
        """`<continue after KEY>`."""
        if site.key != "continue" or not isinstance(value, str) or not value:
            return None
        try:
            token = json.loads(
                base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
            )
            version, revision, start = (token.pop(key) for key in ("v", "rv", "start"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if token or type(revision) is not int or revision <= 0:
            return None  # -1 stands for whatever there is
        return self.placeholder(f"<continue after {start!r} of {version}>", value)


class NodePort(FieldRule):
    """A node port taken at random from the range 30000-32767."""

    name = "node ports"

    def mask(self, value: Any, site: Site) -> Masked | None:
        """Only in Services, only within the range."""
        in_range = isinstance(value, int) and 30000 <= value <= 32767
        if (
            site.kind == "Service"
            and site.key in ("nodePort", "healthCheckNodePort")
            and in_range
        ):
            return self.placeholder(f"<{site.key}>", value, ("node port", str(value)))
        return None


class Coalescing(FieldRule):
    """How many writes a controller needed: several changes may be folded into one write
    of an EndpointSlice. Two of them, or a tenth of all.
    """

    name = "writes folded together"

    def mask(self, value: Any, site: Site) -> Masked | None:
        """The generation of EndpointSlices, which counts the controller's writes."""
        if (
            site.key == "generation"
            and site.parent == "metadata"
            and site.kind == "EndpointSlice"
            and isinstance(value, int)
            and value > 0
        ):
            near = Near(value, steps=2, share=0.1)
            return self.placeholder("<generation>", value, near=near)
        return None


class EventCount(FieldRule):
    """How often an event was seen: it depends on how long one waited before looking.
    Only of what is told again and again while one waits, and by no more than two
    recordings of the same cluster differ for the same reason.
    """

    name = "event counts"
    STEPS: ClassVar = {
        "BackOff": 3,
        "Created": 1,
        "ErrImageNeverPull": 1,
        "Failed": 1,
        "FailedPostStartHook": 1,
        "FailedScheduling": 1,
        "Killing": 1,
        "Pulled": 1,
        "Started": 1,
        "Unhealthy": 1,
    }
    """By reason; what is told once in a turn of a container's life is as free as the
    turns are. A reason that is not here was told equally often each time.
    """

    def mask(self, value: Any, site: Site) -> Masked | None:
        """`count` of Events, and the Count column of their table."""
        if (
            site.kind == "Event"
            and site.key in ("count", "Count")
            and isinstance(value, int)
            and value > 0
        ):
            return self.told(value, site.reason)
        return None

    def told(self, count: int, reason: str) -> Masked:
        """The placeholder of a count."""
        return self.placeholder("<count>", count, near=self.near(count, reason))

    @classmethod
    def near(cls, count: int, reason: str) -> Near:
        """How far two counts of one event may be apart."""
        return Near(count, steps=cls.STEPS.get(reason, 0))


class Age(FieldRule):
    """An age in a printed table: time that passed until one looked."""

    name = "ages"
    _pattern = re.compile(r"(?:(\d+)y)?(?:(\d+)d)?((?:\d+h)?(?:\d+m)?(?:\d+s)?)")

    def mask(self, value: Any, site: Site) -> Masked | None:
        """The columns that print how long ago."""
        if (
            site.parent == "cells"
            and site.key in ("Age", "Last Seen", "First Seen")
            and isinstance(value, str)
        ):
            if self._seconds(value) is not None:
                return self.placeholder("<age>", value)
            if site.kind == "Event" and (
                match := re.fullmatch(r"(\S+) \(x([1-9]\d*) over (\S+)\)", value)
            ):
                last, first = self._seconds(match[1]), self._seconds(match[3])
                if last is None or first is None or last > first:
                    return None
                near = EventCount.near(int(match[2]), site.reason)
                return self.placeholder("<age> (several)", value, near=near)
        return None

    def _seconds(self, text: str) -> float | None:
        """How long that is; None if nobody would print it so."""
        match = self._pattern.fullmatch(text)
        if match is None or not text:
            return None
        days = int(match[1] or 0) * 365 + int(match[2] or 0)
        seconds = days * 86_400 + (parse_duration(match[3]) if match[3] else 0)
        return seconds if human_duration(seconds) == text else None


class NodeTopology(FieldRule):
    """Zone and region follow the node the scheduler chose, and the labels its node was
    given beforehand (an input, not an answer).
    """

    name = "zone of the chosen node"

    def mask(self, value: Any, site: Site) -> Masked | None:
        """Where the value is the one of the pod's node, and all pods of that node agree
        on it.
        """
        short = site.key.removeprefix("topology.kubernetes.io/")
        if (
            site.pod is None
            or not site.known.chosen_freely(site.pod)
            or short not in ("zone", "region")
            or not isinstance(value, str)
        ):
            return None
        if (short == site.key) == (
            site.parent == "labels"
        ):  # full key in labels, short one in endpoints
            return None
        if site.known.topology.get((short, site.pod.node)) == {value}:
            return self.placeholder(
                f"<{short} of the pod's node>", value, instead=ABSENT
            )
        return None


class ConfigHash(FieldRule):
    """A static pod's hash covers its manifest; where the manifest names the node's
    address, the hash follows the address.
    """

    name = "hashes over an address"
    _pattern = re.compile(r"[0-9a-f]{32}")

    def mask(self, value: Any, site: Site) -> Masked | None:
        """Only for pods whose spec holds an address of this cluster."""
        if (
            site.key not in ("kubernetes.io/config.hash", "kubernetes.io/config.mirror")
            or site.pod is None
            or not isinstance(value, str)
            or not self._pattern.fullmatch(value)
        ):
            return None
        if any(
            re.search(rf"(?<![\d.]){re.escape(address)}(?![\d.])", site.pod.text)
            for address, (what, _) in site.known.addresses.items()
            if what == "address"
        ):
            return self.placeholder(
                "<hash of the manifest>", value, ("manifest hash", str(value))
            )
        return None
