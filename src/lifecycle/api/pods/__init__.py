"""Questions about a pod that several components ask, and must answer alike.

Upstream: `pkg/api/v1/pod`, `pkg/apis/core/v1/helper`, `component-helpers/resource`.
"""
