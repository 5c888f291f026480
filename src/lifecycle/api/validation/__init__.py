"""Rules for texts that client and server both check: names, labels, values.

What is right for a whole object only the API server knows: `apiserver/registry`.

Upstream: `apimachinery/pkg/util/validation`, v1.36.
"""
