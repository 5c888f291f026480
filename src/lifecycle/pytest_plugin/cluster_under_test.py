"""What a test can do with a cluster: kubectl, manifests, waiting, and a kubeconfig for
programs of other people.
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lifecycle.api.http.wire import Object
from lifecycle.cluster.background import BackgroundCluster, OfficialClient
from lifecycle.cluster.kubeconfig_file import write_kubeconfig
from lifecycle.kubectl.command import run_kubectl
from lifecycle.kubectl.session import Session
from lifecycle.pytest_plugin.waiting import Check, until

if TYPE_CHECKING:
    from kubernetes import client as official

Manifest = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""YAML or JSON as text, a file or a folder, an object, or several."""


class KubectlFailed(AssertionError):
    """A kubectl command that a test ran has failed: its `code` and its `stderr`."""

    def __init__(self, argv: Sequence[str], code: int, stderr: str) -> None:
        super().__init__(f"kubectl {shlex.join(argv)}: {stderr.strip()} (exit {code})")
        self.code, self.stderr = code, stderr


class ClusterUnderTest:
    """A running cluster, seen from one of its namespaces.

    `kubeconfig`: the path of a file that leads there, with `namespace` as its default;
    it is gone when the test or the session is.
    """

    def __init__(
        self, running: BackgroundCluster, folder: Path, namespace: str = "default"
    ) -> None:
        self.running, self.namespace = running, namespace
        self.kubeconfig = folder / "kubeconfig"
        config = running.kubeconfig
        (context,) = config["contexts"]
        context["context"]["namespace"] = namespace
        write_kubeconfig(config, self.kubeconfig)

    @property
    def url(self) -> str:
        """`https://127.0.0.1:PORT`."""
        return self.running.url

    @property
    def api_client(self) -> official.ApiClient:
        """The official client's connection, as the admin."""
        return self.running.api_client

    @property
    def client(self) -> OfficialClient:
        """The official client's API classes, connected: `client.AppsV1Api()`."""
        return self.running.client

    def kubectl(self, *argv: str, stdin: str = "") -> str:
        """What our kubectl prints for this command, in this namespace if it names none.

        `argv` is `("get", "pods")` or one text, `"get pods"`, split as a shell would.
        Raises KubectlFailed if its exit code is not 0.
        """
        words = shlex.split(argv[0]) if len(argv) == 1 else list(argv)
        out, err = io.StringIO(), io.StringIO()
        code = self.running.run(
            run_kubectl(
                words,
                self._client(),
                out=out,
                err=err,
                namespace=self.namespace,
                stdin=io.StringIO(stdin),
            )
        )
        if code:
            raise KubectlFailed(words, code, err.getvalue())
        return out.getvalue()

    def apply(self, manifest: Manifest) -> list[Object]:
        """`kubectl apply` it; the objects as the server has them now. Raises
        KubectlFailed.
        """
        if isinstance(manifest, Path):
            printed = self.kubectl("apply", "-o", "json", "-f", str(manifest))
        else:
            text = manifest if isinstance(manifest, str) else _documents(manifest)
            printed = self.kubectl("apply", "-o", "json", "-f", "-", stdin=text)
        applied: Object = json.loads(printed)
        return applied["items"] if applied["kind"] == "List" else [applied]

    def wait_for(
        self, what: str, condition: str | Check = "create", timeout: float = 30.0
    ) -> Object:
        """The object `what` (`deployment/web`) once it meets the condition.

        The condition is what `kubectl wait --for` understands (`condition=Available`,
        `jsonpath={.status.phase}=Running`, `delete`) or a function of the object. An
        object that is not there yet is waited for as well.

        Raises TimeoutError after `timeout` seconds with the object's last status,
        CommandError for what kubectl does not understand.
        """
        return self.running.run(self._wait_for(what, condition, timeout))

    async def _wait_for(
        self, what: str, condition: str | Check, timeout: float
    ) -> Object:
        client = self._client()
        session = Session(client, io.StringIO(), io.StringIO(), self.namespace)
        match await session.targets([what]):
            case [target] if target.name:
                return await until(client, target, self.namespace, condition, timeout)
        raise ValueError(f"wait_for waits for one object, TYPE/NAME, not {what!r}")

    def _client(self) -> Any:
        assert self.running.cluster is not None
        return self.running.cluster.client("kubectl")


def _documents(manifest: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    objects = [manifest] if isinstance(manifest, Mapping) else list(manifest)
    return yaml.safe_dump_all([dict(obj) for obj in objects])
