"""ResourceQuota: a namespace may use so much and no more.

Last in the chain, when nothing else can refuse any more: what the object uses is added
to what the quota says is used already; if that is more than the quota allows, the
object is refused, otherwise the quota is charged before the object is stored. Should
storing fail, the namespace is charged for nothing until the quota controller counts
again.

Charging is a conditional write of the quota's status. Of two requests that race for the
last bit, one loses the write, reads again, and is refused.

Upstream: `apiserver/pkg/admission/plugin/resourcequota/controller.go` (`CheckRequest`),
v1.36. Left out: batching of waiting requests, resources limited by configuration,
claims whose status changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.quota import (
    ZERO,
    Usage,
    is_terminating,
    matches_scopes,
    matching_resources,
    missing_requirements,
    usage,
)
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.namespaced_index import NamespacedIndex
from lifecycle.apiserver.storage.object_reader import ObjectReader

UpdateStatus = Callable[[Object], Awaitable[object]]
"""Stores a quota's new status if the quota is still the one that was read. Raises
StatusError 409 if it is not.
"""

RETRIES = 3
PODS = ("", "pods")
CHANGEABLE = frozenset(
    {
        PODS,
        ("", "services"),
        ("", "persistentvolumeclaims"),
        ("resource.k8s.io", "resourceclaims"),
    }
)
"""Types whose use can grow with an update."""


class ResourceQuota(Plugin):
    """Looks at everything that is created in a namespace.

    `update_status` is how quotas are charged. Without it they are
    checked, but never used up.
    """

    name = "ResourceQuota"
    operations = frozenset({CREATE, UPDATE})

    def __init__(
        self, reader: ObjectReader, update_status: UpdateStatus | None = None
    ) -> None:
        self._update_status = update_status
        self._quotas = NamespacedIndex(reader, resource("resourcequotas"))

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Creates of namespaced things, updates of those that can grow, and resizes."""
        if not resource.namespaced or resource.kind == "Event":
            return False
        kind = (resource.group, resource.plural)
        if subresource:
            return operation == UPDATE and kind == PODS and subresource == "resize"
        return operation == CREATE or (operation == UPDATE and kind in CHANGEABLE)

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse what exceeds a quota; charge the quotas for the rest."""
        obj, old = attributes.obj, attributes.old_obj
        if not self._quotas[attributes.namespace] or obj is None:
            return None
        changes_pod = (
            attributes.operation == UPDATE
            and _is_pod(attributes.resource)
            and not attributes.subresource
        )
        if (
            changes_pod
            and old is not None
            and is_terminating(old) is is_terminating(obj)
        ):
            return None
        return self._check_and_charge(attributes)

    async def _check_and_charge(self, attributes: Attributes) -> None:
        """A namespace may have thousands of quotas, each of which is asked, charged and
        written: others have their turn in between.
        """
        pauses = Pauses()
        for attempt in range(RETRIES + 1):
            concerned, charged = list[Object](), list[Object]()
            for quota in list(self._quotas[attributes.namespace]):
                if _concerns(quota, attributes):
                    concerned.append(quota)
                await pauses.pause()
            for quota in concerned:
                if new := _charge(quota, attributes):
                    charged.append(new)
                await pauses.pause()
            if attributes.dry_run or self._update_status is None:
                return
            try:
                for quota in charged:
                    await self._update_status(quota)
                    await pauses.pause()
                return
            except StatusError as error:
                if error.code != 409 or attempt == RETRIES:
                    raise


def _is_pod(row: Resource) -> bool:
    return (row.group, row.plural) == PODS


def _matches(quota: Object, row: Resource, obj: Object) -> list[str]:
    """What of a quota's status is about an object; nothing if it is outside the quota's
    scopes.
    """
    names = matching_resources(row, (quota.get("status") or {}).get("hard") or {})
    return names if names and matches_scopes(quota, row, obj) else []


def _concerns(quota: Object, attributes: Attributes) -> bool:
    """Whether the quota has a say. Raises StatusError 403 if the object does not name
    what the quota limits, or if nothing is counted yet.

    Every quota is asked before any is charged.
    """
    obj, row = attributes.obj, attributes.resource
    assert obj is not None
    limited = _matches(quota, row, obj)
    if not limited:
        return False
    name = quota["metadata"]["name"]
    missing = missing_requirements(row, obj, limited)
    if missing:
        raise attributes.forbidden(f"failed quota: {name}: {missing}")
    used = (quota.get("status") or {}).get("used") or {}
    if any(key not in used for key in limited):
        raise attributes.forbidden(
            f"status unknown for quota: {name}, resources: {','.join(limited)}"
        )
    return True


def _charge(quota: Object, attributes: Attributes) -> Object | None:
    """The quota with the object on its bill; None if that makes no difference. Raises
    StatusError 403.

    An update is charged for what it adds, or for everything if it brings the object
    into the quota's scope.
    """
    obj, row = attributes.obj, attributes.resource
    assert obj is not None
    status, name = quota["status"], quota["metadata"]["name"]
    limits = status["hard"]
    more = {key: amount for key, amount in usage(row, obj).items() if key in limits}
    if (
        attributes.operation == UPDATE
        and attributes.old_obj is not None
        and _matches(quota, row, attributes.old_obj)
    ):
        before = usage(row, attributes.old_obj)
        more = {key: amount - before.get(key, ZERO) for key, amount in more.items()}
    more = {key: amount for key, amount in more.items() if amount > ZERO}
    if not more:
        return None
    # of what the quota limits, which may be any number of things, only these are read
    hard, used = (
        {key: parse_quantity(texts[key]) for key in more if key in texts}
        for texts in (limits, status.get("used") or {})
    )
    after = {key: used.get(key, ZERO) + amount for key, amount in more.items()}
    exceeded = sorted(key for key, amount in after.items() if amount > hard[key])
    if exceeded:
        raise attributes.forbidden(
            f"exceeded quota: {name}, requested: {_print(more, exceeded)}, "
            f"used: {_print(used, exceeded)}, limited: {_print(hard, exceeded)}"
        )
    new_used = (status.get("used") or {}) | {
        key: str(amount) for key, amount in after.items()
    }
    return {**quota, "status": {**status, "used": new_used}}


def _print(amounts: Usage, names: list[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names)
