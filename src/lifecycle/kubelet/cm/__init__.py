"""Control groups: where a node's pods sit in the kernel's tree of resource limits, and
what is written there.

`cgroup_names` says how a group is called (plainly, or in systemd's slices),
`resource_config` what its limits are, `cgroup_manager` writes them into a tree of
either version, `pod_container_manager` and `qos_container_manager` know which groups
there have to be. `cpumanager` says which CPUs a container may run on.

Upstream: `pkg/kubelet/cm/`, v1.36.
"""
