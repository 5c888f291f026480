"""What the inspector says when it cannot look."""

from __future__ import annotations


class InspectorError(Exception):
    """One clear line for a reader: what was asked for, why it cannot be had, what there
    is instead.
    """
