"""From decision to calls: what has to happen to a pod's sandbox and containers, and the
runtime calls that make it happen.

Upstream: `pkg/kubelet/kuberuntime`, v1.36.
"""
