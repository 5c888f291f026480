"""The kubelet: runtimes it knew by heart, soft admission, the old `cpu.weight`."""
