"""What was last said about each pod, and telling the API server.

Upstream: `pkg/kubelet/status`, v1.36.
"""
