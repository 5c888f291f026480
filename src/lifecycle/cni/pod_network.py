"""The container runtime's side: a sandbox's network, set up before its first container
and torn down after its last one.

A runtime attaches a sandbox to two networks: `cni-loopback`, built in, as `lo`, and the
first valid configuration in its directory, as `eth0`. It passes on who the pod is
(`CNI_ARGS`) and what it may want (capabilities: port mappings, DNS, annotations); what
of that reaches a plugin, the configuration decides. The pod's addresses come back in
the result, and from there by way of the sandbox's status to the kubelet.

Upstream: containerd 2, `internal/cri/server/sandbox_run.go` (`setupPodNetwork`,
`cniNamespaceOpts`), `containerd/go-cni`, `cni.go`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.cni import config, results
from lifecycle.cni.errors import CNIError
from lifecycle.cni.libcni import CNIConfig, Observer
from lifecycle.cni.result_cache import DEFAULT_CACHE_DIR, RuntimeConf

LOOPBACK = """{
"cniVersion": "0.3.1",
"name": "cni-loopback",
"plugins": [{
  "type": "loopback"
}]
}"""
DEFAULT_BIN_DIR = "/opt/cni/bin"
DEFAULT_IF_NAME = "eth0"
NOT_INITIALIZED = "cni plugin not initialized"


@dataclass(slots=True, frozen=True)
class Sandbox:
    """A pod as its network sees it.

    `port_mappings`: `{hostPort, containerPort, protocol, hostIP}` each; `dns`:
    `{Servers, Searches, Options}`.
    """

    id: str
    name: str
    namespace: str
    uid: str
    port_mappings: Sequence[Mapping[str, Any]] = ()
    dns: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    cgroup_path: str = ""


@dataclass(slots=True, frozen=True)
class PodNetworkResult:
    """`ips`: the pod's addresses without masks, the first one is `status.podIP`.
    `results`: by interface name.
    """

    ips: Sequence[str]
    results: Mapping[str, results.Result]


def cni_args(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Who the pod is. `IgnoreUnknown` keeps plugins from refusing what they do not
    know.
    """
    return [
        ("IgnoreUnknown", "1"),
        ("K8S_POD_NAMESPACE", sandbox.namespace),
        ("K8S_POD_NAME", sandbox.name),
        ("K8S_POD_INFRA_CONTAINER_ID", sandbox.id),
        ("K8S_POD_UID", sandbox.uid),
    ]


def capability_args(sandbox: Sandbox) -> dict[str, Any]:
    """What plugins may ask for."""
    offered: dict[str, Any] = {
        "io.kubernetes.cri.pod-annotations": dict(sandbox.annotations)
    }
    mappings = [m for m in sandbox.port_mappings if m.get("hostPort")]
    if mappings:
        offered["portMappings"] = [
            {
                "hostPort": m["hostPort"],
                "containerPort": m["containerPort"],
                "protocol": m.get("protocol", "TCP").lower(),
                "hostIP": m.get("hostIP", ""),
            }
            for m in mappings
        ]
    if sandbox.dns:
        offered["dns"] = dict(sandbox.dns)
    if sandbox.cgroup_path:
        offered["cgroupPath"] = sandbox.cgroup_path
    return offered


def runtime_conf(sandbox: Sandbox, netns_path: str, if_name: str) -> RuntimeConf:
    """One attachment of a sandbox."""
    return RuntimeConf(
        sandbox.id, netns_path, if_name, cni_args(sandbox), capability_args(sandbox)
    )


class PodNetwork:
    """Networks for sandboxes of one node. `host_netns`: the node's own namespace, if it
    is not ours.
    """

    def __init__(
        self,
        conf_dir: str | Path = config.DEFAULT_CONF_DIR,
        bin_dirs: Sequence[str | Path] = (DEFAULT_BIN_DIR,),
        cache_dir: str | Path = DEFAULT_CACHE_DIR,
        *,
        host_netns: str = "",
        observer: Observer | None = None,
    ) -> None:
        self._conf_dir = conf_dir
        self._libcni = CNIConfig(
            bin_dirs, cache_dir, host_netns=host_netns, observer=observer
        )

    def networks(self) -> list[tuple[str, config.NetworkConfigList]]:
        """Interface names and their networks. The directory is read anew each time.
        Raises CNIError if it has none, or a broken one first; which files it has is
        not said, as whoever reads the directory logs that (`Load`).
        """
        try:
            default = config.first_network(self._conf_dir)
        except CNIError:
            raise CNIError(NOT_INITIALIZED) from None
        return [
            ("lo", config.network_conf_from(LOOPBACK)),
            (DEFAULT_IF_NAME, default),
        ]

    async def set_up_pod(self, netns_path: str, sandbox: Sandbox) -> PodNetworkResult:
        """Attach a sandbox to all networks. Raises CNIError, and leaves nothing
        attached then.
        """
        prefix = f'failed to setup network for sandbox "{sandbox.id}"'
        network_results: dict[str, results.Result] = {}
        try:
            for if_name, network in self.networks():
                network_results[if_name] = await self._libcni.add_network_list(
                    network, runtime_conf(sandbox, netns_path, if_name)
                )
        except CNIError as error:
            with contextlib.suppress(CNIError):
                await self.tear_down_pod(netns_path, sandbox)
            raise error.wrapped(prefix) from None
        ips = [
            address.partition("/")[0]
            for address in results.ip_addresses(network_results[DEFAULT_IF_NAME])
        ]
        if not ips:
            await self.tear_down_pod(netns_path, sandbox)
            raise CNIError(
                f"failed to find network info for sandbox {sandbox.id!r}".replace(
                    "'", '"'
                )
            )
        return PodNetworkResult(ips, network_results)

    async def tear_down_pod(self, netns_path: str, sandbox: Sandbox) -> None:
        """Detach a sandbox; may be called again, and with a namespace that is gone.
        Raises the first CNIError after trying all networks. A plugin that does not
        find what it should remove has nothing left to do.
        """
        prefix = f'failed to destroy network for sandbox "{sandbox.id}"'
        try:
            networks = self.networks()
        except CNIError as error:
            raise error.wrapped(prefix) from None
        complaints = []
        for if_name, network in reversed(networks):
            try:
                await self._libcni.del_network_list(
                    network, runtime_conf(sandbox, netns_path, if_name)
                )
            except CNIError as error:
                if not _is_gone(str(error), netns_path):
                    complaints.append(error)
        if complaints:
            raise complaints[0].wrapped(prefix)

    async def status(self) -> None:
        """Could a pod be attached now? Raises CNIError; the node is
        `NetworkReady=false` then.
        """
        for _, network in self.networks():
            await self._libcni.get_status_network_list(network)


def _is_gone(complaint: str, netns_path: str) -> bool:
    """Upstream: go-cni, `Remove`."""
    no_namespace = not netns_path and "no such file or directory" in complaint
    return no_namespace or "not found" in complaint
