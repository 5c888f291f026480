"""Taking over a changed encryption configuration while the server runs.

Keys are changed by editing a file, and a server that has to be started anew for that
is a server that will not have its keys changed. So it looks at the file now and then.
A file that is wrong changes nothing: the server goes on with what it had, and says so.

Upstream: `apiserver/pkg/server/options/encryptionconfig/controller/controller.go`
(`DynamicEncryptionConfigContent`), v1.36. Left out: trying a wrong file again before
the minute is over, metrics, the health of KMS providers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lifecycle.apiserver.storage.encrypted_store import EncryptedStore
from lifecycle.apiserver.storage.encryption_config.reader import (
    content_hash,
    read_encryption_file,
    read_text,
)
from lifecycle.apiserver.storage.encryption_config.transformers import Transformers
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.etcd.store import Store

log = logging.getLogger(__name__)

POLL_INTERVAL = 60.0
"""Seconds between two looks at the file (upstream:
`EncryptionConfigFileChangePollDuration`).
"""


@dataclass(slots=True, frozen=True)
class EncryptionOptions:
    """The flags `--encryption-provider-config` and `…-automatic-reload`.

    Upstream: `apiserver/pkg/server/options/etcd.go` (`EtcdOptions`), v1.36.
    """

    provider_config: Path | None = None
    automatic_reload: bool = False

    def check(self) -> None:
        """Raises ValueError for a file that cannot be used, and for a reload of no
        file.
        """
        if self.provider_config is not None:
            document = read_encryption_file(
                self.provider_config, reload=self.automatic_reload
            ).document
            Transformers(document)
        elif self.automatic_reload:
            raise ValueError(
                "--encryption-provider-config-automatic-reload must be set with"
                " --encryption-provider-config"
            )


class EncryptionAtRest:
    """A store behind the transformers of a file. `start()` begins to look for changes
    of it if the options say so. Raises ValueError for a file that cannot be used.

    `reloaded` is called when other transformers have come into force.
    """

    def __init__(
        self,
        inner: Store,
        options: EncryptionOptions,
        reloaded: Callable[[], Awaitable[None]],
    ) -> None:
        assert options.provider_config is not None
        self._path, self._options = options.provider_config, options
        self._reloaded = reloaded
        file = read_encryption_file(self._path, reload=options.automatic_reload)
        self._in_force = file.content_hash
        self.store = EncryptedStore(inner, Transformers(file.document))
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        """Look at the file from now on."""
        if self._options.automatic_reload:
            self._tasks.start(self._poll(), "encryption config")

    async def stop(self) -> None:
        """Look no longer."""
        await self._tasks.stop()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            try:
                await self.process()
            except ValueError as error:
                log.error(
                    "error processing encryption config file %s: %s", self._path, error
                )

    async def process(self) -> bool:
        """Look once; whether there was something new. Raises ValueError for a file that
        cannot be used; what was in force stays.
        """
        if content_hash(read_text(self._path)) == self._in_force:
            return False
        file = read_encryption_file(self._path, reload=True)
        if file.content_hash == self._in_force:  # changed back in between
            return False
        self.store.transformers = Transformers(file.document)
        self._in_force = file.content_hash
        await self._reloaded()
        log.info("loaded a new encryption configuration from %s", self._path)
        return True
