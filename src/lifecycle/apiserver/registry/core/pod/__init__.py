"""Pods, and the templates that others hold of them.

Upstream: `pkg/registry/core/pod`, `pkg/apis/core/validation`, `pkg/api/pod`, v1.36.
"""
