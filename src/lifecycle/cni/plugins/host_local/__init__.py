"""The IPAM plugin that keeps its books on the host's own disk."""
