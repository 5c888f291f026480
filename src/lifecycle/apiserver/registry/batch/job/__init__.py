"""Jobs.

Upstream: `pkg/registry/batch/job`, v1.36.
"""
