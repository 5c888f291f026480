"""Pods that do not tolerate what happened to their node."""
