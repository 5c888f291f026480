"""What the sources say about pods, and what kinds of pods there are.

Upstream: `pkg/kubelet/types`, v1.36.
"""
