"""The Endpoints controller. Upstream: `pkg/controller/endpoint`."""
