"""Warnings."""
from lifecycle.api.wire import Object


def warnings_for(obj: Object) -> list[str]:
    """What the server warns about."""
    return []
