"""Who may do what: service accounts, bindings, signing requests. (Roles themselves get
the default table.)

Upstream: `pkg/printers/internalversion/printers.go` (`printServiceAccount`,
`printRoleBinding`, `printCertificateSigningRequest`), v1.36. Before 1.36 service
accounts had a Secrets column.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Printer,
)

_REQUEST = "certificates/v1.CertificateSigningRequest"

PRINTERS = {
    "serviceaccounts": Printer(
        (NAME, AGE), lambda obj, now: [obj["metadata"]["name"], age(obj, now)]
    ),
}
