"""From a profile to its framework.

Upstream: `pkg/scheduler/profile/profile.go` (`newProfile`, `NewMap`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.scheduler.config import (
    DEFAULT_SCHEDULER_NAME,
    ConfigurationError,
    Profile,
)
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.plugins.registry import IN_TREE_REGISTRY
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.runtime.options import (
    Options,
    PluginFactory,
    Registry,
)


def merged_registry(out_of_tree: Registry | None = None) -> Registry:
    """The in-tree plugins and those of one's own. Raises ConfigurationError for a name
    that is taken. Upstream: `Registry.Merge`.
    """
    registry: dict[str, PluginFactory] = dict(IN_TREE_REGISTRY)
    for name, factory in (out_of_tree or {}).items():
        if name in registry:
            raise ConfigurationError(f"a plugin named {name} already exists")
        registry[name] = factory
    return registry


def new_framework(
    profile: Profile,
    options: Options | None = None,
    out_of_tree: Registry | None = None,
) -> Framework:
    """The plugins of a profile. `out_of_tree` adds plugins of one's own. Raises
    ConfigurationError for a profile that cannot be.
    """
    registry = merged_registry(out_of_tree)
    try:
        return Framework(registry, profile, options)
    except ConfigurationError as error:
        raise ConfigurationError(
            "initializing profiles: creating profile for scheduler name"
            f" {profile.scheduler_name}: {error}"
        ) from None


def default_framework(
    *, profile_name: str = DEFAULT_SCHEDULER_NAME, **listers: Any
) -> Framework:
    """All default plugins; further arguments are those of `Listers`."""
    return new_framework(Profile(profile_name), Options(Listers(**listers)))


def check_queue_sort(frameworks: Iterable[Framework]) -> None:
    """There is one queue, so its order must be that of every profile. Raises
    ConfigurationError. Upstream: `cfgValidator.validate`.
    """
    first = ""
    for framework in frameworks:
        [plugin] = framework.queue_sort_plugins
        first = first or plugin.name
        if plugin.name != first:
            raise ConfigurationError(
                "initializing profiles: different queue sort plugins for profile"
                f' "{framework.profile_name}": "{plugin.name}", first: "{first}"'
            )
