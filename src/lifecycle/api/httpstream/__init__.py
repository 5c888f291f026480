"""Connections that stop being HTTP: SPDY and WebSocket, both ends.

Upstream: `apimachinery/pkg/util/httpstream`, `client-go/transport`.
"""
