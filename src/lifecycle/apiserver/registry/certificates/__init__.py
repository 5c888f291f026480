"""`certificates.k8s.io`: requests for certificates.

Upstream: `pkg/registry/certificates`, `pkg/apis/certificates`, v1.36.
"""

from lifecycle.apiserver.registry.certificates.certificate_signing_request import (
    strategy,
)

STRATEGIES = {
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): strategy.STRATEGY
}
