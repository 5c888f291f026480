"""The control loops, held against the real controller manager."""
