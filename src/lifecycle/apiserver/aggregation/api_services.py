"""APIServices: which server answers for a group and version, and who comes first in
discovery.

An APIService is a line in a routing table. Its name says for what (`v1.apps`), its
`spec.service` says by whom: nobody there means this server itself. Two numbers set the
order in which clients hear of groups and versions, and so which one `kubectl get
things` means if two groups have `things`: `groupPriorityMinimum` (the highest of a
group's counts) and `versionPriority`.

Upstream: `kube-aggregator/pkg/apis/apiregistration/v1/helper/helpers.go`
(`SortedByGroupAndVersion`, `SetAPIServiceCondition`),
`apimachinery/pkg/version/helpers.go` (`CompareKubeAwareVersionStrings`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lifecycle.api.conditions import is_condition_true, with_condition
from lifecycle.api.http.wire import Object

API_VERSION = "apiregistration.k8s.io/v1"
GROUP = "apiregistration.k8s.io"
AVAILABLE = "Available"
DEFAULT_PORT = 443
_KUBE_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")
_MATURITY = {"alpha": 0, "beta": 1, None: 2}


def version_rank(version: str) -> tuple[int, ...]:
    """What sorts versions from the least to the most mature: `v1alpha1`, `v1beta2`,
    `v1`, `v2`. What is no such name comes before all.

    Among names of no known form the one that is *earlier* in the alphabet counts for
    more.
    """
    match = _KUBE_VERSION.fullmatch(version)
    if match is None:
        return (0, *(-ord(letter) for letter in version), 1)
    return 1, _MATURITY[match[2]], int(match[1]), int(match[3] or 0)


def sorted_by_group_and_version(services: Iterable[Object]) -> list[list[Object]]:
    """The APIServices of each group together, groups and the versions in them in the
    order of discovery.
    """
    groups: dict[str, list[Object]] = {}
    for service in sorted(
        services,
        key=lambda each: (
            -each["spec"]["groupPriorityMinimum"],
            each["metadata"]["name"],
        ),
    ):
        groups.setdefault(service["spec"].get("group", ""), []).append(service)
    for members in groups.values():
        members.sort(
            key=lambda each: (
                each["spec"]["versionPriority"],
                version_rank(each["spec"]["version"]),
            )
        )
        members.reverse()
    return list(groups.values())


def group_version(service: Object) -> tuple[str, str]:
    """For which group and version an APIService stands."""
    return service["spec"].get("group", ""), service["spec"]["version"]


def service_reference(service: Object) -> tuple[str, str, int] | None:
    """Namespace, name and port of the Service behind it; None for what this server
    answers itself.
    """
    reference = service["spec"].get("service")
    if not reference:
        return None
    return (
        reference["namespace"],
        reference["name"],
        reference.get("port") or DEFAULT_PORT,
    )


def is_available(service: Object) -> bool:
    """Whether requests may be sent there."""
    return is_condition_true(service, AVAILABLE)


def availability(services: Iterable[Object]) -> Iterator[tuple[str, bool]]:
    """Names of the APIServices of added servers, and whether each is available."""
    for service in services:
        if service_reference(service) is not None:
            yield service["metadata"]["name"], is_available(service)


def set_available_condition(
    service: Object, status: str, reason: str, message: str, now: str
) -> Object:
    """The APIService with a new condition `Available`. The time of transition changes
    only with the status. Upstream: `SetAPIServiceCondition`.
    """
    condition = {
        "type": AVAILABLE,
        "status": status,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
    return with_condition(service, condition, now)
