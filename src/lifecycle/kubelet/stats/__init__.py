"""What is measured: the node's memory, the containers' use of it.

Upstream: `pkg/kubelet/stats`, v1.36.
"""
