"""The kubelet's port: whom it lets in, and that real sockets carry what the handler says."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest

from lifecycle.api import fast_json
from lifecycle.api.resources import resource
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.kubelet.kubelet import node_user
from lifecycle.kubelet.server.auth import KubeletAuth
from lifecycle.kubelet.server.listener import KubeletListener, Listen
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, nginx


def client_context(authority: CertificateAuthority, folder: Path, user: str, *groups: str) -> ssl.SSLContext:
    """A client that shows a certificate; with no user, none."""
    context = ssl.create_default_context(cadata=authority.ca_pem.decode())
    if user:
        chain = folder / f"{user.replace(':', '-')}.pem"
        chain.write_bytes(b"".join(authority.client_certificate(user, groups)))
        context.load_cert_chain(chain)
    return context


@pytest.mark.parametrize(
    ("user", "groups", "path", "status"),
    [
        ("kube-apiserver-kubelet-client", ("system:masters",), "/pods", 200),
        ("kube-apiserver-kubelet-client", ("system:masters",), "/containerLogs/default/web/c", 200),
        ("mary", (), "/pods", 403),
        ("", (), "/pods", 403),
    ],
)
def test_only_those_whom_the_api_server_trusts_get_in(
    tmp_path: Path, user: str, groups: tuple[str, ...], path: str, status: int
) -> None:
    async def main() -> None:
        authority = CertificateAuthority()
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("web"))
            await asyncio.sleep(1.5)
            name = ONE_NODE[0]
            kubelet = cluster.client("kubelet", *node_user(name))
            guard = KubeletAuth(kubelet, name).guard(cluster.kubelets[name].server)
            listener = KubeletListener(guard, Listen(authority.server_context(), port=0))
            port = await listener.start()
            try:
                tls = client_context(authority, tmp_path, user, *groups)
                async with aiohttp.ClientSession() as session:
                    async with session.get(f"https://127.0.0.1:{port}{path}", ssl=tls) as answer:
                        assert answer.status == status
                        body = await answer.read()
                    if path == "/pods" and status == 200:
                        assert [p["metadata"]["name"] for p in fast_json.loads(body)["items"]] == ["web"]
                    if status == 403:
                        who = user or "system:anonymous"
                        assert body.decode() == (
                            f"Forbidden (user={who}, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"
                        )
            finally:
                await listener.stop()

    asyncio.run(main())


def test_a_token_is_shown_to_the_api_server() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            name = ONE_NODE[0]
            auth = KubeletAuth(cluster.client("kubelet", *node_user(name)), name)
            wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
            path = resource("serviceaccounts").path("default", "default", "token")
            made = await cluster.admin.request("POST", path, obj=wanted)
            from lifecycle.api.http.wire import Request

            token = (made.obj or {})["status"]["token"]
            user = await auth.authenticate(Request("GET", "/pods", headers={"authorization": f"Bearer {token}"}))
            assert user is not None
            assert user.name == "system:serviceaccount:default:default"
            assert await auth.authenticate(Request("GET", "/", headers={"authorization": "Bearer wrong"})) is None

    asyncio.run(main())
