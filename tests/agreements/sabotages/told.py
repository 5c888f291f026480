"""What an unbroken component has answered while a table was computed.

Where answers are spoilt on their way to the table, the component itself does in each table what it did in the first one: it is asked
there, and in the others it is remembered what it said. Whoever asks something else than in the first table is refused.
"""

from __future__ import annotations

from typing import Any

_TOLD: dict[Any, list[tuple[Any, Any]]] = {}


class Told:
    """The answers that are spoilt by `by`, in their order. `known`: there was a table before."""

    def __init__(self, by: Any) -> None:
        self._kept = _TOLD.setdefault(by, [])
        self.known = bool(self._kept)
        self._next = iter(tuple(self._kept))

    def keep(self, question: Any, answer: Any) -> None:
        """In the first table."""
        self._kept.append((question, answer))

    def again(self, question: Any) -> Any:
        """In the next ones: what was answered to this."""
        asked, answer = next(self._next, (None, None))
        assert asked == question, f"asked {question}, not {asked} as before"
        return answer


def forget_what_was_told() -> None:
    """Before something else is broken."""
    _TOLD.clear()
