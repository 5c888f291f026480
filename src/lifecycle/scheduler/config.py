"""KubeSchedulerConfiguration: which profiles a scheduler serves, with which plugins,
weights and helpers.

One process may serve several names. A profile starts from the default plugins and
changes them: at `multiPoint` for all extension points at once, or at a single point. A
plugin enabled again only gets another weight and keeps its place; a new one comes last;
`*` disables all.

Upstream: `kube-scheduler/config/v1/types.go` (`KubeSchedulerConfiguration`),
`pkg/scheduler/apis/config/v1/default_plugins.go` (`mergePluginSet`),
`apis/config/validation/validation.go`, `framework/runtime/framework.go`
(`expandMultiPointPlugins`), v1.36. Left out: the validation of pluginConfig. What the
file says of the client's connection and of leader election is the process' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lifecycle.api.aggregate import aggregate
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.resource_names import is_extended_resource_name
from lifecycle.api.validation.content import qualified_name

API_VERSION = "kubescheduler.config.k8s.io/v1"
DEFAULT_SCHEDULER_NAME = "default-scheduler"
DEFAULT_EXTENDER_TIMEOUT = 5.0

MULTI_POINT_DEFAULTS: tuple[tuple[str, int], ...] = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeUnschedulable", 0),
    ("NodeName", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
)
"""Plugins and weights in upstream's order; those that are not rebuilt are left out (see
`profile.py`).
"""

PER_POINT = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)
"""The extension points, in the order in which a pod passes them."""


class ConfigurationError(ValueError):
    """The configuration cannot be used; the text says where and why, as upstream's
    validation does.
    """


@dataclass(slots=True, frozen=True)
class ExtenderConfig:
    """One extender as configured. `http_timeout` in seconds."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 1
    http_timeout: float = DEFAULT_EXTENDER_TIMEOUT
    node_cache_capable: bool = False
    ignorable: bool = False
    managed_resources: frozenset[str] = frozenset()
    ignored_by_scheduler: frozenset[str] = frozenset()


@dataclass(slots=True)
class Profile:
    """One name and its plugins: `multi_point` in order with weights, and for single
    points the names there.
    """

    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    multi_point: tuple[tuple[str, int], ...] = MULTI_POINT_DEFAULTS
    points: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    args: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int | None = None

    def at(self, point: str) -> tuple[tuple[str, int], ...]:
        """Names and weights of the plugins to be called at a point, in order."""
        return self.points.get(point, self.multi_point)

    def plugin_names(self) -> tuple[str, ...]:
        """Every plugin that is called somewhere, once."""
        everywhere = (self.multi_point, *self.points.values())
        return tuple(dict.fromkeys(name for point in everywhere for name, _ in point))

    def score_weights(self) -> dict[str, int]:
        """What scores are multiplied by: as the score point says, else as multiPoint
        does; 1 where neither does.
        """
        weights = {**dict(self.multi_point), **dict(self.points.get("score", ()))}
        return {name: weight or 1 for name, weight in weights.items()}


@dataclass(slots=True)
class SchedulerConfiguration:
    """What a scheduler is started with. Times in seconds."""

    profiles: tuple[Profile, ...] = field(default_factory=lambda: (Profile(),))
    extenders: tuple[ExtenderConfig, ...] = ()
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: float = 1.0
    pod_max_backoff_seconds: float = 10.0


def read_document(text: str) -> Any:
    """What a file says, as Go reads YAML. Raises ConfigurationError."""
    try:
        return read_yaml(text.encode())[0]
    except ValueError as error:
        raise ConfigurationError(str(error)) from None


def parse_configuration(document: str | Mapping[str, Any]) -> SchedulerConfiguration:
    """Read a configuration (YAML or decoded). Raises ConfigurationError."""
    decoded: Any = read_document(document) if isinstance(document, str) else document
    if (
        not isinstance(decoded, Mapping)
        or decoded.get("kind") != "KubeSchedulerConfiguration"
    ):
        kind = decoded.get("kind", "") if isinstance(decoded, Mapping) else ""
        raise ConfigurationError(
            f'no kind "{kind}" is registered for version "{API_VERSION}"'
        )
    if decoded.get("apiVersion") != API_VERSION:
        raise ConfigurationError(
            'no kind "KubeSchedulerConfiguration" is registered for version'
            f' "{decoded.get("apiVersion", "")}"'
        )
    entries: Sequence[Mapping[str, Any]] = decoded.get("profiles") or ({},)
    profiles = tuple(_profile(entry) for entry in entries)
    seen: set[str] = set()
    for number, profile in enumerate(profiles):
        if profile.scheduler_name in seen:
            raise ConfigurationError(
                f"profiles[{number}].schedulerName: Duplicate value:"
                f' "{profile.scheduler_name}"'
            )
        seen.add(profile.scheduler_name)
    percentage = decoded.get("percentageOfNodesToScore") or 0
    initial, longest = (
        decoded.get("podInitialBackoffSeconds", 1),
        decoded.get("podMaxBackoffSeconds", 10),
    )
    extenders: Sequence[Mapping[str, Any]] = decoded.get("extenders") or ()
    errors = [
        *_number_errors(percentage, initial, longest),
        *_extender_errors(extenders),
    ]
    if errors:
        raise ConfigurationError(aggregate([str(error) for error in errors]))
    return SchedulerConfiguration(
        profiles,
        tuple(extender_config(entry) for entry in extenders),
        percentage,
        float(initial),
        float(longest),
    )


def _number_errors(
    percentage: int, initial: float, longest: float
) -> Iterator[FieldError]:
    if not 0 <= percentage <= 100:
        yield invalid(
            "percentageOfNodesToScore", percentage, "not in valid range [0-100]"
        )
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid(
            "podMaxBackoffSeconds",
            longest,
            "must be greater than or equal to PodInitialBackoffSeconds",
        )


def _extender_errors(extenders: Sequence[Mapping[str, Any]]) -> Iterator[FieldError]:
    """Upstream: `validateExtenders`."""
    seen: set[str] = set()
    for i, entry in enumerate(extenders):
        weight = entry.get("weight", 0)
        if entry.get("prioritizeVerb") and weight <= 0:
            yield invalid(
                f"extenders[{i}].weight",
                weight,
                "must have a positive weight applied to it",
            )
        for j, managed in enumerate(entry.get("managedResources") or ()):
            path, name = f"extenders[{i}].managedResources[{j}].name", managed["name"]
            wrong = qualified_name(name)
            yield from (invalid(path, name, message) for message in wrong)
            if not wrong and not is_extended_resource_name(name):
                yield invalid(path, name, "is an invalid extended resource name")
            if name in seen:
                yield invalid(path, name, "duplicate extender managed resource name")
            seen.add(name)
    binders = sum(bool(entry.get("bindVerb")) for entry in extenders)
    if binders > 1:
        yield invalid(
            "extenders",
            f"found {binders} extenders implementing bind",
            "only one extender can implement bind",
        )


def _profile(entry: Mapping[str, Any]) -> Profile:
    plugins = entry.get("plugins") or {}
    profile = Profile(entry.get("schedulerName") or DEFAULT_SCHEDULER_NAME)
    profile.percentage_of_nodes_to_score = entry.get("percentageOfNodesToScore")
    profile.multi_point = merge_plugin_set(
        MULTI_POINT_DEFAULTS, plugins.get("multiPoint") or {}
    )
    for point, changes in plugins.items():
        if point in PER_POINT:
            profile.points[point] = _at_point(profile.multi_point, changes)
    for config in entry.get("pluginConfig") or ():
        profile.args[config["name"]] = config.get("args") or {}
    return profile


def with_ignored_resources(configuration: SchedulerConfiguration) -> list[Profile]:
    """The profiles, where NodeResourcesFit leaves alone what extenders look after and
    want ignored.

    Upstream: `pkg/scheduler/scheduler.go` (`buildExtenders`).
    """
    ignored = sorted(
        {
            name
            for extender in configuration.extenders
            for name in extender.ignored_by_scheduler
        }
    )
    if not ignored:
        return list(configuration.profiles)
    profiles = []
    for profile in configuration.profiles:
        args = profile.args.get("NodeResourcesFit", {})
        args = {
            **args,
            "ignoredResources": [*(args.get("ignoredResources") or ()), *ignored],
        }
        profiles.append(
            replace(profile, args={**profile.args, "NodeResourcesFit": args})
        )
    return profiles


def merge_plugin_set(
    defaults: Sequence[tuple[str, int]], changes: Mapping[str, Any]
) -> tuple[tuple[str, int], ...]:
    """Defaults without what is disabled; what is enabled anew in place, or at the end.
    Weight 0: the plugin's own.
    """
    disabled = {entry["name"] for entry in changes.get("disabled") or ()}
    enabled = {
        entry["name"]: int(entry.get("weight") or 0)
        for entry in changes.get("enabled") or ()
    }
    merged: list[tuple[str, int]] = []
    for name, weight in defaults:
        if name in enabled and name not in disabled and "*" not in disabled:
            merged.append((name, enabled.pop(name) or weight))
        elif name not in disabled and "*" not in disabled:
            merged.append((name, weight))
    return (*merged, *enabled.items())


def _at_point(
    multi_point: Sequence[tuple[str, int]], changes: Mapping[str, Any]
) -> tuple[tuple[str, int], ...]:
    """At a single point: first those of multiPoint that are named here again, as they
    are named here; then the others of multiPoint; then those named only here.
    """
    disabled = {entry["name"] for entry in changes.get("disabled") or ()}
    own = [
        (entry["name"], int(entry.get("weight") or 1))
        for entry in changes.get("enabled") or ()
    ]
    if "*" in disabled:
        return tuple(own)
    anywhere = {name for name, _ in multi_point if name not in disabled}
    named = {name for name, _ in own}
    return (
        *(entry for entry in own if entry[0] in anywhere),
        *(e for e in multi_point if e[0] in anywhere and e[0] not in named),
        *(entry for entry in own if entry[0] not in anywhere),
    )


def extender_config(entry: Mapping[str, Any]) -> ExtenderConfig:
    """Read one entry of `extenders`."""
    managed = entry.get("managedResources") or ()
    return ExtenderConfig(
        entry["urlPrefix"],
        entry.get("filterVerb", ""),
        entry.get("prioritizeVerb", ""),
        entry.get("preemptVerb", ""),
        entry.get("bindVerb", ""),
        entry.get("weight", 1),
        _seconds(entry.get("httpTimeout")),
        bool(entry.get("nodeCacheCapable")),
        bool(entry.get("ignorable")),
        frozenset(item["name"] for item in managed),
        frozenset(item["name"] for item in managed if item.get("ignoredByScheduler")),
    )


def _seconds(duration: str | float | None) -> float:
    if duration is None:
        return DEFAULT_EXTENDER_TIMEOUT
    if isinstance(duration, int | float):
        return float(duration)
    units = (("ms", 0.001), ("s", 1.0), ("m", 60.0))
    return next(
        float(duration[: -len(unit)]) * factor
        for unit, factor in units
        if duration.endswith(unit)
    )
