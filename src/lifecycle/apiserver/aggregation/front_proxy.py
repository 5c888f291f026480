"""The front proxy's identity: how an added API server knows that it is really
kube-apiserver who speaks.

There is a second certificate authority, for one purpose: its client certificate is what
the aggregator shows. Its certificate is published in the config map
`kube-system/extension-apiserver-authentication`, with the names of the headers, so that
an added server can set itself up. Beside it stands the CA of ordinary client
certificates.

Upstream: kubeadm `app/phases/certs/certlist.go` (`KubeadmCertFrontProxyCA`,
`KubeadmCertFrontProxyClient`),
`pkg/controlplane/controller/clusterauthenticationtrust/cluster_authentication_trust_controller.go`,
v1.36. Left out: merging with what other servers of the same cluster have written.
"""

from __future__ import annotations

from functools import cached_property

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.apiserver.authn.request_header import RequestHeaderConfig
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.etcd.codec import decode_value, encode_value, storage_media_type
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.store import Store

NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
COMMON_NAME = "front-proxy-client"


class FrontProxy:
    """The authority, unless one is given, and the client certificate, made when first
    needed.
    """

    def __init__(self, authority: CertificateAuthority | None = None) -> None:
        self._authority = authority

    @cached_property
    def authority(self) -> CertificateAuthority:
        """Signs for the front proxy and nobody else."""
        return self._authority or CertificateAuthority()

    @cached_property
    def certificate(self) -> tuple[bytes, bytes]:
        """Certificate and key (PEM) that the aggregator shows."""
        return self.authority.client_certificate(COMMON_NAME)


def authentication_config_map(client_ca: bytes, config: RequestHeaderConfig) -> Object:
    """What added servers read. Lists are JSON inside strings."""

    def listed(values: tuple[str, ...]) -> str:
        return fast_json.dumps(list(values)).decode()

    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "data": {
            "client-ca-file": client_ca.decode(),
            "requestheader-allowed-names": listed(config.allowed_names),
            "requestheader-client-ca-file": config.client_ca.decode(),
            "requestheader-extra-headers-prefix": listed(config.extra_prefixes),
            "requestheader-group-headers": listed(config.group_headers),
            "requestheader-uid-headers": listed(config.uid_headers),
            "requestheader-username-headers": listed(config.username_headers),
        },
    }


async def publish_authentication_config(
    store: Store, clock: Clock, client_ca: bytes, front_proxy: FrontProxy
) -> None:
    """Write the config map into the store; what an earlier start left there is
    replaced. Raises StoreError.
    """
    row = resource("configmaps")
    key = registry_key(row, NAMESPACE, NAME)
    config_map = authentication_config_map(
        client_ca, RequestHeaderConfig(front_proxy.authority.ca_pem)
    )
    before = await store.get(key)
    metadata = {"uid": NameSource().uid(), "creationTimestamp": clock.timestamp()}
    if before is not None:
        stored = decode_value(before.value, before.mod_revision)
        if stored.get("data") == config_map["data"]:
            return  # so that a full disk does not keep a cluster from starting again
        metadata = {name: stored["metadata"][name] for name in metadata}
    config_map["metadata"] |= metadata
    await store.put(key, encode_value(config_map, storage_media_type(store)))


def read_authentication_config_map(
    config_map: Object,
) -> tuple[bytes, RequestHeaderConfig]:
    """Both authorities from such a config map. Raises ValueError if it says nothing
    about a front proxy.
    """
    data = config_map.get("data") or {}
    if not data.get("requestheader-client-ca-file"):
        raise ValueError(f"no client ca bundle found under {NAMESPACE}/{NAME}")

    def listed(key: str) -> tuple[str, ...]:
        return tuple(fast_json.loads(data.get(key) or "[]"))

    config = RequestHeaderConfig(
        data["requestheader-client-ca-file"].encode(),
        allowed_names=listed("requestheader-allowed-names"),
        username_headers=listed("requestheader-username-headers"),
        uid_headers=listed("requestheader-uid-headers"),
        group_headers=listed("requestheader-group-headers"),
        extra_prefixes=listed("requestheader-extra-headers-prefix"),
    )
    return data.get("client-ca-file", "").encode(), config
