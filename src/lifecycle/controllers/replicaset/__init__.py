"""The ReplicaSet controller. Upstream: `pkg/controller/replicaset`."""
