"""`kubectl create namespace` and `serviceaccount`: a name makes the object.

Upstream: `kubectl/pkg/cmd/create/create_namespace.go`, `create_serviceaccount.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def create_namespace(name: str) -> Object:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def create_serviceaccount(name: str) -> Object:
    """A ServiceAccount."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
