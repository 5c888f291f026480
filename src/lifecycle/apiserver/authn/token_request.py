"""TokenRequest: asking for a service account's token.

The kubelet asks for one for each pod it starts, bound to the pod, and asks again before
it expires; `kubectl create token` asks for itself. The token is in the answer and
nowhere else.

One number is a signal: a request for exactly 3,607 seconds comes from the volume that
the ServiceAccount admission plugin injects. Such a token lasts a year, with a note to
warn after an hour, because some clients still read the file only once.

Upstream: `pkg/registry/core/serviceaccount/storage/token.go` (`TokenREST.Create`),
`pkg/apis/authentication/validation`, v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.field_errors import FieldError, invalid, invalid_object
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import format_time
from lifecycle.api.resources import resource
from lifecycle.api.status import bad_request, conflict, not_found
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens

GROUP = "authentication.k8s.io"
DEFAULT_SECONDS = 3600
WARN_ONLY_SECONDS = 60 * 60 + 7
EXTENDED_SECONDS = 24 * 365 * 60 * 60
ISSUED_CREDENTIAL_ID = "authentication.kubernetes.io/issued-credential-id"
"""The audit log's note on whose token was given out: who meets it later can say where
it came from. Upstream: `pkg/serviceaccount/util.go`.
"""
UID_MISMATCH = (
    "the UID in the bound object reference ({}) does not match the UID in record. "
    "The object might have been deleted and then recreated"
)
ACCOUNT_UID_MISMATCH = (
    "the UID in the token request ({}) does not match the UID of the service account"
    " ({})"
)


class TokenRequests:
    """The `serviceaccounts/token` subresource."""

    def __init__(self, tokens: ServiceAccountTokens) -> None:
        self._tokens = tokens
        self._reader = tokens.reader
        self._accounts = resource("serviceaccounts")
        self._pods, self._secrets, self._nodes = (
            resource("pods"),
            resource("secrets"),
            resource("nodes"),
        )

    async def create(
        self,
        request: Request,
        obj: Object,
        validate: Callable[[Object, None], Awaitable[None]],
    ) -> Object:
        """The posted request with a token in its status; `validate` is shown it before
        there is one. Raises StatusError.
        """
        info = request.info
        assert info is not None, "the handler chain sets it first"
        object_meta = obj.get("metadata") or {}
        for key, expected in (("name", info.name), ("namespace", info.namespace)):
            if object_meta.get(key) and object_meta[key] != expected:
                why = f"must match the service account {key} if specified"
                raise invalid_object(
                    "TokenRequest",
                    GROUP,
                    info.name,
                    [invalid(f"metadata.{key}", object_meta[key], why)],
                )
        account = self._reader.get(self._accounts, info.namespace, info.name)
        if account is None:
            raise not_found("serviceaccounts", info.name)
        uid = account["metadata"].get("uid", "")
        if object_meta.get("uid") and object_meta["uid"] != uid:
            raise conflict(
                "TokenRequest",
                info.name,
                ACCOUNT_UID_MISMATCH.format(object_meta["uid"], uid),
                GROUP,
            )
        spec = dict(obj.get("spec") or {})
        seconds = spec.get("expirationSeconds")
        seconds = DEFAULT_SECONDS if seconds is None else int(seconds)
        errors = _validate(seconds)
        if errors:
            raise invalid_object("TokenRequest", GROUP, "", errors)
        reference = spec.get("boundObjectRef")
        audiences = tuple(spec.get("audiences") or self._tokens.audiences)
        theirs = account["metadata"]
        meta = {**object_meta, "name": theirs["name"], "namespace": theirs["namespace"]}
        meta |= {"uid": uid, "creationTimestamp": self._tokens.clock.timestamp()}
        completed: Object = {
            "kind": "TokenRequest",
            "apiVersion": f"{GROUP}/v1",
            "metadata": meta,
            "spec": {
                "audiences": list(audiences),
                "expirationSeconds": seconds,
                "boundObjectRef": reference,
            },
            "status": {"token": "", "expirationTimestamp": None},
        }
        await validate(completed, None)

        bound = {} if reference is None else self._bound_object(account, reference)
        lasts, warn_after = seconds, 0
        if (
            "pod" in bound
            and seconds == WARN_ONLY_SECONDS
            and set(audiences) <= set(self._tokens.audiences)
        ):
            lasts, warn_after = EXTENDED_SECONDS, seconds
        expires = format_time(self._tokens.clock.now() + seconds)
        identity = self._tokens.new_identity()
        token = self._tokens.issue(
            account, audiences, lasts,
            bound=bound, warn_after=warn_after, identity=identity,
        )  # fmt: skip
        annotate(ISSUED_CREDENTIAL_ID, f"JTI={identity}")
        status = {"token": token, "expirationTimestamp": expires}
        return {**completed, "status": status}

    def _bound_object(self, account: Object, reference: Object) -> dict[str, Object]:
        """The object the token shall die with, and a pod's node beside the pod."""
        kind, name, namespace = (
            reference.get("kind", ""),
            reference.get("name", ""),
            account["metadata"]["namespace"],
        )
        rows = {"Pod": self._pods, "Secret": self._secrets, "Node": self._nodes}
        group, _, version = reference.get("apiVersion", "").rpartition("/")
        if (
            group or kind not in rows
        ):  # which version of the core group is meant, nobody looks at
            raise bad_request(
                f"cannot bind token to object of type {group}/{version}, Kind={kind}"
            )
        if not name:
            raise bad_request("Name parameter required.")
        row = rows[kind]
        obj = self._reader.get(row, namespace if row.namespaced else "", name)
        if obj is None:
            raise not_found(row.plural, name)
        uid = obj["metadata"].get("uid", "")
        if reference.get("uid") and reference["uid"] != uid:
            raise conflict(kind, name, UID_MISMATCH.format(reference["uid"]))
        bound = {kind.lower(): obj}
        if kind == "Pod":
            account_name = account["metadata"]["name"]
            if obj["spec"].get("serviceAccountName") != account_name:
                raise bad_request(
                    f'cannot bind token for serviceaccount "{account_name}" to pod'
                    " running with different serviceaccount name."
                )
            node_name = obj["spec"].get("nodeName")
            node = self._reader.get(self._nodes, "", node_name) if node_name else None
            if node is not None:
                bound["node"] = node
            elif node_name:
                bound["node"] = {"metadata": {"name": node_name}}
        return bound


def _validate(seconds: int) -> list[FieldError]:
    field = "spec.expirationSeconds"
    if seconds < 10 * 60:
        return [
            invalid(field, seconds, "may not specify a duration less than 10 minutes")
        ]
    if seconds > 1 << 32:
        return [
            invalid(
                field, seconds, "may not specify a duration larger than 2^32 seconds"
            )
        ]
    return []
