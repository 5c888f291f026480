"""HorizontalPodAutoscalers: how many pods there should be, by what is measured.

Upstream: `pkg/registry/autoscaling/horizontalpodautoscaler`, v1.36.
"""
