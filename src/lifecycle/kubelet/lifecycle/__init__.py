"""Who may run here (admit handlers), and what runs at the beginning and the end of a
container (hooks).

Upstream: `pkg/kubelet/lifecycle`, v1.36.
"""
