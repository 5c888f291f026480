"""CustomResourceDefinitions, as far as they are objects like any other.

Validation, warnings and updates need to know schemas: that is
`apiextensions.definition_store`'s, which builds its strategy on this one.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`,
`apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go`, v1.36. They
get the default table.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import (
    Strategy,
    UpdateStrategy,
)
from lifecycle.apiserver.registry.rest.webhook_clients import (
    set_service_reference_defaults,
)


def set_defaults(definition: Object) -> None:
    """Names from the kind, no conversion, the storage version remembered."""
    spec = definition.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    webhook = spec["conversion"].get("webhook")
    if webhook:
        set_service_reference_defaults(webhook.get("clientConfig"))
    status = definition.setdefault("status", {})
    if not status.get("storedVersions"):
        stored = [
            version.get("name", "")
            for version in spec.get("versions") or ()
            if version.get("storage")
        ]
        status["storedVersions"] = stored[:1] or None


def prepare_for_create(definition: Object) -> None:
    """Nothing is accepted yet; the storage version is stored."""
    stored = [
        v["name"]
        for v in (definition.get("spec") or {}).get("versions") or ()
        if v.get("storage")
    ]
    definition["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored[:1] or None,
    }


STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    allow_unconditional_update=False,
    marks_own_deletion=True,
    subresources={"status": UpdateStrategy(update.prepare_for_status_update)},
)
