"""Pods: at creation, and what may change of them later.

Almost nothing of a pod's spec may change. The error shows what was tried, as a diff.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodCreate`,
`ValidatePodUpdate`, `ValidatePodStatusUpdate`, `ValidatePodEphemeralContainersUpdate`,
`ValidatePodBinding`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.restart_policy import (
    all_containers_could_restart,
    container_should_restart,
)
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import validate_legacy_ip
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.unmigrated.validation.containers import (
    validate_image_whitespace,
)
from lifecycle.apiserver.registry.unmigrated.validation.gated_pods import (
    unsteered,
    validate_node_affinity_mutation,
    validate_node_selector_mutation,
)
from lifecycle.apiserver.registry.unmigrated.validation.placement import (
    validate_tolerations,
)
from lifecycle.apiserver.registry.unmigrated.validation.pod_annotations import (
    APP_ARMOR,
    MIRROR,
    validate_pod_annotations,
    validate_profile_annotations,
)
from lifecycle.apiserver.registry.unmigrated.validation.pod_resize import (
    validate_resize,
)
from lifecycle.apiserver.registry.unmigrated.validation.pod_spec import (
    MAX_INT32,
    validate_pod_spec,
)

_UPDATABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        (
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was"
            " previously negative)"
        ),
    )
)


def _validate_metadata_and_spec(pod: Object) -> list[FieldError]:
    meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    errors = validate_core_object_meta(meta, True, content.name_is_dns_subdomain)
    if meta.get("annotations"):
        errors += validate_pod_annotations(
            meta["annotations"], spec, "metadata.annotations"
        )
    is_mirror = MIRROR in (meta.get("annotations") or ())
    errors += validate_pod_spec(
        spec, "spec", pod_name=meta.get("name", ""), in_pod=True, is_mirror=is_mirror
    )
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or ()):
            for position, source in enumerate(
                (volume.get("projected") or {}).get("sources") or ()
            ):
                if source.get("serviceAccountToken") is not None:
                    here = f"spec.volumes[{index}].projected.sources[{position}].serviceAccountToken"
                    errors.append(
                        forbidden(
                            here,
                            "must not be specified when serviceAccountName is not set",
                        )
                    )
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            errors += validate_image_whitespace(container, f"spec.{group}[{index}]")
    return errors


def validate_pod_create(pod: Object) -> list[FieldError]:
    """A new pod."""
    errors = _validate_metadata_and_spec(pod)
    spec = pod.get("spec") or {}
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.append(
            forbidden(
                "spec.nodeName",
                "cannot be set until all schedulingGates have been cleared",
            )
        )
    return errors + validate_profile_annotations(
        (pod.get("metadata") or {}).get("annotations"), spec, "spec"
    )


def validate_pod_update(new: Object, old: Object) -> list[FieldError]:
    """A changed pod: images, deadlines, more tolerations, fewer gates."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("spec") == old.get("spec") and new["metadata"].get("annotations") == old[
        "metadata"
    ].get("annotations"):
        return errors  # the spec was judged when it came in
    errors += _validate_metadata_and_spec(new)
    errors += _validate_annotation_updates(new, old)
    spec, before = new["spec"], old["spec"]
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) != len(before.get(group) or ()):
            errors.append(
                forbidden(
                    f"spec.{group}", "pod updates may not add or remove containers"
                )
            )
            return errors
    deadline, old_deadline = (
        spec.get("activeDeadlineSeconds"),
        before.get("activeDeadlineSeconds"),
    )
    if deadline is not None:
        if not 0 <= deadline <= MAX_INT32:
            errors.append(
                invalid(
                    "spec.activeDeadlineSeconds",
                    deadline,
                    content.range_error(0, MAX_INT32),
                )
            )
            return errors
        if old_deadline is not None and old_deadline < deadline:
            errors.append(
                invalid(
                    "spec.activeDeadlineSeconds",
                    deadline,
                    "must be less than or equal to previous value",
                )
            )
            return errors
    elif old_deadline is not None:
        errors.append(
            invalid(
                "spec.activeDeadlineSeconds",
                None,
                "must not update from a positive integer to nil value",
            )
        )
    errors += _validate_tolerations_added(
        spec.get("tolerations") or [], before.get("tolerations") or []
    )
    errors += _validate_gates_removed(
        spec.get("schedulingGates") or [], before.get("schedulingGates") or []
    )
    return errors + _validate_nothing_else(spec, before)


def _validate_annotation_updates(new: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    after, before = (
        new["metadata"].get("annotations") or {},
        old["metadata"].get("annotations") or {},
    )
    for key, what in (
        (APP_ARMOR, "AppArmor annotations"),
        (MIRROR, "mirror pod annotation"),
    ):
        for name in [
            name
            for name in {**before, **after}
            if name.startswith(key) and before.get(name) != after.get(name)
        ]:
            verb = "remove or update" if name in before else "add"
            errors.append(
                forbidden(f"metadata.annotations[{name}]", f"may not {verb} {what}")
            )
    return errors


def _validate_tolerations_added(
    after: list[Object], before: list[Object]
) -> list[FieldError]:
    def bare(toleration: Object) -> Object:
        return {
            key: value
            for key, value in toleration.items()
            if key != "tolerationSeconds"
        }

    kept = [bare(toleration) for toleration in after]
    if any(bare(toleration) not in kept for toleration in before):
        return [
            forbidden(
                "spec.tolerations",
                "existing toleration can not be modified except its tolerationSeconds",
            )
        ]
    return validate_tolerations(after, "spec.tolerations")


def _validate_gates_removed(
    after: list[Object], before: list[Object]
) -> list[FieldError]:
    known = {gate["name"] for gate in before}
    return [
        forbidden(
            f"spec.schedulingGates[{i}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate['name']}'",
        )
        for i, gate in enumerate(after)
        if gate["name"] not in known
    ]


def _validate_nothing_else(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    munged = {**spec}
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        munged.pop(key, None)
        if before.get(key) is not None:
            munged[key] = before[key]
    for group in ("containers", "initContainers"):
        if spec.get(group):
            munged[group] = [
                {**c, "image": o.get("image", "")}
                for c, o in zip(spec[group], before[group])
            ]
    if (before.get("terminationGracePeriodSeconds") or 0) < 0 and spec.get(
        "terminationGracePeriodSeconds"
    ) == 1:
        munged["terminationGracePeriodSeconds"] = before[
            "terminationGracePeriodSeconds"
        ]
    if before.get("schedulingGates"):  # a pod that is held back may still be steered
        errors += validate_node_selector_mutation(
            spec.get("nodeSelector"), before.get("nodeSelector") or {}
        )
        affinities = [
            (one.get("affinity") or {}).get("nodeAffinity") for one in (spec, before)
        ]
        if affinities[0] != affinities[1]:
            errors += validate_node_affinity_mutation(*affinities)
        munged = unsteered(munged, before)
    if munged != before:
        shown = internal_difference("core/v1.PodSpec", before, munged)
        errors.append(
            forbidden(
                "spec",
                f"pod updates may not change fields other than {_UPDATABLE}\n{shown}",
            )
        )
    return errors


def validate_pod_status_update(new: Object, old: Object) -> list[FieldError]:
    """What a kubelet may say: terminated containers of a pod that does not restart stay
    terminated.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_annotation_updates(new, old)
    status, before = new.get("status") or {}, old.get("status") or {}
    for index, condition in enumerate(status.get("conditions") or ()):
        type_ = condition.get("type", "")
        errors += [
            invalid(f"metadata.conditions[{index}].Type", type_, why)
            for why in content.qualified_name(type_)
        ]
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName", ""):
        errors += [
            invalid("status.nominatedNodeName", nominated, why)
            for why in content.dns1123_subdomain(nominated)
        ]
    if (status.get("qosClass") or "") != (before.get("qosClass") or ""):
        errors.append(
            invalid(
                "status.qosClass", status.get("qosClass") or "", "field is immutable"
            )
        )
    for group in (
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ):
        errors += _validate_stays_terminated(
            status, before, old.get("spec") or {}, group
        )
    for group in ("podIPs", "hostIPs"):
        known = [entry.get("ip", "") for entry in before.get(group) or ()]
        for index, entry in enumerate(status.get(group) or ()):
            errors += validate_legacy_ip(
                entry.get("ip", ""), f"status.{group}[{index}]", known
            )
    hosts = status.get("hostIPs") or []
    if hosts and status.get("hostIP", "") != hosts[0].get("ip"):
        errors.append(
            invalid(
                "status.hostIPs[0].ip",
                hosts[0].get("ip", ""),
                "must be equal to `hostIP`",
            )
        )
    return errors


def _validate_stays_terminated(
    status: Object, before: Object, spec: Object, group: str
) -> list[FieldError]:
    """What has ended stays so, unless its policy starts it again. An ephemeral
    container has none.
    """
    containers: dict[Any, Object] = {}
    if group != "ephemeralContainerStatuses":
        if all_containers_could_restart(spec):
            return []
        key = "containers" if group == "containerStatuses" else "initContainers"
        containers = {
            container.get("name"): container for container in spec.get(key) or ()
        }
    alive = {
        s.get("name")
        for s in status.get(group) or ()
        if (s.get("state") or {}).get("terminated") is None
    }
    errors: list[FieldError] = []
    for index, entry in enumerate(before.get(group) or ()):
        ended = (entry.get("state") or {}).get("terminated")
        if ended is None or entry.get("name") not in alive:
            continue
        container = containers.get(entry.get("name"))
        if container is None or not container_should_restart(
            spec, container, ended.get("exitCode") or 0
        ):
            why = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.{group}[{index}].state", why))
    return errors


def validate_ephemeral_containers_update(new: Object, old: Object) -> list[FieldError]:
    """Ephemeral containers can be added, never changed or removed."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_metadata_and_spec(new)
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("[]", "static pods do not support ephemeral containers")]
    after = {
        container["name"]: container
        for container in new["spec"].get("ephemeralContainers") or ()
    }
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container["name"]
        if name not in after:
            errors.append(
                forbidden(
                    "spec.ephemeralContainers",
                    f'existing ephemeral containers "{name}" may not be removed\n',
                )
            )
        elif after[name] != container:
            shown = internal_difference(
                "core/v1.EphemeralContainer", container, after[name]
            )
            why = f'existing ephemeral containers "{name}" may not be changed\n{shown}'
            errors.append(forbidden("spec.ephemeralContainers", why))
    return errors


def validate_pod_resize(new: Object, old: Object) -> list[FieldError]:
    """More or less CPU and memory for a pod that may be running."""
    errors = validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + _validate_metadata_and_spec(new)
    return validate_resize(new, old, errors)


def validate_pod_binding(binding: Object) -> list[FieldError]:
    """A Binding: to a node, by name."""
    target = binding.get("target") or {}
    errors: list[FieldError] = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors
