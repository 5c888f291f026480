"""Pods that nobody will clean up otherwise."""
