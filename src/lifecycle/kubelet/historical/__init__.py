"""Models of rules that are gone, for the chapters that tell of them.

Nothing in the kubelet uses this room.
"""
