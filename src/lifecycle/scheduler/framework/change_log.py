"""What has changed since somebody last looked.

Several remember something about each node, and forget it when the node changes. They do
not want to be called for each change, of which there are many, but to catch up when
they decide. So changes are noted, each thing once, where its last change was: the log
is never longer than there are things.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")


class ChangeLog(Generic[Key]):
    """`count` is how many changes there were: who remembers it can ask what came
    after.
    """

    def __init__(self) -> None:
        self.count = 0
        self._last: dict[Key, int] = {}

    def note(self, key: Key) -> None:
        """Something has changed."""
        self._last.pop(key, None)
        self.count += 1
        self._last[key] = self.count

    def since(self, count: int) -> list[Key]:
        """What has changed after so many changes, the latest first."""
        found = []
        for key in reversed(self._last):
            if self._last[key] <= count:
                break
            found.append(key)
        return found
