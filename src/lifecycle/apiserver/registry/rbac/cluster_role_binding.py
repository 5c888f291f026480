"""ClusterRoleBindings: a ClusterRole, given to users everywhere.

Upstream: `pkg/registry/rbac/clusterrolebinding/strategy.go`,
`pkg/apis/rbac/validation/validation.go` (`ValidateClusterRoleBinding` …), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    Printer,
)
from lifecycle.apiserver.registry.rbac.bindings import (
    print_role_binding,
    role_binding_columns,
    set_binding_defaults,
    validate_binding,
    validate_role_ref_stays,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(binding: Object) -> list[FieldError]:
    """A cluster-wide binding."""
    return validate_binding(binding, False, ("ClusterRole",))


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed cluster binding: the role stays."""
    errors = validate(new) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )
    return errors + validate_role_ref_stays(new, old)


PRINTER = Printer(role_binding_columns("ClusterRoleBinding"), print_role_binding)

STRATEGY = Strategy(
    set_defaults=set_binding_defaults,
    validate=validate,
    allow_create_on_update=True,
    validate_update=validate_update,
    printer=PRINTER,
)
