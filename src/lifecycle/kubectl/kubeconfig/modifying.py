"""Changing a kubeconfig: each entry in the file it came from.

`kubectl config` never writes the merged whole back. A changed entry goes to the file
that it was read from. What is new goes to the first file that exists, and so does
`current-context`: no other file can then overrule it.

Upstream: `client-go/tools/clientcmd/config.go` (`ModifyConfig`, `writeCurrentContext`),
`pathoptions.go` (`GetDefaultFilename`),
`kubectl/pkg/cmd/config/{use,set,delete,rename}_*.go`, v1.36. Left out: lock files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lifecycle.api.go.yaml import to_yaml
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.documents import (
    PATHS,
    SECTIONS,
    Config,
    empty_config,
    find,
)
from lifecycle.kubectl.kubeconfig.loading import load, loading_precedence, parse
from lifecycle.kubectl.kubeconfig.viewing import external

Change = Callable[[dict[str, Any]], dict[str, Any]]


class KubeconfigFiles:
    """The files of one run, for reading and changing. `explicit` is `--kubeconfig`."""

    def __init__(
        self,
        explicit: str = "",
        environ: Mapping[str, str] | None = None,
        *,
        warn: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.explicit = explicit
        self.warn = warn
        self.paths = loading_precedence(explicit, environ)

    def starting_config(self, *, resolve: bool = False) -> Config:
        """All files merged; missing ones are empty, even one named by the flag. Raises
        CommandError.
        """
        return load(self.paths, resolve=resolve)

    def default_file(self) -> Path:
        """Where new entries go: the first file that exists, or else the last of the
        list.
        """
        return next((path for path in self.paths if path.exists()), self.paths[-1])

    def filename(self) -> Path:
        """The file that messages speak of."""
        return Path(self.explicit) if self.explicit else self.default_file()

    def set_entry(
        self, section: str, name: str, change: Change, *, relative: bool = True
    ) -> bool:
        """Change an entry, or make it; whether it was there before. Paths are written
        `relative` to the file. Raises CommandError.
        """
        path = self._origin(section, name)
        existed = path is not None
        path = path or self.default_file()
        document = self._read(path)
        kind = SECTIONS[section]
        before = find(document, section, name)
        body = change(dict(before or {}))
        body = _relative(section, body, path.parent) if relative else body
        if body == before:
            return existed  # nothing to write
        others = [
            entry for entry in document.get(section) or () if entry["name"] != name
        ]
        document[section] = [*others, {"name": name, kind: body}]
        self._write(document, path)
        return existed

    def delete_entry(self, section: str, name: str) -> bool:
        """Take an entry out of the file that it is in; whether that was the current
        context. Raises CommandError if it is in none.
        """
        path = self._origin(section, name)
        if path is None:
            what = SECTIONS[section]
            raise CommandError(f"cannot delete {what} {name}, not in {self.filename()}")
        current = self.starting_config()["current-context"]
        document = self._read(path)
        document[section] = [
            entry for entry in document[section] if entry["name"] != name
        ]
        self._write(document, path)
        return section == "contexts" and current == name

    def use_context(self, name: str) -> None:
        """Make a context the current one. Raises CommandError for one that is not
        there.
        """
        if not name:
            raise CommandError("empty context names are not allowed")
        if find(self.starting_config(), "contexts", name) is None:
            raise CommandError(f'no context exists with the name: "{name}"')
        if self.starting_config()["current-context"] != name:
            self.set_current(name)

    def rename_context(self, old: str, new: str) -> None:
        """Give a context another name, and keep it current if it was. Raises
        CommandError.
        """
        config, path = self.starting_config(), self._origin("contexts", old)
        if path is None:
            raise CommandError(
                f'cannot rename the context "{old}", it\'s not in {self.filename()}'
            )
        if find(config, "contexts", new) is not None:
            message = (
                f'cannot rename the context "{old}", the context "{new}" already exists'
                f" in {self.filename()}"
            )
            raise CommandError(message)
        document = self._read(path)
        for entry in document["contexts"]:
            if entry["name"] == old:
                entry["name"] = new
        self._write(document, path)
        if config["current-context"] == old:
            self.set_current(new)

    def set_current(self, name: str) -> None:
        """Write which context is the current one, whether it is there or not; none at
        all if the name is empty. Raises CommandError.
        """
        path = (
            self.default_file()
        )  # of all files that exist, the first: nobody before it can set another
        if not name:
            path = next(
                (each for each in self.paths if self._read(each)["current-context"]),
                path,
            )
        document = self._read(path)
        document["current-context"] = name
        self._write(document, path)

    def _origin(self, section: str, name: str) -> Path | None:
        return next(
            (
                path
                for path in self.paths
                if find(self._read(path), section, name) is not None
            ),
            None,
        )

    def _read(self, path: Path) -> Config:
        if not path.exists():
            return empty_config()
        try:
            return {**empty_config(), **parse(path.read_text())}
        except ValueError as error:
            raise CommandError(f'error loading config file "{path}": {error}') from None

    def _write(self, document: Config, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(to_yaml(external(document)))


def _relative(section: str, body: dict[str, Any], base: Path) -> dict[str, Any]:
    """Paths as they are seen from the file that they will be in, if they are below it.
    Upstream: `RelativizePathWithNoBacksteps`.
    """
    out = dict(body)
    for key in PATHS[section]:
        path = out.get(key)
        if path and Path(path).is_absolute():
            seen = os.path.relpath(path, base.absolute())
            out[key] = seen if not seen.startswith("..") else path
    return out
