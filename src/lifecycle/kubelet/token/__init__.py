"""The tokens of the pods' service accounts.

Upstream: `pkg/kubelet/token`, v1.36.
"""
