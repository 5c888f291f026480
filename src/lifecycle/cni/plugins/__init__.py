"""The plugins, each an executable: `python -m lifecycle.cni.plugins.bridge`, or the
launchers that `launchers.py` writes.
"""
