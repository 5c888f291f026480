"""The deployment controller. Upstream: `pkg/controller/deployment`."""
