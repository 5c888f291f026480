"""Facts and hooks of the kinds that have no home of their own yet.

Upstream: `pkg/registry/*/*/strategy.go`, v1.36, all gates at their defaults. Left out:
DRA kinds beyond status and generation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
    pod_spec_of,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import UpdateStrategy
from lifecycle.apiserver.registry.rest.update import (
    prepare_for_status_only_update,
    take_over,
)

SPEC, CONTENT = Generation.SPEC, Generation.CONTENT


class Facts(NamedTuple):
    """What a kind is, without code."""

    generation: Generation = Generation.UNCOUNTED
    create_on_update: bool = False
    unconditional_update: bool = True


PLAIN = Facts()
_SPEC = Facts(SPEC)

FACTS: dict[str, Facts] = {
    "Job": _SPEC,
    "CronJob": _SPEC,
    "PodDisruptionBudget": Facts(SPEC, unconditional_update=False),
    "PriorityClass": Facts(Generation.ALWAYS_ONE),
    "RuntimeClass": Facts(create_on_update=True, unconditional_update=False),
    "Role": Facts(create_on_update=True),
    "RoleBinding": Facts(create_on_update=True),
    "ClusterRole": Facts(create_on_update=True),
    "ClusterRoleBinding": Facts(create_on_update=True),
    "MutatingWebhookConfiguration": Facts(CONTENT, unconditional_update=False),
    "ValidatingWebhookConfiguration": Facts(CONTENT, unconditional_update=False),
    "ValidatingAdmissionPolicy": Facts(SPEC, unconditional_update=False),
    "ValidatingAdmissionPolicyBinding": Facts(SPEC, unconditional_update=False),
    "MutatingAdmissionPolicy": Facts(SPEC, unconditional_update=False),
    "MutatingAdmissionPolicyBinding": Facts(SPEC, unconditional_update=False),
    "CustomResourceDefinition": Facts(SPEC, unconditional_update=False),
    "APIService": Facts(unconditional_update=False),
    "FlowSchema": _SPEC,
    "PriorityLevelConfiguration": _SPEC,
    "ResourceSlice": _SPEC,
    "DeviceClass": _SPEC,
}

WITH_PODS = frozenset({"Job", "CronJob"})
"""Kinds that hold a template of a pod."""

# --- create ---------------------------------------------------------------------------


def drop_disabled_on_create(obj: Object) -> None:
    """Of a pod, or of a template, count only features that are on."""
    spec = pod_spec_of(obj)
    if spec:
        drop_disabled_pod_fields(spec, None)


def _canonicalize_job(job: Object) -> None:
    if job["metadata"].get("labels"):
        return
    # what reading it back from storage would default
    template = (job["spec"].get("template") or {}).get("metadata") or {}
    if template.get("labels"):
        job["metadata"]["labels"] = dict(template["labels"])


CANONICALIZE: dict[str, Callable[[Object], None]] = {
    "Job": _canonicalize_job,
}

# --- update ---------------------------------------------------------------------------


def drop_disabled_on_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    spec = pod_spec_of(new)
    if spec:
        drop_disabled_pod_fields(spec, pod_spec_of(old))


def _update_signing_request(new: Object, old: Object) -> None:
    take_over(new, old, "spec")


ON_UPDATE: dict[str, Callable[[Object, Object], None]] = {
    "CertificateSigningRequest": _update_signing_request,
    **dict.fromkeys(WITH_PODS, drop_disabled_on_update),
}

# --- subresources ---------------------------------------------------------------------


STATUS: dict[str, Callable[[Object, Object], None]] = {
    **dict.fromkeys(
        (
            *("CustomResourceDefinition", "FlowSchema", "PriorityLevelConfiguration"),
            "ValidatingAdmissionPolicy",
            *("CertificateSigningRequest", "ResourceClaim"),
        ),
        prepare_for_status_only_update,
    ),
}
"""Kinds whose `/status` keeps more than the rest of the object."""


def _update_approval(new: Object, old: Object) -> None:
    conditions = (new.get("status") or {}).get("conditions")
    take_over(new, old, "spec")
    new["status"] = {**(old.get("status") or {}), "conditions": conditions or []}


MORE_SUBRESOURCES: dict[str, dict[str, UpdateStrategy]] = {
    "CertificateSigningRequest": {"approval": UpdateStrategy(_update_approval)},
}
