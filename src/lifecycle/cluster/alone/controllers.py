"""kube-controller-manager by itself.

Upstream: `cmd/kube-controller-manager/app/controllermanager.go` (`Run`,
`CreateControllerContext`), `app/options`, v1.36. Left out: `/healthz` of each
controller.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.type_checking import type_check
from lifecycle.apiserver.authn.jwt import SigningKey
from lifecycle.apiserver.authn.legacy_service_account import legacy_claims
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone.connection import Connection
from lifecycle.cluster.alone.health import Check
from lifecycle.cluster.alone.metrics import family
from lifecycle.cluster.nodes import POD_NETWORK
from lifecycle.controllers.client_builder_dynamic import client_builder
from lifecycle.controllers.manager import (
    COMMAND,
    CONTROLLERS,
    ControllerManager,
    is_enabled,
)
from lifecycle.controllers.nodeipam import NODE_CIDR_MASK_SIZE
from lifecycle.controllers.serviceaccount.tokens_controller import Issue

NODE_IPAM = "node-ipam-controller"


@dataclass(slots=True, frozen=True)
class ManagerOptions:
    """What the flags of these names say. `root_ca_file` None: what the kubeconfig
    trusts is published. Without `service_account_private_key_file` no token is written
    into a secret.
    """

    controllers: tuple[str, ...] = ("*",)
    cluster_cidr: str = POD_NETWORK
    allocate_node_cidrs: bool = True
    use_service_account_credentials: bool = True
    root_ca_file: Path | None = None
    service_account_private_key_file: Path | None = None

    def check(self) -> None:
        """Raises ValueError, in one line."""
        for name in self.controllers:
            if name != "*" and name.removeprefix("-") not in CONTROLLERS:
                raise ValueError(f'"{name}" is not in the list of known controllers')
        try:
            network = ipaddress.IPv4Network(self.cluster_cidr)
        except ValueError as error:
            raise ValueError(f"--cluster-cidr: {error}") from None
        if network.prefixlen > NODE_CIDR_MASK_SIZE:
            raise ValueError(
                f"--cluster-cidr: {network} has no room for a node's /"
                f"{NODE_CIDR_MASK_SIZE}"
            )

    @property
    def enabled(self) -> list[str]:
        """Names of those that run."""
        return [
            name
            for name in CONTROLLERS
            if is_enabled(name, self.controllers)
            and (name != NODE_IPAM or self.allocate_node_cidrs)
        ]

    def root_ca(self, connection: Connection) -> str:
        """Whom pods shall trust, PEM. Raises OSError."""
        if self.root_ca_file is not None:
            return self.root_ca_file.read_text()
        return connection.config.ca.decode()

    def issue(self) -> Issue | None:
        """What signs tokens for secrets. Raises OSError, ValueError."""
        path = self.service_account_private_key_file
        if path is None:
            return None
        try:
            key = SigningKey.from_pem(path.read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

        def issue(account: Object, secret: Object) -> str:
            return key.sign(legacy_claims(account, secret))

        return issue


class LoneControllers:
    """The controllers for the server behind a connection. Raises ValueError, OSError
    for files that cannot be used.
    """

    def __init__(
        self, connection: Connection, clock: Clock, options: ManagerOptions
    ) -> None:
        self._running = False
        client = connection.client(COMMAND)
        self._informers = SharedInformerFactory(
            connection.client(COMMAND, "shared-informers")
        )
        self._manager = ControllerManager(
            client,
            clock=clock,
            names=NameSource(),
            controllers=options.enabled,
            root_ca=options.root_ca(connection),
            cluster_cidr=options.cluster_cidr,
            check_policy=type_check,
            issue_token=options.issue(),
            client_for=(
                client_builder(client, connection.anonymous(), clock, COMMAND)
                if options.use_service_account_credentials
                else None
            ),
            informers=self._informers,
        )

    def readyz(self) -> Mapping[str, Check]:
        """See `Component`."""
        return {
            "informer-sync": lambda: (
                "" if self._informers.has_synced else "waiting for the first lists"
            )
        }

    async def metrics(self) -> str:
        """See `Component`. Upstream: `controller-manager/pkg/controllermetrics`."""
        text = "Indicates where instances of a controller are currently running"
        samples = (
            ({"manager": COMMAND, "name": name}, self._running)
            for name in self._manager.controllers
        )
        return family("running_managed_controllers", "gauge", text, samples)

    async def run(self) -> None:
        """See `Component`."""
        self._running = True
        try:
            await self._manager.run()
        finally:
            await self._informers.stop()

    async def until_ready(self) -> None:
        """See `Component`."""
        await self._informers.wait_for_cache_sync()
