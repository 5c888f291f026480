"""What a node has promised its pods.

Upstream: `pkg/kubelet/allocation`.
"""
