"""The strategies of all built-in kinds, by apiVersion and kind.

Upstream: `pkg/controlplane/instance.go` (`GenericStorageProviders`) and the `rest`
package of each group (`NewRESTStorage`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest.strategy import GENERIC, Strategy

GROUPS = (
    "admissionregistration",
    "apiextensions",
    "apiregistration",
    "apps",
    "authentication",
    "authorization",
    "autoscaling",
    "batch",
    "certificates",
    "coordination",
    "core",
    "discovery",
    "events",
    "flowcontrol",
    "networking",
    "node",
    "policy",
    "rbac",
    "resource",
    "scheduling",
    "storage",
)
"""The packages beside this module, one for each API group."""


@cache
def strategies() -> Mapping[tuple[str, str], Strategy]:
    """Every kind that is stored, and what is only posted but has rules of its own
    (Scale, Binding, TokenRequest).
    """
    collected: dict[tuple[str, str], Strategy] = {}
    for group in GROUPS:
        package = import_module(f"lifecycle.apiserver.registry.{group}")
        collected |= package.STRATEGIES
    return collected


def set_defaults(obj: Object) -> None:
    """Fill in what a whole object does not say, by the kind it says it is. In place.
    Upstream: `runtime.ObjectDefaulter`.
    """
    strategy_for(obj["apiVersion"], obj["kind"]).set_defaults(obj)


def strategy_for(api_version: str, kind: str) -> Strategy:
    """The strategy of a kind; `GENERIC` for one without rules of its own."""
    return strategies().get((api_version, kind), GENERIC)
