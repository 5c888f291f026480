"""What the other rooms say about containers with: what a runtime knows of a pod, what
a node adds to a container's configuration, and rules that several rooms ask.

Upstream: `pkg/kubelet/container`, v1.36.
"""
