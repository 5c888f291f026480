"""The books: one file for each address, named after it, holding container ID and
interface on two lines that end as Windows' do.

`/var/lib/cni/networks/<network>/10.244.2.7` is enough to know who has 10.244.2.7;
creating a file that must not exist is all the transaction there is.
`last_reserved_ip.<range>` remembers where to go on; `lock` is locked while a plugin
looks and writes.

Upstream: `containernetworking/plugins`,
`plugins/ipam/host-local/backend/disk/backend.go`, `lock.go`, v1.9.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from lifecycle.cni.addresses import Address, parse_ip
from lifecycle.cni.errors import CNIError

DEFAULT_DATA_DIR = "/var/lib/cni/networks"
LINE_BREAK = "\r\n"
LAST_IP_FILE_PREFIX = "last_reserved_ip."


class DiskStore:
    """One network's books, locked as long as the `with` block lasts: other plugins,
    ours or not, wait.
    """

    def __init__(self, network: str, data_dir: str = "") -> None:
        self.directory = Path(data_dir or DEFAULT_DATA_DIR) / network
        self._lock = -1

    def __enter__(self) -> DiskStore:
        self.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        self._lock = os.open(
            self.directory / "lock", os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o750
        )
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self._lock)

    def reserve(
        self, container_id: str, if_name: str, address: Address, range_id: str
    ) -> bool:
        """Take an address; False if somebody has it."""
        path = self.directory / str(address)
        try:
            fd = os.open(path, os.O_RDWR | os.O_EXCL | os.O_CREAT, 0o600)
        except FileExistsError:
            return False
        try:
            with open(fd, "w", newline="") as file:
                file.write(f"{container_id.strip()}{LINE_BREAK}{if_name}")
        except OSError:
            path.unlink()
            raise
        last = os.open(
            self.directory / f"{LAST_IP_FILE_PREFIX}{range_id}",
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
            0o600,
        )
        with open(last, "w") as file:
            file.write(str(address))
        return True

    def last_reserved_ip(self, range_id: str) -> Address | None:
        """Where to go on; None on a fresh disk, or if the file holds nonsense."""
        try:
            return parse_ip(
                (self.directory / f"{LAST_IP_FILE_PREFIX}{range_id}").read_text()
            )
        except (OSError, CNIError):
            return None

    def find_by_id(self, container_id: str, if_name: str) -> bool:
        """Whether an interface has an address at all. Files of old had no second
        line.
        """
        return any(
            True for _ in self._files(f"{container_id.strip()}{LINE_BREAK}{if_name}")
        ) or any(True for _ in self._files(container_id.strip()))

    def get_by_id(self, container_id: str, if_name: str) -> list[Address]:
        """An interface's addresses."""
        ips = []
        for path in self._files(
            f"{container_id.strip()}{LINE_BREAK}{if_name}", container_id.strip()
        ):
            try:
                ips.append(parse_ip(path.name))
            except CNIError:
                continue
        return ips

    def release_by_id(self, container_id: str, if_name: str) -> None:
        """Give all of them back."""
        mine = list(self._files(f"{container_id.strip()}{LINE_BREAK}{if_name}"))
        for path in mine or list(self._files(container_id.strip())):
            path.unlink(missing_ok=True)

    def _files(self, *contents: str) -> Iterator[Path]:
        for path in sorted(self.directory.iterdir()):
            try:
                if path.read_bytes().decode().strip() in contents:
                    yield path
            except (OSError, UnicodeDecodeError):
                continue
