"""Do some rules cover others? And what is left, if they do not?

A rule is as good as its smallest pieces (one group, resource, verb, name each), and
each piece must be covered by one rule of the owner's. But a short rule has many pieces:
of a thousand groups, resources and verbs, a billion. So it is not broken into them.
Which owned rules cover a verb, say, is a set, kept as the bits of a number; a piece is
covered if the sets of its parts have something in common. Parts with the same set need
to be looked at once, and pieces come to be only where one is missing.

Upstream: `component-helpers/auth/rbac/validation/policy_comparator.go` (`Covers`,
`BreakdownRule`, `ruleCovers`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.authz.policy_rule import ALL

Covering = Callable[[str], int]
"""From a part of a piece to the owned rules that cover it, a bit each."""


class _Owned:
    """The owner's rules by what they name."""

    def __init__(self, rules: Sequence[Object]) -> None:
        self._named: dict[tuple[str, str], int] = {}
        self.nameless = 0
        for number, rule in enumerate(rules):
            bit = 1 << number
            for key in ("verbs", "apiGroups", "resources", "resourceNames"):
                for value in rule.get(key) or ():
                    self._named[key, value] = self._named.get((key, value), 0) | bit
            if not rule.get("resourceNames"):
                self.nameless |= bit
        self._urls = [
            (url, 1 << number)
            for number, rule in enumerate(rules)
            for url in rule.get("nonResourceURLs") or ()
        ]

    def _either(self, key: str, *values: str) -> int:
        found = 0
        for value in values:
            found |= self._named.get((key, value), 0)
        return found

    def verb(self, verb: str) -> int:
        """Rules with this verb."""
        return self._either("verbs", verb, ALL)

    def group(self, group: str) -> int:
        """Rules with this group."""
        return self._either("apiGroups", group, ALL)

    def resource(self, resource: str) -> int:
        """Rules with this resource, or with this subresource of any."""
        _, slash, subresource = resource.partition("/")
        every = (f"*/{subresource}",) if slash else ()
        return self._either("resources", resource, ALL, *every)

    def name(self, name: str) -> int:
        """Rules for this object, or for all."""
        return self.nameless | self._either("resourceNames", name)

    def url(self, url: str) -> int:
        """Rules with this path, or with its beginning."""
        found = 0
        for mine, bit in self._urls:
            if mine == url or (mine.endswith(ALL) and url.startswith(mine.rstrip(ALL))):
                found |= bit
        return found


def uncovered(
    owner_rules: Sequence[Object], servant_rules: Iterable[Object]
) -> Iterator[Object]:
    """The pieces of the wanted rules that no owned rule covers, in order."""
    owned = _Owned(owner_rules)
    for rule in servant_rules:
        verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or ()
        parts: list[tuple[str, Sequence[str], Covering]] = [
            ("apiGroups", rule.get("apiGroups") or (), owned.group),
            ("resources", rule.get("resources") or (), owned.resource),
            ("verbs", verbs, owned.verb),
        ]
        if names:
            parts.append(("resourceNames", names, owned.name))
        start = -1 if names else owned.nameless
        yield from _missing(start, [(k, _covered(v, c)) for k, v, c in parts])
        urls = rule.get("nonResourceURLs") or ()
        lists = [("nonResourceURLs", urls, owned.url), ("verbs", verbs, owned.verb)]
        yield from _missing(owned.nameless, [(k, _covered(v, c)) for k, v, c in lists])


def _covered(values: Sequence[str], covering: Covering) -> list[tuple[str, int]]:
    return [(value, covering(value)) for value in values]


def _missing(
    start: int, parts: Sequence[tuple[str, list[tuple[str, int]]]]
) -> Iterator[Object]:
    """The combinations of one value of each part that no rule of `start` covers."""
    (key, values), *others = parts
    alike = [{covering for _, covering in rest} for _, rest in others]
    incomplete = {
        covering
        for covering in {covering for _, covering in values}
        if any(not _common(start & covering, rest) for rest in product(*alike))
    }
    for value, covering in values:
        if covering not in incomplete:
            continue
        if not others:
            yield {key: [value]}
            continue
        for piece in _missing(start & covering, others):
            yield {key: [value], **piece}


def _common(rules: int, sets: Iterable[int]) -> int:
    for each in sets:
        rules &= each
    return rules
