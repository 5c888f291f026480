"""The service account controller. Upstream: `pkg/controller/serviceaccount`."""
