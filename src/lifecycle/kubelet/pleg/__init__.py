"""The pod lifecycle event generator: what has changed in the runtime.

Upstream: `pkg/kubelet/pleg`, v1.36.
"""
