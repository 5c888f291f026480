"""What defaulters are made of.

Upstream: `pkg/apis/*/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object


def set_default(holder: Object, key: str, value: Any) -> None:
    """Set what is not there or null. An empty text or a zero was said, and stays."""
    if holder.get(key) is None:
        holder[key] = value
