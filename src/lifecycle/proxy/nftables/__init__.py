"""kube-proxy's nftables mode, as text. Upstream: `pkg/proxy/nftables`."""
