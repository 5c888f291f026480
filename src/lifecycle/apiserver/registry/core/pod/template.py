"""What all kinds that hold a template of a pod ask of it.

Upstream: `pkg/apis/apps/validation/validation.go`
(`ValidatePodTemplateSpecForReplicaSet`), `pkg/apis/core/validation/validation.go`
(`ValidatePodTemplateSpecForRC`); warnings: `pkg/api/pod/warnings.go`
(`GetWarningsForPodTemplate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid, not_supported
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
)
from lifecycle.apiserver.registry.core.pod.spec import (
    validate_pod_template_spec,
)
from lifecycle.apiserver.registry.core.pod.warnings import (
    get_warnings_for_pod,
)
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_empty,
    selector_matches,
)

MISMATCH = "`selector` does not match template `labels`"


def pod_template_of(workload: Object) -> Object | None:
    """The template of the pods that a workload asks for (`spec.template`)."""
    template: Object | None = (workload.get("spec") or {}).get("template")
    return template


def drop_disabled_template_fields(
    template: Object | None, old_template: Object | None = None
) -> None:
    """Take out of a template what belongs to features that are off, unless the old one
    has it already.
    """
    spec = (template or {}).get("spec")
    if spec:
        drop_disabled_pod_fields(spec, (old_template or {}).get("spec"))


def sorted_map(value: Object | None) -> Object | None:
    """A map as Go prints it: sorted; None stays null."""
    return dict(sorted(value.items())) if value is not None else None


def template_labels(spec: Object) -> Object | None:
    """The labels of the template in a specification; None if it has none."""
    labels: Object | None
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    return labels


def validate_template(spec: Object, path: str, kind: str) -> list[FieldError]:
    """The template must be chosen by the selector and its pods must restart for
    ever.
    """
    errors: list[FieldError] = []
    selector, labels = spec.get("selector"), template_labels(spec)
    if selector is None or (
        not selector_is_empty(selector) and not selector_matches(selector, labels or {})
    ):
        errors.append(
            invalid(f"{path}.template.metadata.labels", sorted_map(labels), MISMATCH)
        )
    template = spec.get("template") or {}
    errors += validate_pod_template_spec(template, f"{path}.template")
    return errors + validate_long_running(template, f"{path}.template", kind)


def validate_long_running(template: Object, path: str, kind: str) -> list[FieldError]:
    """Pods that are replaced when they end: always restarted, and without a
    deadline.
    """
    errors: list[FieldError] = []
    pod = template.get("spec") or {}
    if pod.get("restartPolicy", "") != "Always":
        errors.append(
            not_supported(
                f"{path}.spec.restartPolicy", pod.get("restartPolicy", ""), ("Always",)
            )
        )
    if pod.get("activeDeadlineSeconds") is not None:
        errors.append(
            forbidden(
                f"{path}.spec.activeDeadlineSeconds",
                f"activeDeadlineSeconds in {kind} is not Supported",
            )
        )
    return errors


def name_warnings(obj: Object, used_in: str) -> list[str]:
    """A name that is no DNS label will not do as the host name it is used in."""
    messages = content.dns1123_label((obj.get("metadata") or {}).get("name", ""))
    if not messages:
        return []
    why = (
        f"this is used in {used_in}, which can result in surprising behavior; a DNS"
        " label is recommended"
    )
    return [f"metadata.name: {why}: [{' '.join(messages)}]"]


def get_warnings_for_pod_template(template: Object | None, path: str) -> list[str]:
    """What is accepted in a template but advised against."""
    return get_warnings_for_pod(template or {}, f"{path}.")


def warnings_on_create(workload: Object) -> list[str]:
    """Of a workload: of its name, which pods and their hosts will carry, and of its
    template.
    """
    return [
        *name_warnings(workload, "Pod names and hostnames"),
        *get_warnings_for_pod_template(pod_template_of(workload), "spec.template"),
    ]


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """Of a workload's template that may be another one."""
    if generation_is_unchanged(new, old):
        return []
    return get_warnings_for_pod_template(pod_template_of(new), "spec.template")


def generation_is_unchanged(new: Object, old: Object) -> bool:
    """Then the template was looked at before: an update does not warn again."""
    return bool(new["metadata"].get("generation") == old["metadata"].get("generation"))
