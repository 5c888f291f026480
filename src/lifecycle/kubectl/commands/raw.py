"""`--raw PATH`: a request as it was typed, without a look at what it is about.

Upstream: `kubectl/pkg/rawhttp/raw.go` (`RawPost`, `RawDelete`), and the `Validate` of
the commands that have the flag, v1.36.
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.api.go.format import go_quote
from lifecycle.kubectl.failures import CommandError, ConnectionFailed
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.session import Session


def check_path(path: str) -> None:
    """Raises CommandError for what is no path."""
    if not path.startswith("/"):
        raise CommandError(
            f"--raw must be a valid URL path: parse {go_quote(path)}: invalid URI for"
            " request"
        )


def check_raw(p: Parsed, *, needs_file: bool) -> None:
    """Raises CommandError for flags that cannot stand beside `--raw`."""
    names = p["filename"]
    if len(names) > 1 or (needs_file and not names):
        raise CommandError("--raw can only use a single local file or stdin")
    if names and names[0].startswith(("http://", "https://")):
        raise CommandError("--raw cannot read from a url")
    for flag_name, shown in (
        ("edit", "--edit"),
        ("recursive", "--recursive"),
        ("selector", "--selector (-l)") if needs_file else ("", ""),
        ("output", "--output"),
    ):
        if flag_name and p.values.get(flag_name):
            raise CommandError(f"--raw and {shown} are mutually exclusive")
    check_path(p["raw"])


async def send_raw(method: str, p: Parsed, session: Session) -> None:
    """Send the one file, if there is one, and print the answer. Raises CommandError if
    it cannot be read, StatusError if the server refuses.
    """
    body = _body(p["filename"][0], method, session) if p["filename"] else b""
    session.print((await session.raw(method, p["raw"], body)).decode())


def _body(name: str, method: str, session: Session) -> bytes:
    if name == "-":
        return session.stdin.read().encode()
    try:
        return Path(name).read_bytes()
    except IsADirectoryError:  # opened it can be, and only the sender notices
        raise ConnectionFailed(
            f'{method.capitalize()} "": read {name}: is a directory', "eof", ""
        ) from None
    except OSError as error:
        raise CommandError(f"open {name}: {(error.strerror or '').lower()}") from None
