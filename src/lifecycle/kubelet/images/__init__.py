"""Images: whether and with which credentials they are pulled.

Upstream: `pkg/kubelet/images`, `pkg/credentialprovider`, v1.36.
"""
