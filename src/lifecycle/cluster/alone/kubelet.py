"""A kubelet by itself, with a hollow runtime: it registers its node, keeps it Ready,
and runs the pods that it is given.

Its API (logs, exec, port-forward) is on a loopback port, over TLS, for those whom the
API server vouches for. An API server on this machine that dials nodes by their
InternalIP reaches it there, for that is what the node says.

Upstream: `cmd/kubelet/app/server.go` (`RunKubelet`, `InitializeTLS`),
`cmd/kubemark/hollow-node.go` (`hollow-kubelet`), v1.36. Left out: certificates of its
own by CSR, `--config`.
"""

from __future__ import annotations

import ipaddress
import re
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.validation.content import dns1123_subdomain
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.alone.connection import Connection
from lifecycle.cluster.alone.health import LOOPBACK, Check
from lifecycle.cri.hollow.images import KIND_IMAGES
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.step_times import Latency
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.images.image_gc_manager import KIND_IMAGE_GC
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.server.listener import KUBELET_PORT, Listen

NAME = "kubelet"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = re.compile(r"([^=:]+)(?:=([^:]*))?:(\w+)")


@dataclass(slots=True, frozen=True)
class NodeOptions:
    """What the flags of these names say. `pod_cidr` empty: the controllers choose it.
    `client_ca_file` None: who may come is whom the kubeconfig's authority vouches for.
    """

    hostname_override: str
    node_ip: str = LOOPBACK
    port: int = KUBELET_PORT
    pod_cidr: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    register_with_taints: tuple[Object, ...] = ()
    client_ca_file: Path | None = None
    latency: Latency = 0.0

    def check(self) -> None:
        """Raises ValueError, in one line."""
        for problem in dns1123_subdomain(self.hostname_override):
            raise ValueError(f"--hostname-override {self.hostname_override}: {problem}")
        try:
            ipaddress.IPv4Address(self.node_ip)
        except ValueError as error:
            raise ValueError(f"--node-ip: {error}") from None
        try:
            if self.pod_cidr:
                ipaddress.IPv4Network(self.pod_cidr)
        except ValueError as error:
            raise ValueError(f"--pod-cidr: {error}") from None


def parse_labels(text: str) -> dict[str, str]:
    """`key=value,…`. Raises ValueError."""
    labels = {}
    for pair in filter(None, text.split(",")):
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ValueError(f"--node-labels wants key=value, not {pair}")
        labels[key] = value
    return labels


def parse_taints(text: str) -> tuple[Object, ...]:
    """`key=value:Effect,…`; the value may be missing. Raises ValueError."""
    taints = []
    for each in filter(None, text.split(",")):
        match = _TAINT.fullmatch(each)
        if match is None or match[3] not in EFFECTS:
            raise ValueError(
                f"--register-with-taints wants key=value:Effect ({', '.join(EFFECTS)}),"
                f" not {each}"
            )
        taint: Object = {"key": match[1], "effect": match[3]}
        taints.append({**taint, "value": match[2]} if match[2] else taint)
    return tuple(taints)


def serving_context(name: str, address: str, client_ca: bytes) -> ssl.SSLContext:
    """TLS as a kubelet has it that nobody gave a certificate: one signed by itself, and
    clients are asked for theirs. Raises ssl.SSLError for an authority that is none.
    """
    certificate, key = CertificateAuthority().serving_certificate([name], [address])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if client_ca:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=client_ca.decode())
    with tempfile.TemporaryDirectory() as folder:  # ssl reads chains from files only
        chain = Path(folder) / "chain.pem"
        chain.touch(mode=0o600)
        chain.write_bytes(certificate + key)
        context.load_cert_chain(chain)
    return context


class LoneKubelet:
    """A node of the server behind a connection. Raises OSError, ssl.SSLError for a file
    that cannot be used.
    """

    def __init__(
        self, connection: Connection, clock: Clock, options: NodeOptions
    ) -> None:
        name = options.hostname_override
        client_ca = (
            options.client_ca_file.read_bytes()
            if options.client_ca_file is not None
            else connection.config.ca
        )
        runtime = HollowRuntime(
            clock=clock,
            names=NameSource(),
            latency=options.latency,
            images=KIND_IMAGES,
        )
        config = KubeletConfiguration(
            name,
            options.node_ip,
            options.pod_cidr,
            labels=options.node_labels,
            taints=options.register_with_taints,
            eviction_hard=parse_thresholds(KIND_EVICTION_HARD),
            image_gc=KIND_IMAGE_GC,
            listen=Listen(
                serving_context(name, options.node_ip, client_ca),
                LOOPBACK,
                options.port,
            ),
        )
        self._kubelet = new_main_kubelet(
            config,
            Dependencies(
                connection.client(NAME), runtime, clock, volume_files=runtime.volumes
            ),
        )

    def readyz(self) -> Mapping[str, Check]:
        """See `Component`."""
        registered = self._kubelet.registration.registered
        return {
            "node-registration": lambda: (
                "" if registered.is_set() else "the node is not registered"
            )
        }

    async def metrics(self) -> str:
        """See `Component`: what is to be had at its own port, for others."""
        response = await self._kubelet.server(Request("GET", "/metrics"))
        return (response.body or b"").decode()

    async def run(self) -> None:
        """See `Component`."""
        await self._kubelet.run()

    async def until_ready(self) -> None:
        """See `Component`: once the node is registered."""
        await self._kubelet.registration.registered.wait()
