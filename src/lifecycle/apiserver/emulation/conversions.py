"""Older versions of kinds that are still served, and how their objects become today's
and today's theirs.

Most betas went to v1 as they were. Some were given other names on the way: those are
written out below, and the two that changed most in modules of their own. What was
filled in or let through in an old version, and is not today, is a matter of each
kind's strategy (`Strategy.earlier`). What is not here cannot be served in an old
version.

Upstream: `pkg/apis/{networking,extensions}/v1beta1/conversion.go`,
`discovery/v1beta1/conversion.go`, `authorization/v1beta1` and `flowcontrol/v1beta1`,
v1.20.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.emulation.autoscalers import (
    autoscaler_to_old,
    autoscaler_to_served,
)
from lifecycle.apiserver.emulation.definitions import (
    definition_to_old,
    definition_to_served,
    validate_definition_v1beta1,
)
from lifecycle.apiserver.registry.rest.strategy import no_errors

Convert = Callable[[Object], Object]
"""An object of one version, its kind and version left as they are, in the form of
another one. The object that is given stays what it is.
"""

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def same(obj: Object) -> Object:
    """Of the same form."""
    return obj


@dataclass(frozen=True)
class Conversion:
    """`served` is today's group and version. `to_served` and `to_old` change the form;
    patches of what has another form have to be made here. `validate` says what is wrong
    with the old form and cannot be seen in today's.
    """

    served: str
    to_served: Convert = same
    to_old: Convert = same
    validate: Callable[[Object], list[FieldError]] = no_errors

    @property
    def same_form(self) -> bool:
        """Whether only the version's name changes."""
        return self.to_served is same


# -- Ingress ---------------------------------------------------------------------------


def _backend_to_served(backend: Object) -> Object:
    if "serviceName" not in backend:
        return backend
    kept = {k: v for k, v in backend.items() if k not in ("serviceName", "servicePort")}
    port = backend.get("servicePort", 0)
    which = {"name": port} if isinstance(port, str) else {"number": port}
    return {**kept, "service": {"name": backend["serviceName"], "port": which}}


def _backend_to_old(backend: Object) -> Object:
    service = backend.get("service")
    if service is None:
        return backend
    port = service.get("port") or {}
    kept = {key: value for key, value in backend.items() if key != "service"}
    which = port.get("name") or port.get("number", 0)
    return {**kept, "serviceName": service.get("name", ""), "servicePort": which}


def _rules(rules: list[Object], backend: Convert, defaults: Object) -> list[Object]:
    return [
        {
            **rule,
            "http": {
                **rule["http"],
                "paths": [
                    {**defaults, **path, "backend": backend(path.get("backend") or {})}
                    for path in rule["http"].get("paths") or ()
                ],
            },
        }
        if rule.get("http")
        else rule
        for rule in rules
    ]


def ingress_to_served(obj: Object) -> Object:
    """`backend` is `defaultBackend` now; a path says of which type it is."""
    spec = dict(obj.get("spec") or {})
    if "backend" in spec:
        spec["defaultBackend"] = _backend_to_served(spec.pop("backend") or {})
    if spec.get("rules"):
        defaults = {"pathType": "ImplementationSpecific"}
        spec["rules"] = _rules(spec["rules"], _backend_to_served, defaults)
    return {**obj, "spec": spec}


def ingress_to_old(obj: Object) -> Object:
    """The other way."""
    spec = dict(obj.get("spec") or {})
    if "defaultBackend" in spec:
        spec["backend"] = _backend_to_old(spec.pop("defaultBackend") or {})
    if spec.get("rules"):
        spec["rules"] = _rules(spec["rules"], _backend_to_old, {})
    return {**obj, "spec": spec}


# -- EndpointSlice ---------------------------------------------------------------------


def slice_to_served(obj: Object) -> Object:
    """Where an endpoint is, was said in `topology`."""
    endpoints = []
    for endpoint in obj.get("endpoints") or ():
        new = dict(endpoint)
        topology = dict(new.pop("topology", None) or {})
        for key, name in (("nodeName", HOSTNAME), ("zone", ZONE)):
            if place := topology.pop(name, ""):
                new.setdefault(key, place)
        if topology:
            new["deprecatedTopology"] = topology
        endpoints.append(new)
    return {**obj, "endpoints": endpoints}


def slice_to_old(obj: Object) -> Object:
    """The other way."""
    endpoints = []
    for endpoint in obj.get("endpoints") or ():
        old = {
            key: value
            for key, value in endpoint.items()
            if key not in ("nodeName", "zone", "deprecatedTopology", "hints")
        }
        topology = dict(endpoint.get("deprecatedTopology") or {})
        for key, name in (("nodeName", HOSTNAME), ("zone", ZONE)):
            if endpoint.get(key):
                topology[name] = endpoint[key]
        if topology:
            old["topology"] = topology
        endpoints.append(old)
    return {**obj, "endpoints": endpoints}


# -- a field that has another name -----------------------------------------------------


def _renamed(obj: Object, path: tuple[str, ...], old: str, new: str) -> Object:
    """With the field `old` below `path` called `new`."""
    if path:
        inner = obj.get(path[0])
        if not isinstance(inner, dict):
            return obj
        return {**obj, path[0]: _renamed(inner, path[1:], old, new)}
    return {(new if key == old else key): value for key, value in obj.items()}


def renaming(served: str, path: tuple[str, ...], old: str, new: str) -> Conversion:
    """Of kinds in which one field has another name today."""
    return Conversion(
        served,
        lambda obj: _renamed(obj, path, old, new),
        lambda obj: _renamed(obj, path, new, old),
    )


def _same_forms() -> dict[tuple[str, str], Conversion]:
    rbac, storage = "rbac.authorization.k8s.io", "storage.k8s.io"
    authorization = "authorization.k8s.io"
    by_group = {
        "admissionregistration.k8s.io": "mutatingwebhookconfigurations"
        " validatingwebhookconfigurations",
        "apiregistration.k8s.io": "apiservices",
        "authentication.k8s.io": "tokenreviews",
        authorization: "selfsubjectaccessreviews selfsubjectrulesreviews",
        "batch": "cronjobs",
        "certificates.k8s.io": "certificatesigningrequests",
        "coordination.k8s.io": "leases",
        "events.k8s.io": "events",
        "flowcontrol.apiserver.k8s.io": "flowschemas",
        "networking.k8s.io": "ingressclasses",
        "node.k8s.io": "runtimeclasses",
        "policy": "poddisruptionbudgets",
        rbac: "clusterrolebindings clusterroles rolebindings roles",
        "scheduling.k8s.io": "priorityclasses",
        storage: "csidrivers csinodes storageclasses volumeattachments",
    }
    return {
        (f"{group}/v1beta1", resource): Conversion(f"{group}/v1")
        for group, resources in by_group.items()
        for resource in resources.split()
    }


_INGRESS = Conversion("networking.k8s.io/v1", ingress_to_served, ingress_to_old)
_REVIEW = renaming("authorization.k8s.io/v1", ("spec",), "group", "groups")
_LEVEL = renaming(
    "flowcontrol.apiserver.k8s.io/v1",
    ("spec", "limited"),
    "assuredConcurrencyShares",
    "nominalConcurrencyShares",
)
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io/v1beta1"
CONVERSIONS: Mapping[tuple[str, str], Conversion] = {
    **_same_forms(),
    ("apiextensions.k8s.io/v1beta1", "customresourcedefinitions"): Conversion(
        "apiextensions.k8s.io/v1",
        definition_to_served,
        definition_to_old,
        validate_definition_v1beta1,
    ),
    ("autoscaling/v2beta1", "horizontalpodautoscalers"): Conversion(
        "autoscaling/v2", autoscaler_to_served, autoscaler_to_old
    ),
    ("autoscaling/v2beta2", "horizontalpodautoscalers"): Conversion("autoscaling/v2"),
    ("extensions/v1beta1", "ingresses"): _INGRESS,
    ("networking.k8s.io/v1beta1", "ingresses"): _INGRESS,
    ("discovery.k8s.io/v1beta1", "endpointslices"): Conversion(
        "discovery.k8s.io/v1", slice_to_served, slice_to_old
    ),
    ("authorization.k8s.io/v1beta1", "subjectaccessreviews"): _REVIEW,
    ("authorization.k8s.io/v1beta1", "localsubjectaccessreviews"): _REVIEW,
    (_FLOW_CONTROL, "prioritylevelconfigurations"): _LEVEL,
}
"""By group and version of old, and resource."""
