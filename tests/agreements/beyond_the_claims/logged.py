"""What a module writes to its log while a check runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Kept(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """The message; and of an exception, its name after it."""
        raised = record.exc_info[0] if record.exc_info else None
        what = f"{record.levelname} {record.getMessage()}"
        self.lines.append(f"{what}: {raised.__name__}" if raised else what)


@contextmanager
def logged(module: str) -> Iterator[list[str]]:
    """The lines of one module's log, each with its level, as long as the block runs.
    Nobody else is told.
    """
    lines: list[str] = []
    logger, handler = logging.getLogger(module), _Kept(lines)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
