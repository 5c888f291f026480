"""A namespace and what bounds it: quotas for all of it, limit ranges for each thing in
it.

Upstream: `kubectl/pkg/describe/describe.go` (`NamespaceDescriber`,
`describeNamespace`, `DescribeResourceQuotas`, `describeQuota`, `DescribeLimitRanges`,
`describeLimitRangeSpec`), v1.36. The rows of one limit stand in the order of their
resources; upstream's come as they like.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import Quantity, canonical_quantity, parse_quantity
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter

SCOPES = {
    "Terminating": (
        "Matches all pods that have an active deadline. These pods have a limited"
        " lifespan on a node before being actively terminated by the system."
    ),
    "NotTerminating": (
        "Matches all pods that do not have an active deadline. These pods usually"
        " include long running pods whose container command is not expected to"
        " terminate."
    ),
    "BestEffort": (
        "Matches all pods that do not have resource requirements set. These pods have a"
        " best effort quality of service."
    ),
    "NotBestEffort": (
        "Matches all pods that have at least one resource requirement set. These pods"
        " have a burstable or guaranteed quality of service."
    ),
}
"""Which pods a quota counts, in upstream's words."""
_LIMIT_COLUMNS = ("Resource", "Min", "Max", "Default Request", "Default Limit")
_RATIO = "Max Limit/Request Ratio"


async def describe_namespace(client: Clientset, namespace: str, name: str) -> str:
    """Describe a namespace. Raises StatusError."""
    obj = await client.get("namespaces", "", name)
    quotas = await _all_or_none(client, "resourcequotas", name)
    limit_ranges = await _all_or_none(client, "limitranges", name)
    w = PrefixWriter()
    print_metadata(w, obj, namespaced=False)
    status = obj.get("status") or {}
    w.field(0, "Status", status.get("phase", ""))
    _conditions(status.get("conditions") or (), w)
    if quotas is not None:
        w.write(0, "\n")
        _resource_quotas(quotas, w)
    if limit_ranges is not None:
        w.write(0, "\n")
        _limit_ranges(limit_ranges, w)
    return w.tabbed


async def _all_or_none(
    client: Clientset, plural: str, namespace: str
) -> list[Object] | None:
    """All of a kind; None where the server has no such kind."""
    try:
        return await client.list_all(plural, namespace, {})
    except StatusError as error:
        if error.code != 404:
            raise
        return None


def _conditions(conditions: Iterable[Object], w: PrefixWriter) -> None:
    if conditions:
        w.write(0, "Conditions:\n")
        w.header(1, "Type", "Status", "LastTransitionTime", "Reason", "Message")
    for each in conditions:
        w.row(
            1,
            each["type"],
            each["status"],
            rfc1123z(each.get("lastTransitionTime")),
            each.get("reason", ""),
            each.get("message", ""),
        )


def _resource_quotas(quotas: list[Object], w: PrefixWriter) -> None:
    if not quotas:
        w.write(0, "No resource quota.\n")
        return
    w.write(0, "Resource Quotas\n")
    for quota in sorted(quotas, key=lambda each: str(each["metadata"]["name"])):
        w.field(1, "Name", quota["metadata"]["name"])
        _scopes(quota, w, 1, "* ")
        w.header(1, "Resource", "Used", "Hard", rules=(8, 3, 3))
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        for name in sorted(hard):
            amounts = (used.get(name, "0"), hard[name])
            w.row(1, name, *map(canonical_quantity, amounts))


def _scopes(quota: Object, w: PrefixWriter, level: int, bullet: str) -> None:
    scopes = sorted(quota["spec"].get("scopes") or ())
    if scopes:
        w.field(level, "Scopes", ", ".join(scopes))
    for scope in scopes:
        if scope in SCOPES:
            w.write(level, f"{bullet}{SCOPES[scope]}\n")


def _limit_ranges(limit_ranges: list[Object], w: PrefixWriter) -> None:
    if not limit_ranges:
        w.write(0, "No LimitRange resource.\n")
        return
    w.write(0, "Resource Limits\n")
    names = ("Type", *_LIMIT_COLUMNS, _RATIO)
    w.row(0, " Type", *names[1:])
    w.row(0, " ----", *("-" * len(name) for name in names[1:]))
    for limit_range in limit_ranges:
        _limits(limit_range["spec"], " ", w)


def _limits(spec: Object, prefix: str, w: PrefixWriter) -> None:
    for item in spec.get("limits") or ():
        columns = [
            item.get(field) or {}
            for field in (
                "min",
                "max",
                "defaultRequest",
                "default",
                "maxLimitRequestRatio",
            )
        ]
        for name in sorted({name for column in columns for name in column}):
            amounts = [
                canonical_quantity(column[name]) if name in column else "-"
                for column in columns
            ]
            w.row(0, f"{prefix}{item['type']}", name, *amounts)


async def describe_limit_range(client: Clientset, namespace: str, name: str) -> str:
    """Describe a LimitRange. Raises StatusError."""
    limit_range = await client.get("limitranges", namespace, name)
    w = PrefixWriter()
    w.field(0, "Name", limit_range["metadata"]["name"])
    w.field(0, "Namespace", limit_range["metadata"].get("namespace", ""))
    w.header(0, "Type", *_LIMIT_COLUMNS, _RATIO)
    _limits(limit_range["spec"], "", w)
    return w.tabbed


async def describe_quota(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ResourceQuota. Raises StatusError."""
    quota = await client.get("resourcequotas", namespace, name)
    w = PrefixWriter()
    w.field(0, "Name", quota["metadata"]["name"])
    w.field(0, "Namespace", quota["metadata"].get("namespace", ""))
    _scopes(quota, w, 0, " * ")
    w.header(0, "Resource", "Used", "Hard")
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    for name in sorted(hard):
        limit, amount = parse_quantity(hard[name]), parse_quantity(used.get(name, "0"))
        if limit.format is not amount.format:
            amount = Quantity(amount.value(), format=limit.format)
        w.row(0, name, amount, limit)
    return w.tabbed
