"""Where the data of a ConfigMap or a Secret comes from: `--from-literal`,
`--from-file`, `--from-env-file`.

Keys are checked here, in the client: what could never be a key is refused before
anything is sent.

Upstream: `kubectl/pkg/cmd/create/create_configmap.go` (`handleConfigMapFromFileSources`
…), `create_secret.go`, `kubectl/pkg/util/util.go` (`ParseFileSource`,
`ParseLiteralSource`), `kubectl/pkg/cmd/util/env_file.go`, v1.36.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lifecycle.api.go.format import go_quote
from lifecycle.api.validation.content import regex_error
from lifecycle.kubectl.failures import CommandError

Add = Callable[[str, bytes], None]
"""Takes a key and its content. Raises CommandError for a key that cannot be, or is
taken.
"""

_ENV_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_ENV_LETTERS = frozenset("-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def env_name_errors(name: str) -> list[str]:
    """Why this is no name of an environment variable; empty if it is one. Upstream:
    `validation.IsEnvVarName`.
    """
    errors = []
    if (
        not name
        or name[0] not in _ENV_LETTERS
        or not all(c in _ENV_LETTERS or c in "0123456789" for c in name)
    ):
        message = (
            "a valid environment variable name must consist of alphabetic characters,"
            " digits, '_', '-', or '.', and must not start with a digit"
        )
        errors.append(
            regex_error(message, _ENV_NAME, "my.env-name", "MY_ENV.NAME", "MyEnvName1")
        )
    if name in (".", ".."):
        errors.append(f"must not be '{name}'")
    elif name.startswith(".."):
        errors.append("must not start with '..'")
    return errors


def from_literals(sources: Sequence[str], add: Add) -> None:
    """`KEY=VALUE` each; the value is taken as it stands, quotes and all."""
    for source in sources:
        key, equals, value = source.partition("=")
        if not equals or not key:
            raise CommandError(f"invalid literal source {source}, expected key=value")
        add(key, value.encode())


def from_files(sources: Sequence[str], add: Add) -> None:
    """`PATH` or `KEY=PATH` each; a directory gives each of its regular files under its
    own name.
    """
    for source in sources:
        key, path = _file_source(source)
        if not _exists(path).is_dir():
            add(key, _content(Path(path)))
            continue
        if "=" in source:
            raise CommandError("cannot give a key name for a directory path")
        for each in sorted(Path(path).iterdir()):
            if each.is_file() and not each.is_symlink():
                add(each.name, _content(each))


def from_env_files(paths: Sequence[str], add: Add, what: str) -> None:
    """Lines of `NAME=VALUE`; a `NAME` alone takes its value from the environment.
    `what` says whose file it is.
    """
    for path in paths:
        if _exists(path).is_dir():
            raise CommandError(f"env {what} file cannot be a directory")
        for number, raw in enumerate(_content(Path(path)).split(b"\n")):
            try:
                line = raw.removesuffix(b"\r").decode()
            except UnicodeDecodeError:
                numbers = " ".join(map(str, raw.removesuffix(b"\r")))
                raise CommandError(
                    f"env file {path} contains invalid utf8 bytes at line {number + 1}:"
                    f" [{numbers}]"
                ) from None
            line = (line.removeprefix(_BOM) if number == 0 else line).lstrip()
            if not line or line.startswith("#"):
                continue
            name, equals, value = line.partition("=")
            if errors := env_name_errors(name):
                raise CommandError(
                    f"{go_quote(name)} is not a valid key name: {';'.join(errors)}"
                )
            add(name, (value if equals else os.environ.get(name, "")).encode())


def _file_source(source: str) -> tuple[str, str]:
    """(key, path)."""
    parts = source.split("=")
    if len(parts) == 1:
        return os.path.basename(source.rstrip("/")) or ("/" if source else "."), source
    if len(parts) == 2 and not parts[0]:
        raise CommandError(f"key name for file path {parts[1]} missing")
    if len(parts) == 2 and not parts[1]:
        raise CommandError(f"file path for key name {parts[0]} missing")
    if len(parts) > 2:
        raise CommandError("key names or file paths cannot contain '='")
    return parts[0], parts[1]


def _exists(path: str) -> Path:
    try:
        os.stat(path)
    except OSError as error:
        raise CommandError(
            f"error reading {path}: {(error.strerror or '').lower()}"
        ) from None
    return Path(path)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from None
