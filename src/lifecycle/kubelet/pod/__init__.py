"""Which pods the kubelet knows of, and which of them are only pictures of static pods.

Upstream: `pkg/kubelet/pod`, v1.36.
"""
