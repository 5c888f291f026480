"""A plain, synchronous face for a cluster that lives on an event loop.

Notebooks and scripts want `with lifecycle.up() as cluster:` and then ordinary calls.
The loop runs in a thread of its own; `run` hands it a coroutine and waits for the
answer.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.api.garbage import collect_rarely, collected_rarely
from lifecycle.api.late_import import IN_A_TAB
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cri.hollow.step_times import Latency

if TYPE_CHECKING:
    from kubernetes import client as official

    from lifecycle.apiserver.admission.options import AdmissionOptions
    from lifecycle.apiserver.audit.options import AuditOptions
    from lifecycle.apiserver.authn.options import AuthenticationOptions
    from lifecycle.apiserver.authz.modes import AuthorizationOptions
    from lifecycle.apiserver.storage.encryption_config.controller import (
        EncryptionOptions,
    )
    from lifecycle.cluster.nodes import NodeShape
    from lifecycle.cri.hollow.process.process import Program
    from lifecycle.cri.hollow.programs import Key

T = TypeVar("T")


class OfficialClient:
    """The official Python client, connected: `cluster.client.AppsV1Api()` and every
    other `…Api` class.
    """

    def __init__(self, api_client: Any) -> None:
        self.api_client = api_client

    def __getattr__(self, name: str) -> Any:
        from kubernetes import client as official

        member = getattr(official, name)
        if not name.endswith("Api"):
            return member
        return lambda: member(self.api_client)


class BackgroundCluster:
    """`with BackgroundCluster(...) as cluster:` or `async with`; the cluster is up
    inside the block and gone after it.
    """

    def __init__(self, config: ClusterConfig) -> None:
        self.config = config
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.cluster: Cluster | None = None

    def start(self) -> BackgroundCluster:
        """Start the loop's thread and the cluster on it. Raises whatever the start
        raised.
        """
        if IN_A_TAB:  # where a new loop would also take the running one's place
            raise RuntimeError("can't start new thread")
        self._loop = new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="lifecycle", daemon=True
        )
        self._thread.start()
        self.cluster = Cluster(self.config)
        try:
            with collected_rarely():
                self.run(self.cluster.start())
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the cluster, then its loop. Safe to call twice."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if self.cluster is not None:
            asyncio.run_coroutine_threadsafe(self.cluster.stop(), loop).result(
                timeout=30
            )
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(timeout=10)
        loop.close()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the cluster's loop and return what it returns."""
        if self._loop is None:
            coroutine.close()
            raise RuntimeError("the cluster is not running")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    @property
    def url(self) -> str:
        """`https://127.0.0.1:PORT`."""
        assert self.cluster is not None
        return self.cluster.url

    @property
    def kubeconfig(self) -> dict[str, Any]:
        """A kubeconfig for the admin, as a dict."""
        assert self.cluster is not None
        return self.cluster.kubeconfig()

    @property
    def api_client(self) -> official.ApiClient:
        """The official client's connection, as the admin."""
        from kubernetes import config

        return config.new_client_from_config_dict(self.kubeconfig)

    @property
    def client(self) -> OfficialClient:
        """The official client's API classes, connected."""
        return OfficialClient(self.api_client)

    def __enter__(self) -> BackgroundCluster:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> BackgroundCluster:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it is installed (about twice the requests per second), asyncio's own
    elsewhere.
    """
    try:
        import uvloop
    except ImportError:  # Windows has none
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def favour_throughput() -> None:
    """For a process that only serves a cluster: let Python's garbage collector look up
    far less often.

    Objects in the caches live long and never form cycles with each other, but there are
    millions of them, and a full collection walks them all. What the start has built is
    set aside for good, unseen, for a start leaves nothing behind that would be found;
    the rest is looked at a thousand times less.
    """
    gc.freeze()
    collect_rarely()


def up(
    nodes: int = 3,
    *,
    store: str = "memory",
    cert_dir: str | Path | None = None,
    port: int = 0,
    runtime: str = "hollow",
    overlay: str = "vxlan",
    token: str = "",
    without: Sequence[str] = (),
    seed: int | None = None,
    like: str | Path | None = None,
    https: bool = True,
    ready_timeout: float = 60.0,
    latency: Latency = 0.0,
    authentication: AuthenticationOptions | None = None,
    authorization: AuthorizationOptions | None = None,
    admission: AdmissionOptions | None = None,
    audit: AuditOptions | None = None,
    encryption: EncryptionOptions | None = None,
    cors_allowed_origins: Sequence[str] = (),
    node_shapes: Sequence[NodeShape] = (),
    programs: Mapping[Key, Program] | None = None,
    kube_version: str = "",
) -> BackgroundCluster:
    """An embedded cluster, ready to be entered: `with lifecycle.up(nodes=3) as
    cluster:`.

    What the options mean, `ClusterConfig` says; most of them are flags of `lifecycle
    up`, too. Entering raises ValueError for options that make no cluster, and whatever
    its start raises.
    """
    return BackgroundCluster(
        ClusterConfig(
            nodes=nodes,
            store=store,
            cert_dir=Path(cert_dir) if cert_dir is not None else None,
            port=port,
            runtime=runtime,
            overlay=overlay,
            token=token,
            without=tuple(without),
            seed=seed,
            like=like,
            https=https,
            ready_timeout=ready_timeout,
            latency=latency,
            authentication=authentication,
            authorization=authorization,
            admission=admission,
            audit=audit,
            encryption=encryption,
            cors_allowed_origins=tuple(cors_allowed_origins),
            node_shapes=list(node_shapes),
            programs=dict(programs or {}),
            kube_version=kube_version,
        )
    )
