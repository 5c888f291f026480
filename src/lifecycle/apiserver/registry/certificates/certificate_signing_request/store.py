"""The registry of certificate signing requests: who asks, and when it was decided, is
written by the server, not by the client.

Upstream: `pkg/registry/certificates/certificates/strategy.go`
(`csrStrategy.PrepareForCreate`, `populateConditionTimestamps`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore


class CertificateSigningRequestStore(ResourceStore):
    """See the module."""

    def begin_create(self, obj: Object, scope: RequestScope) -> None:
        """Write down who asks."""
        spec = {
            key: value
            for key, value in (obj.get("spec") or {}).items()
            if key not in _WHO
        }
        user = scope.user
        if user is not None:
            extra = {key: list(values) for key, values in user.extra.items()}
            requester = {
                "username": user.name,
                "uid": user.uid,
                "groups": list(user.groups),
                "extra": extra,
            }
            spec |= {key: value for key, value in requester.items() if value}
        obj["spec"] = {key: spec[key] for key in _ORDER if key in spec}

    def begin_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        """Write down when a condition was set, and when it last turned."""
        if not scope.subresource:
            return
        now = self.environment.clock.timestamp()
        conditions = []
        for condition in (new.get("status") or {}).get("conditions") or ():
            turned = next(
                (
                    each.get("lastTransitionTime")
                    for each in _conditions(old)
                    if _same(each, condition)
                ),
                None,
            )
            times = {"lastUpdateTime": now, "lastTransitionTime": turned or now}
            values = {
                key: value for key, value in condition.items() if value is not None
            }
            conditions.append({**times, **values})
        if conditions:
            new["status"] = {**new["status"], "conditions": conditions}


def _conditions(request: Object) -> list[Object]:
    return (request.get("status") or {}).get("conditions") or []


def _same(one: Object, other: Object) -> bool:
    return (one.get("type"), one.get("status")) == (
        other.get("type"),
        other.get("status"),
    )


_WHO = ("username", "uid", "groups", "extra")
_ORDER = ("request", "signerName", "expirationSeconds", "usages", *_WHO)
