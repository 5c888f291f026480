"""What upstream's longest root file does: from a pod to what its containers get
(environment, mounts, hosts file), and from what the runtime knows back to a status.

Upstream: `pkg/kubelet/kubelet_pods.go`, v1.36.
"""
