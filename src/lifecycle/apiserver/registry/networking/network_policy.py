"""NetworkPolicies: who may talk to whom.

Upstream: `pkg/apis/networking/v1/defaults.go` (`SetDefaults_NetworkPolicy` …),
`pkg/registry/networking/networkpolicy/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateNetworkPolicySpec` …),
`pkg/printers/internalversion/printers.go` (`printNetworkPolicy`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.labels import format_label_selector
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    parse_network,
    unmapped,
    validate_legacy_cidr,
    warnings_for_cidr,
)
from lifecycle.apiserver.registry.core.pod.containers import PROTOCOLS
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(policy: Object) -> None:
    """TCP ports; a policy is about Ingress, and about Egress if it has such rules."""
    spec = policy.setdefault("spec", {})
    for rules in ("ingress", "egress"):
        for rule in spec.get(rules) or ():
            for port in rule.get("ports") or ():
                set_default(port, "protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = (
            ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        )


# --- validation -----------------------------------------------------------------------


def validate(policy: Object) -> list[FieldError]:
    """Selectors, ports and peers."""
    errors = validate_core_object_meta(
        policy.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(policy.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed policy. Networks that stood in the old one, anywhere, may stand in the
    new one.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(
        new.get("spec") or {}, _networks_of(old.get("spec") or {})
    )


def _networks_of(spec: Object) -> list[str]:
    rules = [rule.get("from") for rule in spec.get("ingress") or ()] + [
        r.get("to") for r in spec.get("egress") or ()
    ]
    blocks = [
        peer["ipBlock"] for peers in rules for peer in peers or () if "ipBlock" in peer
    ]
    return [
        text
        for block in blocks
        for text in (block.get("cidr", ""), *(block.get("except") or ()))
    ]


def _validate_spec(
    spec: Object, old_networks: Collection[str] = ()
) -> list[FieldError]:
    errors = validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            here = f"spec.{direction}[{index}]"
            for position, port in enumerate(rule.get("ports") or ()):
                errors += _validate_port(port, f"{here}.ports[{position}]")
            for position, peer in enumerate(rule.get(peers) or ()):
                errors += _validate_peer(
                    peer, old_networks, f"{here}.{peers}[{position}]"
                )
    types = spec.get("policyTypes") or []
    if len(types) > 2:
        return [
            *errors,
            invalid(
                "spec.policyTypes", types, "may not specify more than two policyTypes"
            ),
        ]
    for index, type_ in enumerate(types):
        if type_ not in ("Ingress", "Egress"):
            errors.append(
                not_supported(
                    f"spec.policyTypes[{index}]", type_, ("Ingress", "Egress")
                )
            )
    return errors


def _validate_port(entry: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    protocol, port, end = entry.get("protocol"), entry.get("port"), entry.get("endPort")
    if protocol is not None and protocol not in PROTOCOLS:
        errors.append(
            not_supported(f"{path}.protocol", protocol, ("TCP", "UDP", "SCTP"))
        )
    if port is None:
        if end is not None:
            errors.append(
                invalid(
                    f"{path}.endPort",
                    end,
                    "may not be specified when `port` is not specified",
                )
            )
    elif isinstance(port, int):
        errors += [
            invalid(f"{path}.port", port, why) for why in content.port_number(port)
        ]
        if end is not None:
            if end < port:
                errors.append(
                    invalid(
                        f"{path}.endPort",
                        port,  # the port, not the end: so upstream says it
                        "must be greater than or equal to `port`",
                    )
                )
            errors += [
                invalid(f"{path}.endPort", end, why) for why in content.port_number(end)
            ]
    else:
        if end is not None:
            errors.append(
                invalid(
                    f"{path}.endPort",
                    end,
                    "may not be specified when `port` is non-numeric",
                )
            )
        errors += [
            invalid(f"{path}.port", port, why) for why in content.port_name(port)
        ]
    return errors


def _validate_peer(
    peer: Object, old_networks: Collection[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    sources = 0
    for key in ("podSelector", "namespaceSelector"):
        if peer.get(key) is not None:
            sources += 1
            errors += validate_label_selector(peer[key], f"{path}.{key}")
    block = peer.get("ipBlock")
    if block is not None:
        sources += 1
        errors += _validate_ip_block(block, old_networks, f"{path}.ipBlock")
    if not sources:
        errors.append(required(path, "must specify a peer"))
    elif sources > 1 and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _validate_ip_block(
    block: Object, old_networks: Collection[str], path: str
) -> list[FieldError]:
    cidr = block.get("cidr", "")
    if not cidr:
        return [required(f"{path}.cidr")]
    errors = validate_legacy_cidr(cidr, f"{path}.cidr", old_networks)
    whole = parse_network(cidr)
    if whole is None:
        return errors
    for index, text in enumerate(block.get("except") or ()):
        here = f"{path}.except[{index}]"
        errors += validate_legacy_cidr(text, here, old_networks)
        part = parse_network(text)
        if part is None:
            continue
        inside = unmapped(part[1]).network_address in unmapped(whole[1])
        if not inside or whole[1].prefixlen >= part[1].prefixlen:
            errors.append(invalid(here, text, "must be a strict subset of `cidr`"))
    return errors


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(policy: Object) -> list[str]:
    """Of networks in unusual spellings."""
    warnings: list[str] = []
    spec = policy.get("spec") or {}
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            for position, peer in enumerate(rule.get(peers) or ()):
                block, here = (
                    peer.get("ipBlock") or {},
                    f"spec.{direction}[{index}].{peers}[{position}].ipBlock",
                )
                if block.get("cidr"):
                    warnings += warnings_for_cidr(block["cidr"], f"{here}.cidr")
                for number, network in enumerate(block.get("except") or ()):
                    warnings += warnings_for_cidr(network, f"{here}.except[{number}]")
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_network_policy(policy: Object, now: float) -> Cells:
    """The cells of `kubectl get networkpolicies`."""
    selector = (policy.get("spec") or {}).get("podSelector") or {}
    return [
        policy["metadata"]["name"],
        format_label_selector(selector),
        age(policy, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Pod-Selector", field("networking/v1.NetworkPolicySpec", "podSelector")),
        AGE,
    ),
    print_network_policy,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.EXACT_SPEC,
    validate=validate,
    warnings_on_create=warnings_on_create,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    printer=PRINTER,
)
