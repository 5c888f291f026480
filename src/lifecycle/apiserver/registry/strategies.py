"""The strategies of all built-in kinds, by apiVersion and kind.

Upstream: `pkg/controlplane/instance.go` (`GenericStorageProviders`) and the `rest`
package of each group (`NewRESTStorage`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from lifecycle.api.resources import all_resources
from lifecycle.apiserver.registry import (
    admissionregistration,
    apiextensions,
    apiregistration,
    apps,
    authentication,
    authorization,
    autoscaling,
    batch,
    certificates,
    coordination,
    core,
    discovery,
    events,
    flowcontrol,
    networking,
    node,
    policy,
    rbac,
    resource,
    scheduling,
    storage,
)
from lifecycle.apiserver.registry.rest.strategy import GENERIC, Strategy
from lifecycle.apiserver.registry.unmigrated.strategies import unmigrated_strategy

GROUPS = (
    admissionregistration,
    apiextensions,
    apiregistration,
    apps,
    authentication,
    authorization,
    autoscaling,
    batch,
    certificates,
    coordination,
    core,
    discovery,
    events,
    flowcontrol,
    networking,
    node,
    policy,
    rbac,
    resource,
    scheduling,
    storage,
)


@cache
def strategies() -> Mapping[tuple[str, str], Strategy]:
    """Every kind that discovery names, those of subresources (Scale, Binding, Eviction,
    TokenRequest) included.
    """
    kinds = {(row.api_version, row.kind) for row in all_resources()}
    for row in all_resources():
        for sub in row.subresources:
            version = f"{sub.group}/{sub.version}" if sub.group else sub.version
            kinds.add((version, sub.kind))
    collected: dict[tuple[str, str], Strategy] = {}
    for group in GROUPS:
        collected |= group.STRATEGIES
    for key in kinds - collected.keys():
        collected[key] = unmigrated_strategy(*key)
    return collected


def strategy_for(api_version: str, kind: str) -> Strategy:
    """The strategy of a kind; `GENERIC` for one that discovery does not name."""
    return strategies().get((api_version, kind), GENERIC)
