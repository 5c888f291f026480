"""The guard of the kubelet's API: who is asking, and may they?

The kubelet knows nobody. A client certificate signed by the cluster's authority names a
user (that is how the API server comes); a bearer token is shown to the API server in a
TokenReview. Whether that user may do it is asked there as well: each path stands for a
subresource of the node, and a SubjectAccessReview says yes or no. Whoever may `create
nodes/proxy` may run commands in every pod of the node.

Upstream: `pkg/kubelet/server/auth.go` (`nodeAuthorizerAttributesGetter`), `server.go`
(`InstallAuthRequiredFilter`), v1.36. Left out: the cache of answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.api.http.wire import (
    ANONYMOUS,
    Handler,
    Object,
    Request,
    Response,
    UserInfo,
)
from lifecycle.api.late_import import late_import
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.kubelet.server.plain_text import plain_text

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.x509 import oid
else:
    x509 = late_import("cryptography.x509")
    oid = late_import("cryptography.x509.oid")

VERBS = {
    "POST": "create",
    "GET": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
SUBRESOURCES = {
    "stats": ("stats",),
    "metrics": ("metrics",),
    "logs": ("log",),
    "healthz": ("healthz", "proxy"),
    "configz": ("configz", "proxy"),
    "pods": ("pods", "proxy"),
    "runningpods": ("pods", "proxy"),
}
"""The first part of a path → what has to be allowed of the node, one of them; anything
else is `proxy`.
"""


def user_of_certificate(der: bytes) -> UserInfo:
    """Common name and organisations. The signature was checked with the connection."""
    subject = x509.load_der_x509_certificate(der).subject
    groups = [
        str(each.value)
        for each in subject.get_attributes_for_oid(oid.NameOID.ORGANIZATION_NAME)
    ]
    names = subject.get_attributes_for_oid(oid.NameOID.COMMON_NAME)
    return UserInfo(
        str(names[0].value) if names else "", (*groups, "system:authenticated")
    )


class KubeletAuth:
    """Asks the API server through the kubelet's own client. Certificates are taken on
    trust: the listener has checked them.
    """

    def __init__(self, client: Client, node_name: str) -> None:
        self._client = client
        self._node_name = node_name

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Who it is; None if credentials were shown that are none."""
        if request.peer_certificate:
            return user_of_certificate(request.peer_certificate)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return ANONYMOUS
        review: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        answer = await self._client.create(
            resource("tokenreviews.authentication.k8s.io"), review
        )
        if not answer["status"].get("authenticated"):
            return None
        user = answer["status"]["user"]
        return UserInfo(
            user["username"], tuple(user.get("groups") or ()), user.get("uid", "")
        )

    async def authorize(self, user: UserInfo, verb: str, subresource: str) -> bool:
        """Whether the user may do that to this node's subresource."""
        attributes = {
            "verb": verb,
            "version": "v1",
            "resource": "nodes",
            "subresource": subresource,
            "name": self._node_name,
        }
        review: Object = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.name,
                "groups": list(user.groups),
                "resourceAttributes": attributes,
            },
        }
        answer = await self._client.create(
            resource("subjectaccessreviews.authorization.k8s.io"), review
        )
        return bool(answer["status"].get("allowed"))

    def guard(self, handler: Handler) -> Handler:
        """`handler`, for those who may."""

        async def guarded(request: Request) -> Response:
            user = await self.authenticate(request)
            if user is None:
                return plain_text(401, "Unauthorized")
            verb = VERBS.get(request.method, "")
            subresources = SUBRESOURCES.get(
                request.path.split("/")[1] if "/" in request.path else "", ("proxy",)
            )
            for subresource in subresources:
                if await self.authorize(user, verb, subresource):
                    request.user = user
                    return await handler(request)
            listed = " ".join(subresources)
            return plain_text(
                403,
                f"Forbidden (user={user.name}, verb={verb}, resource=nodes,"
                f" subresource(s)=[{listed}])\n",
            )

        return guarded
