"""A request for admission as others are told about it: webhooks in an
`AdmissionReview`, policies in the variable `request`.

Upstream: `apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`
(`CreateV1AdmissionReview`), `plugin/cel/condition.go` (`CreateAdmissionRequest`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import ANONYMOUS, Object
from lifecycle.api.resources import Resource
from lifecycle.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from lifecycle.apiserver.admission.matching import converted
from lifecycle.apiserver.authn.user_info import user_info_object

_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


def admission_request(attributes: Attributes, row: Resource) -> Object:
    """Everything but the objects. `row` is what the rule knows the resource as."""
    request_resource, subresource = attributes.resource, attributes.subresource
    request: Object = {
        "kind": _kind(row, subresource),
        "resource": {
            "group": row.group,
            "version": row.version,
            "resource": row.plural,
        },
        "subResource": subresource,
        "requestKind": _kind(request_resource, subresource),
        "requestResource": {
            "group": request_resource.group,
            "version": request_resource.version,
            "resource": request_resource.plural,
        },
        "requestSubResource": subresource,
        "name": attributes.name,
        "namespace": attributes.namespace,
        "operation": attributes.operation,
        "userInfo": user_info_object(attributes.user or ANONYMOUS),
        "dryRun": attributes.dry_run,
        "options": _options(attributes),
    }
    optional = ("subResource", "requestSubResource", "name", "namespace")
    return {
        key: value for key, value in request.items() if value or key not in optional
    }


def admission_review(
    attributes: Attributes, row: Resource, version: str, uid: str
) -> Object:
    """What a webhook is sent. `version` is `v1` or `v1beta1`; both look the same."""
    request = admission_request(attributes, row)
    options = request.pop("options")
    head = {key: request.pop(key) for key in ("dryRun",)}
    objects = {
        "object": converted(attributes.obj, row),
        "oldObject": converted(attributes.old_obj, row),
    }
    request = {"uid": uid, **request, **objects, **head, "options": options}
    return {
        "kind": "AdmissionReview",
        "apiVersion": f"admission.k8s.io/{version}",
        "request": request,
    }


def _kind(row: Resource, subresource: str) -> Object:
    sub = row.subresource(subresource) if subresource else None
    if sub is not None:
        return {"group": sub.group, "version": sub.version, "kind": sub.kind}
    return {"group": row.group, "version": row.version, "kind": row.kind}


def _options(attributes: Attributes) -> Object | None:
    kind = _OPTIONS.get(attributes.operation)
    if kind is None:
        return None
    dry_run: Object = {"dryRun": ["All"]} if attributes.dry_run else {}
    return {
        "kind": kind,
        "apiVersion": "meta.k8s.io/v1",
        **dry_run,
        **(attributes.options or {}),
    }
