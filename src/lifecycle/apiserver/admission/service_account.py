"""ServiceAccount: every pod runs as somebody, and can prove it.

A pod that names no account runs as `default` of its namespace. The account has to
exist. Unless pod or account say otherwise, the pod gets a volume with three things in
it – a token for this pod, the cluster's CA, the namespace – mounted where client
libraries look for them; this is how a program in a pod reaches the API without being
told anything.

Mirror pods are left alone: they stand for what a node runs from a file, and may refer
to nothing.

Upstream: `plugin/pkg/admission/serviceaccount/admission.go` (`Plugin.Admit`,
`TokenVolumeSource`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.api.validation import content
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.authz.node_graph import MIRROR_POD, references
from lifecycle.apiserver.storage.object_reader import ObjectReader

DEFAULT_NAME = "default"
VOLUME_NAME = "kube-api-access"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_SECONDS = 60 * 60 + 7
ROOT_CA = "kube-root-ca.crt"
ENFORCE_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"

PULL_SECRET = 32
"""Bytes that a name in `imagePullSecrets` takes, about: an account may have fifty
thousand, and so has each pod of it then.
"""

ATTEMPTS = 10
RETRY_SECONDS = 0.15
CONTAINERS = ("initContainers", "containers")
MANY = 1_000
"""Containers from which on it is the worker that mounts the token in each."""
"""How long to wait for the `default` account of a new namespace, which a controller
makes.
"""


class ServiceAccount(Plugin):
    """Looks at new pods, and at ephemeral containers added to old ones."""

    name = "ServiceAccount"
    operations = frozenset({CREATE, UPDATE})
    resources = PODS
    subresources = frozenset({"", "ephemeralcontainers"})

    def __init__(self, reader: ObjectReader, names: NameSource) -> None:
        self._reader = reader
        self._names = names
        self._accounts = resource("serviceaccounts")

    def admit(self, attributes: Attributes) -> Awaitable[None] | None:
        """Set the account and mount its token."""
        pod = attributes.obj
        if attributes.operation != CREATE or attributes.subresource or pod is None:
            return None
        if _is_mirror_pod(
            pod
            # the kubelet would delete a changed one; that it refers to nothing is
            # checked at once
        ):
            self.validate(attributes)
            return None
        spec = pod["spec"]
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = DEFAULT_NAME
        spec["serviceAccount"] = spec[
            "serviceAccountName"
        ]  # the field's name before v1.0, still served
        account = self._account(attributes.namespace, spec["serviceAccountName"])
        if account is None and spec["serviceAccountName"] == DEFAULT_NAME:
            return self._wait(attributes)
        return self._set(attributes, account)

    def validate(self, attributes: Attributes) -> None:
        """Refuse pods that refer to what they may not."""
        pod = attributes.obj
        if pod is None:
            return
        if attributes.operation == UPDATE:
            if attributes.subresource == "ephemeralcontainers":
                self._limit_secrets(attributes, ("ephemeralContainers",))
            return
        if attributes.subresource:
            return
        if _is_mirror_pod(pod):
            why = _mirror_pod_reference(pod)
            if why:
                raise attributes.forbidden(why)
            return
        self._limit_secrets(attributes, ("initContainers", "containers"))

    def _account(self, namespace: str, name: str) -> Object | None:
        return self._reader.get(self._accounts, namespace, name)

    async def _wait(self, attributes: Attributes) -> None:
        account = None
        for _ in range(ATTEMPTS - 1):
            await asyncio.sleep(RETRY_SECONDS)
            account = self._account(attributes.namespace, DEFAULT_NAME)
            if account is not None:
                break
        waiting = self._set(attributes, account)
        if waiting is not None:
            await waiting

    def _set(
        self, attributes: Attributes, account: Object | None
    ) -> Awaitable[None] | None:
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        if account is None:
            name = spec["serviceAccountName"]
            where = f"{attributes.namespace}/{name}"
            why = content.request_name(name) or f'serviceaccount "{name}" not found'
            raise attributes.forbidden(
                f"error looking up service account {where}: {why}"
            )
        secrets = account.get("imagePullSecrets")
        if secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [
                {"name": secret.get("name", "")} for secret in secrets
            ]
            attributes.grown = max(attributes.grown, PULL_SECRET * len(secrets))
        self.validate(attributes)  # before the pod itself is looked at
        if not should_automount(account, spec):
            return None
        name = _token_volume(spec) or self._names.generate_name(f"{VOLUME_NAME}-")
        if sum(len(spec.get(key) or ()) for key in CONTAINERS) > MANY:
            return beside(LARGE + 1, _mount_token, spec, name)
        _mount_token(spec, name)
        return None

    def _limit_secrets(self, attributes: Attributes, containers: Iterable[str]) -> None:
        """An account may insist that its pods use no other secrets than those it
        lists.
        """
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        account = self._account(
            attributes.namespace, spec.get("serviceAccountName", "")
        )
        annotations = (account or {}).get("metadata", {}).get("annotations") or {}
        if account is None or annotations.get(
            ENFORCE_MOUNTABLE_SECRETS, ""
        ).lower() not in ("true", "t", "1"):
            return
        why = _unmountable_secret(account, spec, containers)
        if why and attributes.subresource:  # upstream's plain error, of no kind
            raise failure(500, "", why)
        if why:
            raise attributes.forbidden(why)


def _token_volume(spec: Object) -> str:
    """The name of the volume that somebody has given the pod already, or nothing."""
    names = (volume.get("name", "") for volume in spec.get("volumes") or ())
    return next((name for name in names if name.startswith(f"{VOLUME_NAME}-")), "")


def _mount_token(spec: Object, name: str) -> None:
    mounted = False
    for key in CONTAINERS:
        for container in spec.get(key) or ():
            mounts = container.get("volumeMounts") or []
            if any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
                continue
            mount = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}
            container["volumeMounts"] = [*mounts, mount]
            mounted = True
    volumes = spec.get("volumes") or []
    if mounted and not any(volume.get("name") == name for volume in volumes):
        spec["volumes"] = [*volumes, {"name": name, "projected": token_volume_source()}]


def should_automount(account: Object, spec: Object) -> bool:
    """Whether the token is mounted: the pod decides, then the account, then yes."""
    for holder in (spec, account):
        if holder.get("automountServiceAccountToken") is not None:
            return bool(holder["automountServiceAccountToken"])
    return True


def token_volume_source() -> Object:
    """The projected volume with token, CA and namespace. Upstream:
    `TokenVolumeSource`.
    """
    return {
        "sources": [
            {
                "serviceAccountToken": {
                    "expirationSeconds": TOKEN_SECONDS,
                    "path": "token",
                }
            },
            {
                "configMap": {
                    "name": ROOT_CA,
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
            {
                "downwardAPI": {
                    "items": [
                        {
                            "path": "namespace",
                            "fieldRef": {
                                "apiVersion": "v1",
                                "fieldPath": "metadata.namespace",
                            },
                        }
                    ]
                }
            },
        ],
        "defaultMode": 0o644,
    }


def _is_mirror_pod(pod: Object) -> bool:
    return MIRROR_POD in (pod["metadata"].get("annotations") or {})


def _mirror_pod_reference(pod: Object) -> str:
    if pod["spec"].get("serviceAccountName"):
        return "a mirror pod may not reference service accounts"
    if any(kind == "secret" for kind, _ in references(pod)):
        return "a mirror pod may not reference secrets"
    for volume in pod["spec"].get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("serviceAccountToken"):
                return "a mirror pod may not use ServiceAccountToken volume projections"
    return ""


def _unmountable_secret(
    account: Object, spec: Object, containers: Iterable[str]
) -> str:
    name = account["metadata"]["name"]
    mountable = {secret.get("name") for secret in account.get("secrets") or ()}
    denied = (
        f"is not allowed because service account {name} does not reference that secret"
    )
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName")
        if secret is not None and secret not in mountable:
            return f'volume with secret.secretName="{secret}" {denied}'
    words = {
        "initContainers": "init container",
        "containers": "container",
        "ephemeralContainers": "ephemeral container",
    }
    for key in containers:
        for container in spec.get(key) or ():
            for variable in container.get("env") or ():
                secret = (
                    (variable.get("valueFrom") or {}).get("secretKeyRef") or {}
                ).get("name")
                if secret is not None and secret not in mountable:
                    where = (
                        f"{words[key]} {container['name']} with envVar"
                        f" {variable['name']}"
                    )
                    return f'{where} referencing secret.secretName="{secret}" {denied}'
            for source in container.get("envFrom") or ():
                secret = (source.get("secretRef") or {}).get("name")
                if secret is not None and secret not in mountable:
                    where = f"{words[key]} {container['name']} with envFrom"
                    return f'{where} referencing secret.secretName="{secret}" {denied}'
    pull_secrets = {
        secret.get("name") for secret in account.get("imagePullSecrets") or ()
    }
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if secret.get("name") not in pull_secrets:
            where = f'imagePullSecrets[{index}].name="{secret.get("name", "")}"'
            return (
                f"{where} is not allowed because service account {name} does not"
                " reference that imagePullSecret"
            )
    return ""
