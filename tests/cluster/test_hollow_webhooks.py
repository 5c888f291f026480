"""A webhook in a hollow pod: the API server calls its Service over TLS, and believes only its certificate."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from tests.cluster.conftest import Kubectl

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
PORT = 8444
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "DELETE"], "resources": ["configmaps"]}]


def webhook_pod(secret: str) -> Object:
    command = [f"--tls-{name}-file=/keys/tls.{end}" for name, end in (("cert", "crt"), ("private-key", "key"))]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hooks", "labels": {"app": "hooks"}},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": IMAGE,
                    "args": ["webhook", f"--port={PORT}", *command],
                    "ports": [{"containerPort": PORT}],
                    "readinessProbe": {
                        "httpGet": {"scheme": "HTTPS", "port": PORT, "path": "/readyz"},
                        "periodSeconds": 1,
                    },
                    "volumeMounts": [{"name": "keys", "mountPath": "/keys", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "keys", "secret": {"secretName": secret}}],
        },
    }


def configuration(kind: str, name: str, namespace: str, path: str, ca: bytes) -> Object:
    """For one namespace's ConfigMaps only: the cluster is shared."""
    service = {"name": "hooks", "namespace": namespace, "path": path, "port": 8443}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "hooks.example.com",
                "clientConfig": {"service": service, "caBundle": base64.b64encode(ca).decode()},
                "rules": RULES,
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 30,
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            }
        ],
    }


@pytest.fixture
def authority() -> CertificateAuthority:
    return CertificateAuthority()


@pytest.fixture
def hooks(kubectl: Kubectl, namespace: str, authority: CertificateAuthority) -> Iterator[Kubectl]:
    """A webhook runs, behind a Service; nobody asks it yet."""
    certificate, key = authority.serving_certificate((f"hooks.{namespace}.svc",), ())
    data = {"tls.crt": base64.b64encode(certificate).decode(), "tls.key": base64.b64encode(key).decode()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": data}
    ports = [{"port": 8443, "targetPort": PORT}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "hooks"},
        "spec": {"selector": {"app": "hooks"}, "ports": ports},
    }
    for each in (secret, webhook_pod("keys"), service):
        kubectl("apply", "-f", "-", stdin=json.dumps(each))
    kubectl("wait", "--for=condition=Ready", "pod/hooks", "--timeout=60s")
    yield kubectl
    for kind in ("validating", "mutating"):
        kubectl("delete", f"{kind}webhookconfiguration", namespace, "--ignore-not-found")


def dry_run(kubectl: Kubectl, *literals: str) -> subprocess.CompletedProcess[str]:
    """Whether a ConfigMap would be created, and how it would look."""
    data = [f"--from-literal={each}" for each in literals]
    return kubectl("create", "configmap", "a", *data, "--dry-run=server", "-o", "json", check=False)


def refused(kubectl: Kubectl, why: str, *literals: str) -> None:
    """A ConfigMap is refused with these words, once everybody has noticed who is to be asked, and where."""
    end, said = time.monotonic() + 60, ""
    while why not in said and time.monotonic() < end:
        said = dry_run(kubectl, *literals).stderr
    assert why in said


def test_it_refuses_and_lets_pass(hooks: Kubectl, namespace: str, authority: CertificateAuthority) -> None:
    hook = configuration("Validating", namespace, namespace, "/configmaps", authority.ca_pem)
    hooks("create", "-f", "-", stdin=json.dumps(hook))
    why = "denied the request: the configmap contains unwanted key and value"
    refused(hooks, why, "webhook-e2e-test=webhook-disallow")
    hooks("create", "configmap", "a", "--from-literal=webhook-e2e-test=webhook-nondeletable")
    kept = hooks("delete", "configmap", "a", check=False)
    assert "cannot be deleted because it contains unwanted key and value" in kept.stderr


def test_it_changes_what_is_written(hooks: Kubectl, namespace: str, authority: CertificateAuthority) -> None:
    hook = configuration("Mutating", namespace, namespace, "/mutating-configmaps", authority.ca_pem)
    hooks("create", "-f", "-", stdin=json.dumps(hook))
    end, data = time.monotonic() + 60, {}
    while len(data) < 2 and time.monotonic() < end:
        written = dry_run(hooks, "mutation-start=yes")
        data = {} if written.returncode else json.loads(written.stdout)["data"]
    assert data == {"mutation-start": "yes", "mutation-stage-1": "yes"}


def test_another_authority_is_not_believed(hooks: Kubectl, namespace: str) -> None:
    stranger = CertificateAuthority().ca_pem
    hook = configuration("Validating", namespace, namespace, "/configmaps", stranger)
    hooks("create", "-f", "-", stdin=json.dumps(hook))
    refused(hooks, "x509: certificate signed by unknown authority", "a=b")


def test_where_nobody_listens_the_connection_is_refused(
    hooks: Kubectl, namespace: str, authority: CertificateAuthority
) -> None:
    hook = configuration("Validating", namespace, namespace, "/always-deny", authority.ca_pem)
    hooks("create", "-f", "-", stdin=json.dumps(hook))
    patch = json.dumps([{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 1}])
    hooks("patch", "service", "hooks", "--type=json", "-p", patch)
    refused(hooks, ":1: connect: connection refused", "a=b")
