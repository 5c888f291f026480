"""ServiceAccounts: who a pod is.

Upstream: `pkg/registry/core/serviceaccount/strategy.go`,
`pkg/apis/core/validation/validation.go` (`ValidateServiceAccount`),
`pkg/printers/internalversion/printers.go` (`printServiceAccount`), v1.36. Before 1.36
the table had a Secrets column.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import AGE, NAME, Cells, Printer
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- strategy -------------------------------------------------------------------------


def clean_secret_references(account: Object) -> None:
    """Of the secrets of a ServiceAccount only the names are kept. Upstream:
    `cleanSecretReferences`.
    """
    if account.get("secrets"):
        account["secrets"] = [
            {"name": one["name"]} if one.get("name") else {}
            for one in account["secrets"]
        ]


def prepare_for_update(new: Object, old: Object) -> None:
    """The same."""
    clean_secret_references(new)


# --- validation -----------------------------------------------------------------------


def validate(account: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta(
        account.get("metadata") or {}, True, content.name_is_dns_subdomain
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate(new)


# --- warnings -------------------------------------------------------------------------


_ENFORCE = "kubernetes.io/enforce-mountable-secrets"


def warnings_on_create(account: Object) -> list[str]:
    """Of an annotation that no longer helps."""
    key = _ENFORCE
    if key in ((account.get("metadata") or {}).get("annotations") or {}):
        why = (
            "deprecated in v1.32+; prefer separate namespaces to isolate access to"
            " mounted secrets"
        )
        return [f"metadata.annotations[{key}]: {why}"]
    return []


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same, if it was not there before."""
    if _ENFORCE in (old["metadata"].get("annotations") or {}):
        return []
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_service_account(account: Object, now: float) -> Cells:
    """The cells of `kubectl get serviceaccounts`."""
    return [account["metadata"]["name"], age(account, now)]


PRINTER = Printer((NAME, AGE), print_service_account)

STRATEGY = Strategy(
    prepare_for_create=clean_secret_references,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    returns_deleted_object=True,
    printer=PRINTER,
)
