"""The process behind `lifecycle` and `python -m lifecycle`. It loads the words inside,
so that Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import os


def main() -> None:
    """Run the command line; 130 for Ctrl-C while it is still being loaded, as
    `refusal.Words` says it later.
    """
    try:
        from lifecycle.cli import main as words

        words()
    except KeyboardInterrupt:
        os._exit(130)  # at once: half-loaded modules have nothing to tidy up


if __name__ == "__main__":
    main()
