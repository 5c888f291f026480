"""Where pods come from: files, a URL and the API server, merged into one stream.

Upstream: `pkg/kubelet/config`, v1.36.
"""
