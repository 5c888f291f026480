"""What no API shows: commands run in a node.

iptables rules, mounts, cgroups and network namespaces are on no API server. A kind node
is a container, so `docker exec` reaches them; a recording holds what the commands
printed, at several moments of the journey.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from lifecycle.inspector.errors import InspectorError


class Node(Protocol):
    """A node one can run commands in."""

    name: str

    def run(self, command: str, *, moment: str = "") -> str:
        """The command's output. Raises InspectorError when it cannot be run or was not
        recorded.
        """
        ...


class RecordedNode:
    """A node of a recording.

    A command is named as the file that holds it (`iptables-save`, `cni-results`) or
    written out as it was run (`ip -d link`). `moment` is one of `moments(command)`;
    left empty it means the look taken at the end.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._directory = directory

    def files(self) -> dict[str, list[str]]:
        """Short name of each recorded command → the moments it was recorded at (`""`:
        at the end).
        """
        moments: dict[str, list[str]] = {}
        for path in sorted(self._directory.glob("*.txt")):
            short, _, moment = path.stem.partition(".")
            moments.setdefault(short, []).append(moment)
        return moments

    def moments(self, command: str) -> list[str]:
        """When a command was recorded."""
        return self.files()[self._short_name(command)]

    def command_line(self, command: str) -> str:
        """The full command behind a short name."""
        short = self._short_name(command)
        return self._text(short, self.files()[short][0])[0]

    def run(self, command: str, *, moment: str = "") -> str:
        """What the command printed then."""
        short = self._short_name(command)
        moments = self.files()[short]
        if not moment and "" not in moments:
            moment = moments[-1]
        if moment not in moments:
            known = ", ".join(m or "(end)" for m in moments)
            raise InspectorError(
                f"{self.name}: {command!r} was not recorded at {moment!r}; recorded at:"
                f" {known}"
            )
        return self._text(short, moment)[1]

    def _text(self, short: str, moment: str) -> tuple[str, str]:
        name = f"{short}.{moment}.txt" if moment else f"{short}.txt"
        first, _, rest = (self._directory / name).read_text().partition("\n")
        return first.removeprefix("$ "), rest

    def _short_name(self, command: str) -> str:
        files = self.files()
        if command in files:
            return command
        for short, moments in files.items():
            if self._text(short, moments[0])[0] == command:
                return short
        raise InspectorError(
            f"{self.name}: {command!r} was never recorded; recorded:"
            f" {', '.join(files) or 'nothing'}"
        )


class KindNode:
    """A node of a live kind cluster: `docker exec` into its container. `commands`
    translates a recording's short names.
    """

    def __init__(self, name: str, commands: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._commands = commands or {}

    def run(self, command: str, *, moment: str = "") -> str:
        """The command's standard output, now. `moment` must be empty: a live cluster
        has only the present.
        """
        if moment:
            raise InspectorError(
                f"{self.name} is live: it can be asked now, not at {moment!r}"
            )
        if shutil.which("docker") is None:
            raise InspectorError(
                "docker is not on PATH: a live kind node is a container, and only"
                " docker can look into it"
            )
        line = self._commands.get(command, command)
        done = subprocess.run(
            ["docker", "exec", self.name, "sh", "-c", line],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise InspectorError(
                f"{self.name}: {line!r} failed with exit code {done.returncode}:"
                f" {done.stderr.strip()}"
            )
        return done.stdout
