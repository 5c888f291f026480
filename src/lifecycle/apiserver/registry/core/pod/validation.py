"""Pods: at creation, and what may change of them later.

Almost nothing of a pod's spec may change. The error shows what was tried, as a diff.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodCreate`,
`ValidatePodUpdate`), v1.36. Writes of subresources: `status`, `ephemeral_containers`,
`resize`.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.annotations import (
    MIRROR,
    validate_annotation_updates,
    validate_pod_annotations,
    validate_profile_annotations,
)
from lifecycle.apiserver.registry.core.pod.containers import (
    validate_image_whitespace,
)
from lifecycle.apiserver.registry.core.pod.placement import (
    validate_tolerations,
)
from lifecycle.apiserver.registry.core.pod.scheduling_gates import (
    unsteered,
    validate_node_affinity_mutation,
    validate_node_selector_mutation,
)
from lifecycle.apiserver.registry.core.pod.spec import validate_pod_spec
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.numbers import MAX_INT32
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
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


def validate_metadata_and_spec(pod: Object) -> list[FieldError]:
    """What holds at any time. Upstream: `validatePodMetadataAndSpec`."""
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
                    here = (
                        f"spec.volumes[{index}].projected.sources[{position}"
                        "].serviceAccountToken"
                    )
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


def validate(pod: Object) -> list[FieldError]:
    """A new pod."""
    errors = validate_metadata_and_spec(pod)
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


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed pod: images, deadlines, more tolerations, fewer gates."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("spec") == old.get("spec") and new["metadata"].get("annotations") == old[
        "metadata"
    ].get("annotations"):  # the spec was judged when it came in
        return errors + validate_core_object_meta(
            new["metadata"], True, content.name_is_dns_subdomain
        )
    errors += validate_metadata_and_spec(new)
    errors += validate_annotation_updates(new, old)
    spec, before = new["spec"], old["spec"]
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) != len(before.get(group) or ()):
            errors.append(
                forbidden(
                    f"spec.{group}", "pod updates may not add or remove containers"
                )
            )
            return errors
        errors += [
            required(f"spec.{group}[{index}].image")
            for index, container in enumerate(spec.get(group) or ())
            if not container.get("image")
        ]
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
        containers = munged.pop(group, None)
        if containers:
            munged[group] = [
                {**c, "image": o.get("image", "")}
                for c, o in zip(containers, before[group])
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
        difference = internal_difference("core/v1.PodSpec", before, munged)
        errors.append(
            forbidden(
                "spec",
                "pod updates may not change fields other than "
                f"{_UPDATABLE}\n{difference}",
            )
        )
    return errors
