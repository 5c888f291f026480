"""ResourceQuota: a namespace may use so much and no more.

Last in the chain, when nothing else can refuse any more: what the object uses is added to what the quota says is used already; if
that is more than the quota allows, the object is refused, otherwise the quota is charged before the object is stored. Should
storing fail, the namespace is charged for nothing until the quota controller counts again.

Charging is a conditional write of the quota's status. Of two requests that race for the last bit, one loses the write, reads
again, and is refused.

Upstream: `apiserver/pkg/admission/plugin/resourcequota/controller.go` (`quotaEvaluator.checkRequest`), v1.36. Left out: batching
of waiting requests, resources limited by configuration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.quota import ZERO, Usage, matches_scopes, missing_requirements, usage
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.namespaced_index import NamespacedIndex
from lifecycle.apiserver.object_reader import ObjectReader

UpdateStatus = Callable[[Object], Awaitable[object]]
"""Stores a quota's new status if the quota is still the one that was read. Raises StatusError 409 if it is not."""

RETRIES = 3
CHANGEABLE = frozenset({("", "services"), ("", "persistentvolumeclaims")})
"""Types whose use can grow with an update."""


class ResourceQuota(Plugin):
    """Looks at everything that is created in a namespace.

    `update_status` is how quotas are charged; the server sets it. Without it they are checked, but never used up.
    """

    name = "ResourceQuota"
    operations = frozenset({CREATE, UPDATE})

    def __init__(self, reader: ObjectReader, update_status: UpdateStatus | None = None) -> None:
        self.update_status = update_status
        self._quotas = NamespacedIndex(reader, resource("resourcequotas"))

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Creates of namespaced things, and updates of those that can grow."""
        if not resource.namespaced or subresource or resource.kind == "Event":
            return False
        return operation == CREATE or (operation == UPDATE and (resource.group, resource.plural) in CHANGEABLE)

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse what exceeds a quota; charge the quotas for the rest."""
        if not self._quotas[attributes.namespace] or attributes.obj is None:
            return None
        return self._check_and_charge(attributes)

    async def _check_and_charge(self, attributes: Attributes) -> None:
        for attempt in range(RETRIES + 1):
            charged = [new for quota in self._quotas[attributes.namespace] if (new := _charge(quota, attributes))]
            if attributes.dry_run or self.update_status is None:
                return
            try:
                for quota in charged:
                    await self.update_status(quota)
                return
            except StatusError as error:
                if error.code != 409 or attempt == RETRIES:
                    raise


def _charge(quota: Object, attributes: Attributes) -> Object | None:
    """The quota with the object on its bill; None if it concerns none of it. Raises StatusError 403."""
    obj, row = attributes.obj, attributes.resource
    assert obj is not None
    status = quota.get("status") or {}
    hard = {name: parse_quantity(text) for name, text in (status.get("hard") or {}).items()}
    name = quota["metadata"]["name"]
    if not hard or not matches_scopes(quota, row, obj):
        return None
    full_usage = usage(row, obj)
    concerned = hard.keys() & (full_usage.keys() | _possible(row))
    if not concerned:
        return None
    missing = missing_requirements(row, obj, concerned)
    if missing:
        raise attributes.forbidden(f"failed quota: {name}: {missing}")
    used = {key: parse_quantity(text) for key, text in (status.get("used") or {}).items()}
    unknown = sorted(key for key in concerned if key not in used)
    if unknown:
        raise attributes.forbidden(f"status unknown for quota: {name}, resources: {','.join(unknown)}")
    more = {key: amount for key, amount in full_usage.items() if key in concerned}
    if attributes.operation == UPDATE and attributes.old_obj is not None:
        before = usage(row, attributes.old_obj)
        more = {key: amount - before.get(key, ZERO) for key, amount in more.items()}
    more = {key: amount for key, amount in more.items() if amount > ZERO}
    if not more:
        return None
    after = {key: used[key] + amount for key, amount in more.items()}
    exceeded = sorted(key for key, amount in after.items() if amount > hard[key])
    if exceeded:
        raise attributes.forbidden(
            f"exceeded quota: {name}, requested: {_print(more, exceeded)}, "
            f"used: {_print(used, exceeded)}, limited: {_print(hard, exceeded)}"
        )
    new_used = (status.get("used") or {}) | {key: str(amount) for key, amount in after.items()}
    return {**quota, "status": {**status, "used": new_used}}


def _possible(row: Resource) -> frozenset[str]:
    """What a quota may limit for a type although this object uses none of it: pods without requests still have to declare them."""
    if row.group or row.plural != "pods":
        return frozenset()
    return frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})


def _print(amounts: Usage, names: list[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names)
