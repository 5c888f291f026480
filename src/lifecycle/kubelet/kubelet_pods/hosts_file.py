"""The `/etc/hosts` that containers see: written by the kubelet, mounted into each of
them.

It is the same for all containers of a pod, and knows the pod's own name and what
`hostAliases` adds. A pod on the node's network gets the node's own file, with the
aliases after it. An image's `/etc/hosts` is never seen, unless a container mounts
something of its own there.

Upstream: `pkg/kubelet/kubelet_pods.go` (`makeHostsMount`, `ensureHostsFile`,
`managedHostsFileContent`, `nodeHostsFileContent`, `hostsEntriesFromHostAliases`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lifecycle.api.http.wire import Object

MANAGED_HEADER = "# Kubernetes-managed hosts file.\n"
HOST_NETWORK_HEADER = "# Kubernetes-managed hosts file (host network).\n"
ETC_HOSTS = "/etc/hosts"
HOSTS_FILE_MODE = 0o644
LOCAL = (
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    "fe00::0\tip6-localnet",
    "fe00::0\tip6-mcastprefix",
    "fe00::1\tip6-allnodes",
    "fe00::2\tip6-allrouters",
)


def host_aliases(aliases: Iterable[Object]) -> str:
    """The lines that `hostAliases` adds, with a heading; nothing if there are none."""
    lines = [
        f"{alias['ip']}\t" + "\t".join(alias.get("hostnames") or ())
        for alias in aliases
    ]
    return (
        "\n# Entries added by HostAliases.\n" + "".join(f"{line}\n" for line in lines)
        if lines
        else ""
    )


def managed_hosts_file(
    pod_ips: Sequence[str], hostname: str, domain: str, aliases: Iterable[Object]
) -> str:
    """The file of a pod with a network of its own. With a `domain` its full name comes
    first.
    """
    names = f"{hostname}.{domain}\t{hostname}" if domain else hostname
    lines = [*LOCAL, *(f"{ip}\t{names}" for ip in pod_ips)]
    return (
        MANAGED_HEADER + "".join(f"{line}\n" for line in lines) + host_aliases(aliases)
    )


def node_hosts_file(node_file: str, aliases: Iterable[Object]) -> str:
    """The file of a pod on the node's network."""
    return HOST_NETWORK_HEADER + node_file + host_aliases(aliases)


def host_name_and_domain(
    pod: Object, cluster_domain: str = "cluster.local"
) -> tuple[str, str]:
    """What a pod calls itself, and the domain of its headless service. Upstream:
    `GeneratePodHostNameAndDomain`.

    `hostnameOverride` (beta in 1.35) wins over all; a name longer than 63 characters is
    cut.
    """
    spec, meta = pod["spec"], pod["metadata"]
    if spec.get("hostnameOverride"):
        return str(spec["hostnameOverride"]), ""
    hostname = str(spec.get("hostname") or meta["name"])[:63].rstrip("-.")
    subdomain = spec.get("subdomain")
    return (
        hostname,
        f"{subdomain}.{meta['namespace']}.svc.{cluster_domain}" if subdomain else "",
    )


def ensure_hosts_file(
    path: Path,
    pod: Object,
    pod_ips: Sequence[str],
    *,
    cluster_domain: str = "cluster.local",
    node_file: str | None = None,
) -> None:
    """Write the file anew, as each start of a container does. `node_file`: the node's
    own, read if None. Raises OSError.
    """
    aliases = pod["spec"].get("hostAliases") or ()
    if pod["spec"].get("hostNetwork"):
        content = node_hosts_file(
            Path(ETC_HOSTS).read_text() if node_file is None else node_file, aliases
        )
    else:
        content = managed_hosts_file(
            pod_ips, *host_name_and_domain(pod, cluster_domain), aliases
        )
    path.write_text(content)
    path.chmod(HOSTS_FILE_MODE)
