"""Brings what is mounted on the node in line with what its pods want.

Upstream: `pkg/kubelet/volumemanager`, v1.36.
"""
