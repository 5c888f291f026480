"""CertificateSigningRequests.

Upstream: `pkg/registry/certificates/certificates`, v1.36.
"""
