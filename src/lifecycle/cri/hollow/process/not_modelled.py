"""What nobody has written a function for: an error for whoever asks for it, not a
success.

Ours.
"""

from __future__ import annotations

NOT_MODELLED = 126
"""Exit code of a command that is there but cannot be run; a shell's for the same."""


class NotModelled(Exception):
    """No function plays this. The text names it."""


def not_modelled_message(name: str) -> str:
    """The one line that says so."""
    return (
        f"lifecycle: {name}: not run: hollow containers run no programs, and imitate"
        " only a few; real ones run with --runtime sandbox\n"
    )
