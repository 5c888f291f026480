"""The kubelet on its node, held against real ones."""
