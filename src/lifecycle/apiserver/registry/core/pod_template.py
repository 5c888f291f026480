"""PodTemplates: templates that are stored on their own. Nobody makes pods of them.

Upstream: `pkg/apis/core/v1/defaults.go`, `pkg/registry/core/podtemplate/strategy.go`,
`pkg/apis/core/validation/validation.go` (`ValidatePodTemplate`),
`pkg/printers/internalversion/printers.go` (`printPodTemplate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.spec import validate_pod_template_spec
from lifecycle.apiserver.registry.core.pod.template import (
    drop_disabled_template_fields,
    generation_is_unchanged,
    get_warnings_for_pod_template,
)
from lifecycle.apiserver.registry.printers.printer import (
    NAME,
    Cells,
    Column,
    Printer,
    container_cells,
    format_labels,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(pod_template: Object) -> None:
    """Those of the template."""
    set_pod_template_defaults(pod_template.setdefault("template", {}))


def prepare_for_create(pod_template: Object) -> None:
    """Of a template count only features that are on."""
    drop_disabled_template_fields(pod_template.get("template"))


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(new.get("template"), old.get("template"))


def validate(pod_template: Object) -> list[FieldError]:
    """Its metadata, and the template."""
    errors = validate_core_object_meta(
        pod_template.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_pod_template_spec(
        pod_template.get("template") or {}, "template"
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The template may become any other."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_pod_template_spec(new.get("template") or {}, "template")


def warnings_on_create(pod_template: Object) -> list[str]:
    """Of the template."""
    return get_warnings_for_pod_template(pod_template.get("template"), "template")


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """Of a template that may be another one."""
    return [] if generation_is_unchanged(new, old) else warnings_on_create(new)


def print_pod_template(pod_template: Object, now: float) -> Cells:
    """The cells of `kubectl get podtemplates`."""
    template = pod_template.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    return [
        pod_template["metadata"]["name"],
        *container_cells(template),
        format_labels(labels),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Containers", "Names of each container in the template."),
        Column("Images", "Images referenced by each container in the template."),
        Column("Pod Labels", "The labels for the pod template."),
    ),
    print_pod_template,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.CONTENT,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    returns_deleted_object=True,
    printer=PRINTER,
)
