"""Control groups: where a node's pods sit in the kernel's tree of resource limits, and
what is written there.

`names` says how a group is called (plainly, or in systemd's slices), `resources` what
its limits are, `manager` writes them into a tree of either version, `pods` and
`hierarchy` know which groups there have to be.

Upstream: `pkg/kubelet/cm/`, v1.36.
"""
