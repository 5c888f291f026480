"""Admission: webhooks, policies and their bindings; and the API services behind the
aggregator.

Upstream: `pkg/printers/internalversion/printers.go` (`printMutatingWebhook`,
`printValidatingAdmissionPolicy`, …);
`kube-aggregator/pkg/registry/apiservice/etcd/etcd.go` (`ConvertToTable`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go_format import go_label_selector
from lifecycle.api.human_duration import age
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)


def _print_webhooks(obj: Object, now: float) -> Cells:
    return [obj["metadata"]["name"], len(obj.get("webhooks") or ()), age(obj, now)]


def _print_policy(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    param = spec.get("paramKind")
    rules = spec.get("validations") or spec.get("mutations") or ()
    kind = (
        "<unset>"
        if param is None
        else f"{param.get('apiVersion', '')}/{param.get('kind', '')}"
    )
    return [obj["metadata"]["name"], len(rules), kind, age(obj, now)]


def _print_policy_binding(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    return [
        obj["metadata"]["name"],
        spec.get("policyName", ""),
        _param_ref(spec.get("paramRef")),
        age(obj, now),
    ]


def _param_ref(param: Object | None) -> str:
    """Whether the parameter is namespaced cannot be told from here, so one without a
    namespace gets `*`.
    """
    if param and param.get("name"):
        return f"{param.get('namespace') or '*'}/{param['name']}"
    if param and param.get("selector") is not None:
        return go_label_selector(param["selector"])
    return "<unset>"


def _print_api_service(obj: Object, now: float) -> Cells:
    service = (obj.get("spec") or {}).get("service")
    conditions = (obj.get("status") or {}).get("conditions") or ()
    available = next((c for c in conditions if c["type"] == "Available"), None)
    state = "Unknown"
    if available is not None:
        state = available["status"]
        if state != "True" and available.get("reason"):
            state = f"{state} ({available['reason']})"
    where = (
        "Local"
        if service is None
        else f"{service.get('namespace', '')}/{service.get('name', '')}"
    )
    return [obj["metadata"]["name"], where, state, age(obj, now)]


_WEBHOOKS = Printer(
    (
        NAME,
        Column(
            "Webhooks",
            "Webhooks indicates the number of webhooks registered in this"
            " configuration",
            "integer",
        ),
        AGE,
    ),
    _print_webhooks,
)
_PARAM_KIND = Column(
    "ParamKind",
    "ParamKind specifies the kind of resources used to parameterize this policy",
)
_BINDING = Printer(
    (
        NAME,
        Column(
            "PolicyName",
            "PolicyName indicates the policy definition which the policy binding"
            " binded to",
        ),
        Column(
            "ParamRef",
            "ParamRef indicates the param resource which sets the configration param",
        ),
        AGE,
    ),
    _print_policy_binding,
)
_GROUP = "admissionregistration.k8s.io"

PRINTERS = {
    f"mutatingwebhookconfigurations.{_GROUP}": _WEBHOOKS,
    f"validatingwebhookconfigurations.{_GROUP}": _WEBHOOKS,
    f"validatingadmissionpolicies.{_GROUP}": Printer(
        (
            NAME,
            Column(
                "Validations",
                "Validations indicates the number of validation rules defined in this"
                " configuration",
                "integer",
            ),
            _PARAM_KIND,
            AGE,
        ),
        _print_policy,
    ),
    f"mutatingadmissionpolicies.{_GROUP}": Printer(
        (
            NAME,
            Column(
                "Mutations",
                "Mutation indicates the number of mutations rules defined in this"
                " configuration",
                "integer",
            ),
            _PARAM_KIND,
            AGE,
        ),
        _print_policy,
    ),
    f"validatingadmissionpolicybindings.{_GROUP}": _BINDING,
    f"mutatingadmissionpolicybindings.{_GROUP}": _BINDING,
    "apiservices.apiregistration.k8s.io": Printer(
        (
            NAME,
            Column(
                "Service", "The reference to the service that hosts this API endpoint."
            ),
            Column("Available", "Whether this service is available."),
            AGE,
        ),
        _print_api_service,
    ),
}
