"""kube-proxy's iptables mode. Upstream: `pkg/proxy/iptables`."""
