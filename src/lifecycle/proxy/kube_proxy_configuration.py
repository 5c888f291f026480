"""KubeProxyConfiguration: the file that a kube-proxy is started with.

What is not in the file has a default, and the defaults are not kind's: without a
cluster's CIDR nobody can tell pods' traffic, and the kernel's table of connections gets
room for 32,768 of them per CPU. What is wrong is said all at once. Names that are not
known are passed over, as a real kube-proxy passes over them.

Upstream: `kube-proxy/config/v1alpha1/types.go`, `pkg/proxy/apis/config/v1alpha1/
defaults.go`, `pkg/proxy/apis/config/validation/validation.go`
(`validateKubeProxyConfiguration`), `cmd/kube-proxy/app/options.go` (`loadConfig`),
v1.36. Left out: modes other than iptables, ways to tell pods' traffic other than by the
cluster's CIDR, all that is about a process' priority, profiling and logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.go.duration import go_duration, parse_duration
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.validation.addresses import parse_ip, parse_network
from lifecycle.proxy.iptables.config import DAY, HOUR, ConntrackConfig, ProxierConfig

API_VERSION = "kubeproxy.config.k8s.io/v1alpha1"
KIND = "KubeProxyConfiguration"
HEALTHZ, METRICS = ("0.0.0.0", 10256), ("127.0.0.1", 10249)
MAX_PER_CORE = 32768
CIDR = "must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)"
PAIR = (
    "must be a either a single CIDR or dual-stack pair of CIDRs"
    " (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]"
)
AT_LEAST_0 = "must be greater than or equal to 0"
CONNTRACK = "KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration"


@dataclass(slots=True, frozen=True)
class KubeProxyConfiguration:
    """`healthz`, `metrics`: an address and a port each to listen at. Empty texts: the
    file does not say.
    """

    proxier: ProxierConfig = field(default_factory=ProxierConfig)
    healthz: tuple[str, int] = HEALTHZ
    metrics: tuple[str, int] = METRICS
    hostname_override: str = ""
    kubeconfig: str = ""


def parse_configuration(text: str) -> KubeProxyConfiguration:
    """Read a file for `--config`. Raises ValueError: where it is wrong, and why."""
    document, _ = read_yaml(text.encode())
    said = document if isinstance(document, dict) else {}
    if (said.get("apiVersion"), said.get("kind")) != (API_VERSION, KIND):
        raise ValueError(
            f"no {KIND} of {API_VERSION}, but"
            f" {said.get('kind')!r} of {said.get('apiVersion')!r}"
        )
    file = _File(said)
    proxier = ProxierConfig(
        cluster_cidr=next((each for each in _cidrs(file) if ":" not in each), ""),
        masquerade_all=file.flag("iptables.masqueradeAll", False),
        masquerade_bit=file.number("iptables.masqueradeBit", 14),
        localhost_node_ports=file.flag("iptables.localhostNodePorts", True),
        node_port_addresses=tuple(file.texts("nodePortAddresses")),
        conntrack=_conntrack(file),
        min_sync_period=file.duration("iptables.minSyncPeriod", 1.0),
        sync_period=file.duration("iptables.syncPeriod", 30.0) or 30.0,
    )
    if errors := [*_errors(file, proxier)]:
        raise ValueError(", ".join(map(str, errors)))
    return KubeProxyConfiguration(
        proxier,
        _address_and_port(file.text("healthzBindAddress"), HEALTHZ),
        _address_and_port(file.text("metricsBindAddress"), METRICS),
        file.text("hostnameOverride"),
        file.text("clientConnection.kubeconfig"),
    )


def _conntrack(file: _File) -> ConntrackConfig:
    def seconds(name: str, default: int = 0) -> int:
        return int(file.duration(f"conntrack.{name}", default))

    return ConntrackConfig(
        max_per_core=file.number("conntrack.maxPerCore", MAX_PER_CORE),
        min=file.number("conntrack.min", ConntrackConfig().min),
        tcp_established_timeout=seconds("tcpEstablishedTimeout", DAY),
        tcp_close_wait_timeout=seconds("tcpCloseWaitTimeout", HOUR),
        tcp_be_liberal=file.flag("conntrack.tcpBeLiberal", False),
        udp_timeout=seconds("udpTimeout"),
        udp_stream_timeout=seconds("udpStreamTimeout"),
    )


def _errors(file: _File, proxier: ProxierConfig) -> Iterator[FieldError]:
    conntrack = proxier.conntrack
    if not 0 <= proxier.masquerade_bit <= 31:
        yield _invalid(
            "KubeProxyIPTablesConfiguration.MasqueradeBit",
            proxier.masquerade_bit,
            "must be within the range [0, 31]",
        )
    longest, least = map(go_duration, (proxier.sync_period, proxier.min_sync_period))
    if proxier.sync_period <= 0:
        yield _invalid("SyncPeriod", longest, "must be greater than 0")
    if proxier.min_sync_period < 0:
        yield _invalid("MinSyncPeriod", least, AT_LEAST_0)
    if proxier.sync_period < proxier.min_sync_period:
        why = f"must be greater than or equal to {KIND}.MinSyncPeriod"
        yield _invalid("SyncPeriod", least, why)
    for name, count in (("MaxPerCore", conntrack.max_per_core), ("Min", conntrack.min)):
        if count < 0:
            yield _invalid(f"{CONNTRACK}.{name}", count, AT_LEAST_0)
    for name, time in (
        ("TCPEstablishedTimeout", conntrack.tcp_established_timeout),
        ("TCPCloseWaitTimeout", conntrack.tcp_close_wait_timeout),
        ("UDPTimeout", conntrack.udp_timeout),
        ("UDPStreamTimeout", conntrack.udp_stream_timeout),
    ):
        if time < 0:
            yield _invalid(f"{CONNTRACK}.{name}", go_duration(time), AT_LEAST_0)
    if (mode := file.text("mode")) not in ("", "iptables"):
        yield _invalid("Mode", mode, "only iptables is rebuilt here")
    if (local := file.text("detectLocalMode")) not in ("", "ClusterCIDR"):
        yield _invalid("DetectLocalMode", local, "only ClusterCIDR is rebuilt here")
    for name in ("HealthzBindAddress", "MetricsBindAddress"):
        address = file.text(f"{name[0].lower()}{name[1:]}")
        yield from (_invalid(name, *each) for each in _address_errors(address))
    path, cidrs = "DetectLocalConfiguration.ClusterCIDRs", _cidrs(file)
    bad = [number for number, each in enumerate(cidrs) if parse_network(each) is None]
    for number in bad:
        yield _invalid(f"{path}[{number}]", cidrs[number], CIDR)
    families = [":" in each for each in cidrs]
    if not bad and len(families) != len(set(families)):
        yield _invalid(path, cidrs, PAIR)
    for number, network in enumerate(proxier.node_port_addresses):
        if parse_network(network) is None:
            path = f"NodePortAddresses[{number}]"
            yield _invalid(path, network, "must be a valid CIDR")


def _invalid(field: str, value: object, why: str) -> FieldError:
    return invalid(f"{KIND}.{field}", value, why)


def _cidrs(file: _File) -> list[str]:
    """One of each family at the most."""
    said = file.text("clusterCIDR")
    return said.split(",") if said else []


def _address_errors(text: str) -> Iterator[tuple[str, str]]:
    """What is wrong with where to listen: which part, and why."""
    if not text or parse_ip(text):
        return
    address, colon, port = text.rpartition(":")
    if not colon:
        yield text, "must be IP:port"
        return
    if parse_ip(bare := address.strip("[]")) is None:
        yield bare, "must be a valid IP"
    if not (port.isdecimal() and 0 < int(port) < 1 << 16):
        yield port, "must be a valid port"


def _address_and_port(text: str, default: tuple[str, int]) -> tuple[str, int]:
    """Where to listen. An address alone has the usual port."""
    if not text:
        return default
    if parse_ip(text):
        return text, default[1]
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port)


class _File:
    """The decoded file, asked by paths. Every question raises ValueError if the
    answer is of another type.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def _find(self, path: str, kind: type, default: Any) -> Any:
        found: Any = self._document
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            return default
        if type(found) is not kind:
            raise ValueError(f"{path}: {found!r} is no {kind.__name__}")
        return found

    def text(self, path: str) -> str:
        return str(self._find(path, str, ""))

    def texts(self, path: str) -> list[str]:
        return [str(each) for each in self._find(path, list, [])]

    def number(self, path: str, default: int) -> int:
        return int(self._find(path, int, default))

    def flag(self, path: str, default: bool) -> bool:
        return bool(self._find(path, bool, default))

    def duration(self, path: str, default: float) -> float:
        text = self.text(path)
        try:
            return parse_duration(text) if text else default
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
