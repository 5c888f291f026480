"""Defaults of pods: what a pod says without saying it.

The API server fills them in on the way to the store, and the kubelet in pods that no
API server has seen. All other kinds have theirs in `apiserver/registry/<group>/`.

Upstream: `pkg/apis/core/v1/defaults.go`, v1.36.
"""
