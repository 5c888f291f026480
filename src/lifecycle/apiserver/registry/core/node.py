"""Nodes: the machines that pods run on.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_Node` …),
`pkg/registry/core/node/strategy.go`, `pkg/apis/core/validation/validation.go`
(`ValidateNode`, `ValidateNodeUpdate`), `pkg/api/node/util.go`,
`pkg/printers/internalversion/printers.go` (`printNode`, `findNodeRoles`), v1.36.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.field_errors import (
    DUPLICATE,
    FieldError,
    duplicate,
    forbidden,
    internal,
    invalid,
    required,
)
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_network,
    validate_legacy_cidr,
    warnings_for_cidr,
)
from lifecycle.apiserver.registry.core.pod.placement import validate_taint_effect
from lifecycle.apiserver.registry.core.pod.resources import validate_quantity
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_label_name,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(node: Object) -> None:
    """Everything a node has is allocatable unless it says otherwise."""
    spec, status = node.setdefault("spec", {}), node.setdefault("status", {})
    if spec.get("podCIDR") and spec["podCIDR"] != next(
        iter(spec.get("podCIDRs") or ()), ""
    ):
        spec["podCIDRs"] = [
            spec["podCIDR"]
        ]  # who knows only the older field has the last word
    elif spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    if status.get("allocatable") is None and status.get("capacity") is not None:
        status["allocatable"] = dict(status["capacity"])
    round_up_resource_list(status.get("capacity"))
    round_up_resource_list(status.get("allocatable"))


# --- validation -----------------------------------------------------------------------


def validate(node: Object) -> list[FieldError]:
    """Taints, amounts and pod networks."""
    errors = validate_core_object_meta(
        node.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    spec = node.get("spec") or {}
    errors += _validate_taints(spec.get("taints") or [], "metadata.taints")
    errors += _validate_resources(node)
    networks = spec.get("podCIDRs") or []
    for index, network in enumerate(networks):
        errors += validate_legacy_cidr(network, f"spec.podCIDRs[{index}]")
    if len(networks) > 1:
        unread = next(
            (i for i, network in enumerate(networks) if parse_network(network) is None),
            None,
        )
        if unread is not None:
            why = (
                f"error:invalid CIDR[{unread}]: <nil> (invalid CIDR address:"
                f" {networks[unread]})"
            )
            errors.append(
                internal(
                    "spec.podCIDRs",
                    f"invalid PodCIDRs. failed to check with dual stack with {why}",
                )
            )
        families = {is_ipv6(network.partition("/")[0]) for network in networks}
        if unread is not None or len(networks) > 2 or len(families) != 2:
            errors.append(
                invalid(
                    "spec.podCIDRs",
                    networks,
                    "may specify no more than one CIDR for each IP family",
                )
            )
    return errors


def _validate_taints(taints: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        here, key, effect = (
            f"{path}[{index}]",
            taint.get("key", ""),
            taint.get("effect", ""),
        )
        errors += validate_label_name(key, f"{here}.key")
        messages = content.label_value(taint.get("value", ""))
        if messages:
            errors.append(
                invalid(f"{here}.value", taint.get("value", ""), ";".join(messages))
            )
        errors += (
            validate_taint_effect(effect, f"{here}.effect")
            if effect
            else [required(f"{here}.effect")]
        )
        if (key, effect) in seen:
            value = internal_value("core/v1.Taint", taint)
            errors.append(
                FieldError(
                    DUPLICATE,
                    here,
                    value,
                    "taints must be unique by key and effect pair",
                )
            )
        seen.add((key, effect))
    return errors


def _validate_resources(node: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for group in ("capacity", "allocatable"):
        for name, amount in ((node.get("status") or {}).get(group) or {}).items():
            errors += validate_quantity(name, amount, f"status.{group}.{name}")
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A node that would be good as a new one, too."""
    return validate(new) + validate_status_update(new, old)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Pod networks and the provider's id, once given, stay. What is checked is the
    whole node. Upstream: `ValidateNodeUpdate`.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_resources(new)
    addresses = (new.get("status") or {}).get("addresses") or []
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            errors.append(
                duplicate(
                    f"status.addresses[{index}]",
                    internal_value("core/v1.NodeAddress", address),
                )
            )
    if before.get("podCIDRs") and spec.get("podCIDRs") != before["podCIDRs"]:
        errors.append(
            forbidden(
                "spec.podCIDRs",
                'node updates may not change podCIDR except from "" to valid',
            )
        )
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        errors.append(
            forbidden(
                "spec.providerID",
                'node updates may not change providerID except from "" to valid',
            )
        )
    errors += _validate_taints(spec.get("taints") or [], "metadata.taints")
    features = (new.get("status") or {}).get("declaredFeatures") or []
    errors += _validate_features(features, "status.declaredFeatures")
    if spec.get("externalID") != before.get("externalID"):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _validate_features(features: list[str], path: str) -> list[FieldError]:
    """Names of features, each once, in order."""
    errors: list[FieldError] = []
    for index, (before, name) in enumerate(pairwise(["", *features])):
        here = f"{path}[{index}]"
        if index and name == before:
            errors.append(duplicate(here, name))
        elif index and name < before:
            errors.append(invalid(here, name, "list must be sorted alphabetically"))
        if not _FEATURE.fullmatch(name):
            why = f"invalid feature name {go_quote(name)}: {_NOT_A_FEATURE}"
            errors.append(invalid(here, name, why))
    return errors


_FEATURE = re.compile(r"[A-Z][A-Za-z0-9]*(/[A-Za-z][A-Za-z0-9]*)*")
_NOT_A_FEATURE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by"
    " '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric"
    " characters and slashes"
)


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(node: Object) -> None:
    """Nobody configures a kubelet from here any more."""
    _drop(node, "spec", "configSource")
    _drop(node, "status", "config")


def prepare_for_update(new: Object, old: Object) -> None:
    """What is there may stay."""
    if (old.get("spec") or {}).get("configSource") is None:
        _drop(new, "spec", "configSource")


def _prepare_for_status_update(new: Object, old: Object) -> None:
    update.prepare_for_status_update(new, old)
    if (old.get("status") or {}).get("config") is None:
        _drop(new, "status", "config")


def _drop(node: Object, part: str, key: str) -> None:
    holder = node.get(part) or {}
    if key in holder:
        node[part] = {name: holder[name] for name in holder if name != key}


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(node: Object) -> list[str]:
    """Of fields that no longer do anything, and networks in unusual spellings."""
    spec = node.get("spec") or {}
    warnings: list[str] = []
    if spec.get("configSource") is not None:
        warnings.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        warnings.append(
            "spec.externalID: this field is deprecated, and is unused by Kubernetes"
        )
    for index, network in enumerate(spec.get("podCIDRs") or ()):
        warnings += warnings_for_cidr(network, f"spec.podCIDRs[{index}]")
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- field labels, table --------------------------------------------------------------


def _selectable_fields(node: Object) -> dict[str, str]:
    unschedulable = (node.get("spec") or {}).get("unschedulable")
    return {"spec.unschedulable": "true" if unschedulable else "false"}


FIELD_LABELS = FieldLabels(
    ("metadata.name", *_selectable_fields({})),
    _selectable_fields,
    field_label_not_supported,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"

_ROLE = "kubernetes.io/role"


def print_node(node: Object, now: float) -> Cells:
    """The cells of `kubectl get nodes`."""
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    ready = next(
        (
            c["status"]
            for c in reversed(status.get("conditions") or ())
            if c["type"] == "Ready"
        ),
        None,
    )
    states = [
        "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    ]
    if (node.get("spec") or {}).get("unschedulable"):
        states.append("SchedulingDisabled")
    return [
        node["metadata"]["name"],
        ",".join(states),
        ",".join(_roles(node)) or "<none>",
        age(node, now),
        info.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or "<unknown>",
        _kernel(info),
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _kernel(info: Object) -> str:
    """`6.1.0 (amd64)`: since 1.36 the architecture stands beside the kernel's
    version.
    """
    version, architecture = (
        info.get("kernelVersion") or "<unknown>",
        info.get("architecture"),
    )
    return f"{version} ({architecture})" if architecture else version


def _roles(node: Object) -> list[str]:
    """Roles come from labels: `node-role.kubernetes.io/ROLE`, or
    `kubernetes.io/role=ROLE`.
    """
    labels = node["metadata"].get("labels") or {}
    roles = {
        key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)
    } | {labels.get(_ROLE, "")}
    return sorted(roles - {""})


def _address(status: Object, type: str) -> str:
    return next(
        (a["address"] for a in status.get("addresses") or () if a["type"] == type),
        "<none>",
    )


_NODE_INFO = "core/v1.NodeSystemInfo"

PRINTER = Printer(
    (
        NAME,
        Column("Status", "The status of the node"),
        Column("Roles", "The roles of the node"),
        AGE,
        Column("Version", field(_NODE_INFO, "kubeletVersion")),
        Column("Internal-IP", field("core/v1.NodeStatus", "addresses"), priority=1),
        Column("External-IP", field("core/v1.NodeStatus", "addresses"), priority=1),
        Column("OS-Image", field(_NODE_INFO, "osImage"), priority=1),
        Column("Kernel-Version", field(_NODE_INFO, "kernelVersion"), priority=1),
        Column(
            "Container-Runtime",
            field(_NODE_INFO, "containerRuntimeVersion"),
            priority=1,
        ),
    ),
    print_node,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    status_on_create=True,
    prepare_for_create=prepare_for_create,
    prepare_for_update=prepare_for_update,
    validate=validate,
    warnings_on_create=warnings_on_create,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(_prepare_for_status_update, validate_status_update)
    },
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
