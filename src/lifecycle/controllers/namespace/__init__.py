"""The namespace controller. Upstream: `pkg/controller/namespace`."""
