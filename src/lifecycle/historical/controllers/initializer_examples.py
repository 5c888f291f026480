"""The three examples that articles tell of: a container that is put beside every web
server, a certificate that everything in a namespace gets to see, and secrets that are
too short to be any.

Sidecar and certificate go into Deployments: containers and volumes of a pod that exists
could never be changed, visible or not.

Upstream: none; `github.com/kelseyhightower/kubernetes-initializer-tutorial` shows the
first.
"""

from __future__ import annotations

import base64

from lifecycle.api.http.wire import Object
from lifecycle.historical.controllers.initializer_controller import Refused

SIDECAR: Object = {"name": "proxy", "image": "registry.example/proxy:1"}
ANNOTATION = "initializer.example.com/inject"
PORT = 80
CERTIFICATE, CERTIFICATE_PATH = "test-certificate", "/etc/test-certificate"
TEST_NAMESPACE = "testing"
SHORTEST = 20


def wants_sidecar(workload: Object) -> bool:
    """Something whose pods serve on port 80, or that carries the annotation."""
    if (workload["metadata"].get("annotations") or {}).get(ANNOTATION) == "true":
        return True
    containers = workload["spec"]["template"]["spec"]["containers"]
    return any(
        port.get("containerPort") == PORT
        for container in containers
        for port in container.get("ports") or ()
    )


def inject_sidecar(workload: Object) -> None:
    """Put the sidecar into the pods of a workload that wants it."""
    template = workload["spec"]["template"]
    containers = template["spec"]["containers"]
    if wants_sidecar(workload) and all(
        container["name"] != SIDECAR["name"] for container in containers
    ):
        spec = {**template["spec"], "containers": [*containers, dict(SIDECAR)]}
        workload["spec"] = {**workload["spec"], "template": {**template, "spec": spec}}


def mount_test_certificate(workload: Object) -> None:
    """Let every container of a workload in the test namespace see the certificate. What
    has the volume already keeps its own.
    """
    template = workload["spec"]["template"]
    spec, volumes = template["spec"], template["spec"].get("volumes") or []
    if workload["metadata"].get("namespace") != TEST_NAMESPACE or any(
        volume["name"] == CERTIFICATE for volume in volumes
    ):
        return
    volume = {"name": CERTIFICATE, "secret": {"secretName": CERTIFICATE}}
    mount = {"name": CERTIFICATE, "mountPath": CERTIFICATE_PATH, "readOnly": True}
    containers = [
        {**one, "volumeMounts": [*(one.get("volumeMounts") or []), dict(mount)]}
        for one in spec["containers"]
    ]
    spec = {**spec, "volumes": [*volumes, volume], "containers": containers}
    workload["spec"] = {**workload["spec"], "template": {**template, "spec": spec}}


def refuse_short_secret(secret: Object) -> None:
    """Raises Refused for a secret with a value of fewer than twenty bytes."""
    for key, value in sorted((secret.get("data") or {}).items()):
        length = len(base64.b64decode(value))
        if length < SHORTEST:
            raise Refused(f"{key} has {length} characters, {SHORTEST} are the least")


def initializer_configuration(name: str, initializer: str, resource: str) -> Object:
    """Which initializer cares about which resource (`secrets`, `deployments.apps`)."""
    resource, _, group = resource.partition(".")
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1alpha1",
        "kind": "InitializerConfiguration",
        "metadata": {"name": name},
        "initializers": [{"name": initializer, "rules": [rule]}],
    }
