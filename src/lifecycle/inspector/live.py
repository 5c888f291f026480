"""A live cluster, behind the same interface as a recording.

It is somebody's machine, so it is careful: only a context named `kind-lifecycle` is
touched, or one that was named outright and whose server listens on this machine's
loopback interface; only namespaces made here are changed, they carry a label, and they
are deleted when the `with` block ends, however it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import ip_address
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lifecycle.api.late_import import late_import
from lifecycle.inspector.client_namespace import ClientNamespace, get_json
from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.kubectl_command import run_kubectl
from lifecycle.inspector.node import KindNode
from lifecycle.inspector.provenance import Provenance

if TYPE_CHECKING:
    import kubernetes.client
    import kubernetes.config
else:
    kubernetes = late_import("kubernetes")

ALLOWED_CONTEXT = "kind-lifecycle"
LABEL = "lifecycle.book/made-by"
LABEL_VALUE = "inspector"


def on_loopback(url: str) -> bool:
    """Whether a server's address is the loopback interface, literally: no name is
    looked up, but for `localhost`.
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class LiveCluster:
    """The kind cluster `lifecycle`, or another one on this machine. Raises
    InspectorError for a context whose server is elsewhere, and when the context is not
    to be had.

    `config_file` is a kubeconfig's path; left out, kubectl's own rules hold
    (`KUBECONFIG`, then `~/.kube/config`).
    """

    live = True

    def __init__(
        self, context: str = ALLOWED_CONTEXT, *, config_file: str | None = None
    ) -> None:
        self.name = context
        self.config_file = config_file
        try:
            self.api_client = kubernetes.config.new_client_from_config(
                config_file=config_file, context=context
            )
        except (kubernetes.config.ConfigException, OSError) as error:
            raise InspectorError(
                f"no context {context!r} to connect to ({error}); `make cluster`"
                " makes one"
            ) from None
        host = self.api_client.configuration.host
        if context != ALLOWED_CONTEXT and not on_loopback(host):
            raise InspectorError(
                f"refusing context {context!r}: {host} is not on this machine; only a"
                f" context named {ALLOWED_CONTEXT!r} may be elsewhere"
            )
        self._namespaces: list[str] = []

    def __repr__(self) -> str:
        return f"LiveCluster({self.name!r})"

    @cached_property
    def client(self) -> ClientNamespace:
        """The official client, connected."""
        return ClientNamespace(self.api_client)

    def get(self, path: str, *, accept: str = "application/json") -> Any:
        """GET any path; JSON or text."""
        return get_json(self.api_client, path, accept)

    def open(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        """Send any request and return the open urllib3 response; the caller reads and
        closes it.
        """
        sent = dict(headers)
        self.api_client.update_params_for_auth(
            sent, [], ["BearerToken"], path, method, None
        )
        pool = self.api_client.rest_client.pool_manager
        url = self.api_client.configuration.host + path
        return pool.request(
            method,
            url,
            body=body or None,
            headers=sent,
            preload_content=False,
            retries=False,
        )

    def node(self, name: str) -> KindNode:
        """A node to run commands in. `worker` is short for `lifecycle-worker`."""
        full = name if name.startswith("lifecycle-") else f"lifecycle-{name}"
        return KindNode(full)

    def kubectl(self, *args: str) -> str:
        """Run the real kubectl in this context and return what it printed."""
        return run_kubectl(args, context=self.name, config_file=self.config_file).stdout

    def at(self, scenario: str, moment: str = "") -> LiveCluster:
        """A live cluster has only the present: this is itself, so that a notebook's
        line works on both.
        """
        return self

    @property
    def provenance(self) -> Provenance:
        """Asked now."""
        version = self.get("/version")["gitVersion"]
        return Provenance(
            self.name, version, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "live"
        )

    # -- namespaces --------------------------------------------------------------------

    def create_namespace(self, name: str) -> str:
        """Make a labelled namespace that `close` will delete. Raises InspectorError if
        the name is taken.
        """
        meta = {"name": name, "labels": {LABEL: LABEL_VALUE}}
        try:
            self.client.CoreV1Api().create_namespace(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
            )
        except kubernetes.client.ApiException as error:
            if error.status == 409:
                raise InspectorError(
                    f"namespace {name!r} is there already and was not made here: it"
                    " stays untouched"
                ) from None
            raise
        self._namespaces.append(name)
        return name

    def adopt_namespace(self, name: str) -> None:
        """Remember a namespace that a recorded scenario just created, so that `close`
        deletes it.
        """
        if name not in self._namespaces:
            self._namespaces.append(name)

    @contextlib.contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """A namespace for the length of a `with` block."""
        self.create_namespace(name)
        try:
            yield name
        finally:
            self._delete(name)

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace made (or adopted) here; any other one stays untouched."""
        if name in self._namespaces:
            self._delete(name)

    def _delete(self, name: str) -> None:
        with contextlib.suppress(kubernetes.client.ApiException):
            self.client.CoreV1Api().delete_namespace(name)
        if name in self._namespaces:
            self._namespaces.remove(name)

    def close(self) -> None:
        """Delete every namespace made here and close the connection."""
        for name in list(self._namespaces):
            self._delete(name)
        self.api_client.close()

    def __enter__(self) -> LiveCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
