"""The fields of a kubeconfig and their Go types.

Upstream: `client-go/tools/clientcmd/api/v1/types.go` (`Config` and what is in it),
v1.36. Left out: `preferences` and `extensions`.
"""

from __future__ import annotations

from lifecycle.api.go.json.structs import BYTES, StructDecoder, Types
from lifecycle.api.http.wire import Object

_STRUCTS: Types = {
    "Config": {
        "current-context": "string",
        "clusters": "[]v1.NamedCluster",
        "users": "[]v1.NamedAuthInfo",
        "contexts": "[]v1.NamedContext",
    },
    "NamedCluster": {"name": "string", "cluster": "v1.Cluster"},
    "NamedAuthInfo": {"name": "string", "user": "v1.AuthInfo"},
    "NamedContext": {"name": "string", "context": "v1.Context"},
    "Cluster": {
        "server": "string",
        "tls-server-name": "string",
        "insecure-skip-tls-verify": "bool",
        "certificate-authority": "string",
        "certificate-authority-data": BYTES,
        "proxy-url": "string",
        "disable-compression": "bool",
    },
    "AuthInfo": {
        "client-certificate": "string",
        "client-certificate-data": BYTES,
        "client-key": "string",
        "client-key-data": BYTES,
        "token": "string",
        "tokenFile": "string",
        "as": "string",
        "as-uid": "string",
        "as-groups": "[]string",
        "as-user-extra": "map[string][]string",
        "username": "string",
        "password": "string",
        "auth-provider": "v1.AuthProviderConfig",
        "exec": "v1.ExecConfig",
    },
    "Context": {"cluster": "string", "user": "string", "namespace": "string"},
    "AuthProviderConfig": {"name": "string", "config": "map[string]string"},
    "ExecConfig": {
        "command": "string",
        "args": "[]string",
        "env": "[]v1.ExecEnvVar",
        "apiVersion": "string",
        "installHint": "string",
        "provideClusterInfo": "bool",
        "interactiveMode": "v1.ExecInteractiveMode",
    },
    "ExecEnvVar": {"name": "string", "value": "string"},
}
"""Go's types, by their fields."""
_ZEROS: dict[str, Object] = {
    "NamedCluster": {"name": ""},
    "NamedAuthInfo": {"name": ""},
    "NamedContext": {"name": ""},
    "ExecEnvVar": {"name": "", "value": ""},
}
"""What Go writes even if it is empty."""
_DECODER = StructDecoder(_STRUCTS, zeros=_ZEROS)


def decode(document: Object) -> Object:
    """The document, without fields that are null: Go does not tell them from those that
    are not there. Raises ValueError for the first field that is of another type.
    """
    return _DECODER.decode(document, "Config")
