"""The horizontal pod autoscaler. Upstream: `pkg/controller/podautoscaler`."""
