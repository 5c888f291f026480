"""What a node says of itself.

Upstream: `pkg/kubelet/nodestatus`, v1.36.
"""
