"""Which CPUs a container may run on: the policies *none* and *static*.

Upstream: `pkg/kubelet/cm/cpumanager`, v1.36.
"""
