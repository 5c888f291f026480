"""What an admission plugin is asked about: one change, before it is stored.

Upstream: `apiserver/pkg/admission/interfaces.go` (`Attributes`, `Operation`) and
`errors.go` (`NewForbidden`), v1.36. Left out: audit annotations, which go straight to
the audit event of the request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.worker import Turn
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError, forbidden
from lifecycle.apiserver.admission.reinvocation import Reinvocation

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
CONNECT = "CONNECT"


@dataclass(slots=True)
class Attributes:
    """One change on its way to the store.

    `obj` is the new object (None for a delete); mutating plugins change it in place, so
    it must belong to this request. `old_obj` is the stored one (None for a create) and
    shared. A patch arrives as an UPDATE, as upstream. `warnings` goes back to the
    client as `Warning` headers. `reinvocation` is there once a webhook or a policy
    takes part.
    """

    operation: str
    resource: Resource
    subresource: str
    namespace: str
    name: str
    obj: Object | None
    old_obj: Object | None = None
    options: Object | None = None
    user: UserInfo | None = None
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    reinvocation: Reinvocation | None = None
    defaulter: Callable[[Object], None] | None = None
    """Completes, in place, what a plugin has made of a custom object; others are
    completed by their kind. Upstream: `ObjectInterfaces.GetObjectDefaulter`.
    """
    grown: int = 0
    """Bytes of the object, about, once a plugin has made it larger."""
    turn: Turn = field(default_factory=Turn)
    """What the expressions of policies and webhooks take together, of which there may
    be any number.
    """

    def forbidden(self, why: str) -> StatusError:
        """The 403 of a plugin that refuses. An object still without a name is named
        after its `generateName`.
        """
        name = self.name
        if not name and self.obj is not None:
            meta = self.obj.get("metadata") or {}
            name = meta.get("name") or meta.get("generateName") or "Unknown"
        return forbidden(
            self.resource.plural, name or "Unknown", why, self.resource.group
        )
