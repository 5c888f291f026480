"""The kubeconfig an embedded cluster hands out.

It names the context `lifecycle` (or what the caller asks for), the address, the CA made
at start and an admin client certificate. The file is readable by its owner only, and no
key of it outlives the cluster.

Upstream: `client-go/tools/clientcmd/api/v1/types.go` (`Config`); kubeadm
`phases/kubeconfig`, v1.36.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

import yaml

from lifecycle.api.http.wire import Object


def kubeconfig(
    server: str,
    ca: bytes,
    certificate: bytes,
    key: bytes,
    *,
    name: str = "lifecycle",
    token: str = "",
) -> Object:
    """A kubeconfig with one cluster, one user and one context, all called `name`. PEM
    bytes in, plain dict out.
    """
    user: Object = {
        "client-certificate-data": base64.b64encode(certificate).decode(),
        "client-key-data": base64.b64encode(key).decode(),
    }
    if token:
        user = {"token": token}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {
                    "server": server,
                    "certificate-authority-data": base64.b64encode(ca).decode(),
                },
            }
        ],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        "preferences": {},
    }


def write_kubeconfig(config: Object, path: Path) -> None:
    """Write it for the owner's eyes only, in one piece: a reader never sees half a
    file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise type(error)(
            error.errno, error.strerror, str(path)
        ) from None  # the draft is nobody's business
    try:
        with os.fdopen(descriptor, "w") as file:
            yaml.safe_dump(config, file, sort_keys=False)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # there is a key in it
        raise
