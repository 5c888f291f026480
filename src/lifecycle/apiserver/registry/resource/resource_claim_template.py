"""ResourceClaimTemplates: claims to be made, one for each pod.

Upstream: `pkg/registry/resource/resourceclaimtemplate/strategy.go`,
`pkg/printers/internalversion/printers.go` (`printResourceClaimTemplate`), v1.36. Left
out: validation beyond the metadata.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import NAME_AND_AGE
from lifecycle.apiserver.registry.resource.requests import set_claim_spec_defaults
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(template: Object) -> None:
    """A ResourceClaimTemplate: the same, one level down."""
    set_claim_spec_defaults((template.get("spec") or {}).get("spec") or {})


STRATEGY = Strategy(
    set_defaults=set_defaults, returns_deleted_object=True, printer=NAME_AND_AGE
)
