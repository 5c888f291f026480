"""The resolver configuration that a pod gets.

`dnsPolicy` says where names go: `ClusterFirst` to cluster DNS, with search domains that
make `web` and `web.shop` work; `Default` to wherever the node's own names go; `None`
only to what `dnsConfig` says. A pod on the node's own network is `Default` even if it
says `ClusterFirst`, unless it says `ClusterFirstWithHostNet`. `dnsConfig` is added to
any of them.

`ndots:5` is why a pod asks for `example.com` four times: a name with fewer than five
dots is first tried in every search domain.

Upstream: `pkg/kubelet/network/dns/dns.go` (`Configurer.GetPodDNS`,
`formDNSSearchFitsLimits`, `parseResolvConf`), v1.36; the file's layout is containerd's
(`internal/cri/server/podsandbox/sandbox_run_linux.go`, `parseDNSOptions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lifecycle.api.http.wire import Object

MAX_NAMESERVERS = 3
MAX_SEARCHES = 32
MAX_SEARCH_CHARACTERS = 2048
MAX_DOMAIN_CHARACTERS = 253
DEFAULT_OPTIONS = ("ndots:5",)
CLUSTER_FIRST, CLUSTER_FIRST_WITH_HOST_NET, DEFAULT, NONE = (
    "ClusterFirst",
    "ClusterFirstWithHostNet",
    "Default",
    "None",
)

Warn = Callable[[str], None]
"""Told what is said in a `DNSConfigForming` event."""


@dataclass(slots=True, frozen=True)
class DNSConfig:
    """Nameservers, search domains, options: what the kubelet tells the runtime (CRI
    `DNSConfig`).
    """

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def resolv_conf(self) -> str:
        """The file `/etc/resolv.conf` as containerd writes it."""
        lines = [f"search {' '.join(self.searches)}"] if self.searches else []
        lines += [f"nameserver {server}" for server in self.servers]
        lines += [f"options {' '.join(self.options)}"] if self.options else []
        return "".join(f"{line}\n" for line in lines)


def parse_resolv_conf(text: str) -> DNSConfig:
    """The node's own file. Upstream: `parseResolvConf`; of several `search` or
    `options` lines the last one counts.
    """
    servers: list[str] = []
    searches: list[str] = []
    options: list[str] = []
    for line in text.split("\n"):
        word, *rest = line.split() or [""]  # a comment begins with a word of its own
        if word == "nameserver" and rest:
            servers.append(rest[0])
        elif word == "search":
            searches = [
                domain if domain == "." else domain.removesuffix(".") for domain in rest
            ]
        elif word == "options":
            options = append_options(options, rest)
    return DNSConfig(tuple(servers), tuple(searches), tuple(options))


def pod_dns_type(pod: Object) -> str:
    """What a pod's policy comes to. Upstream: `getPodDNSType`."""
    spec = pod["spec"]
    policy = spec.get("dnsPolicy", CLUSTER_FIRST)
    if policy == CLUSTER_FIRST_WITH_HOST_NET:
        return CLUSTER_FIRST
    return (
        DEFAULT if policy == CLUSTER_FIRST and spec.get("hostNetwork") else str(policy)
    )


def pod_dns(
    pod: Object,
    host: DNSConfig,
    *,
    cluster_dns: Sequence[str],
    cluster_domain: str = "cluster.local",
    warn: Warn = lambda message: None,
) -> DNSConfig:
    """The DNS configuration of a pod. `host` is the node's, `cluster_dns` the addresses
    of cluster DNS (none: as if `Default`).
    """
    policy = pod_dns_type(pod)
    namespace = pod["metadata"]["namespace"]
    result = host
    if policy == NONE:
        result = DNSConfig()
    elif policy == CLUSTER_FIRST:
        if cluster_dns:
            searches = (*cluster_searches(namespace, cluster_domain), *host.searches)
            result = DNSConfig(tuple(cluster_dns), unique(searches), DEFAULT_OPTIONS)
        else:
            warn(
                f"pod: {namespace}/{pod['metadata']['name']}. kubelet does not have"
                " ClusterDNS IP configured and cannot create Pod using"
                ' "ClusterFirst" policy. Falling back to "Default" policy.'
            )
    return fit_limits(
        append_pod_config(result, pod["spec"].get("dnsConfig") or {}), warn
    )


def cluster_searches(namespace: str, domain: str) -> tuple[str, ...]:
    """The search domains of `ClusterFirst`. Upstream:
    `generateSearchesForDNSClusterFirst`.
    """
    return (f"{namespace}.svc.{domain}", f"svc.{domain}", domain) if domain else ()


def append_pod_config(config: DNSConfig, more: Object) -> DNSConfig:
    """A pod's `dnsConfig` on top. Upstream: `appendDNSConfig`."""
    options = [
        f"{option['name']}:{option['value']}" if option.get("value") else option["name"]
        for option in more.get("options") or ()
    ]
    return DNSConfig(
        unique((*config.servers, *(more.get("nameservers") or ()))),
        unique((*config.searches, *(more.get("searches") or ()))),
        tuple(append_options(config.options, options)),
    )


def append_options(first: Iterable[str], more: Iterable[str]) -> list[str]:
    """Options by name: a later one with the same name takes the earlier one's place."""
    by_name = {option.partition(":")[0]: option for option in first}
    for option in more:
        by_name[option.partition(":")[0]] = option
    return list(by_name.values())


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(items))


def fit_limits(config: DNSConfig, warn: Warn) -> DNSConfig:
    """What the resolver of the C library can take; the rest is left out, with a
    warning.
    """
    servers = config.servers
    if len(servers) > MAX_NAMESERVERS:
        servers = servers[:MAX_NAMESERVERS]
        warn(
            "Nameserver limits were exceeded, some nameservers have been omitted, the"
            " applied nameserver line is: " + " ".join(servers)
        )
    searches = tuple(
        domain
        for domain in config.searches[:MAX_SEARCHES]
        if len(domain) <= MAX_DOMAIN_CHARACTERS
    )
    while len(" ".join(searches)) > MAX_SEARCH_CHARACTERS:
        searches = searches[:-1]
    if searches != config.searches:
        warn(
            "Search Line limits were exceeded, some search paths have been omitted, the"
            " applied search line is: " + " ".join(searches)
        )
    return DNSConfig(servers, searches, config.options)
