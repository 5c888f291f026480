"""The garbage collector. Upstream: `pkg/controller/garbagecollector`."""
