"""The file `/etc/resolv.conf` of a pod, from its sandbox's `dns_config`.

Upstream: containerd `internal/cri/server/podsandbox/helpers.go` (`parseDNSOptions`).
"""

from __future__ import annotations

from lifecycle.cri.apis.message import Fields


def resolv_conf(dns: Fields) -> str:
    """Search domains, name servers and options, where there are any."""
    lines = [f"search {' '.join(dns['searches'])}"] if dns.get("searches") else []
    lines += [f"nameserver {server}" for server in dns.get("servers") or ()]
    if dns.get("options"):
        lines.append(f"options {' '.join(dns['options'])}")
    return "".join(line + "\n" for line in lines)
