"""kube-proxy: Services and EndpointSlices become rules of the kernel. Upstream:
`pkg/proxy`.
"""
