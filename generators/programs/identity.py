"""Who somebody is, and what they may do: authenticators and authorizers as flags and
files make them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import config_map, namespace, pod, running
from generators.programs.connection import Connection, Reply
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.outside_services import Webhook

WHO = "kube-apiserver v1.36.2"
PODS = "/api/v1/namespaces/default/pods"
SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def who_am_i(connection: Connection) -> str:
    """The name under which one is known, or the status of the refusal."""
    reply = connection(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", SELF
    )
    if reply.status == 201:
        return str(reply.body["status"]["userInfo"]["username"])
    return f"{reply.status} {_as_whom(reply)}".strip()


def _as_whom(reply: Reply) -> str:
    named = re.search(r'User "(.*?)"', reply.message)
    return named[1] if named else ""


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it; the controller manager runs at `server`."""
    yield from _authenticators(plane, server)
    yield from _before_authentication(plane)
    yield from _modes(plane)
    yield from _webhook(plane)
    yield from _configuration(plane)
    yield from _roles(server)
    yield from _node(server)


def _authenticators(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    file = plane.file("tokens.csv", 's3cret,jane,1,"devs"\n')
    flag = f"--token-auth-file={file}"
    with_ca = plane.api_server("tokens", flag)
    without_ca = plane.api_server("no-ca", flag, client_ca=False)
    stranger = CertificateAuthority().client_certificate("joe")
    joe = with_ca.connection("joe")
    nobody = with_ca.connection()
    path = namespace(server.admin, "robots")
    token = server.admin(
        "POST", f"{path}/serviceaccounts/default/token", {"spec": {}}
    ).body["status"]["token"]
    other = Connection(with_ca.port, plane.authority.ca_pem, stranger)
    yield Answer(
        "authn/who",
        WHO,
        "a server with a client CA and a token file with jane's token: who one is",
        {
            "a certificate": who_am_i(joe),
            "a certificate and jane's token": who_am_i(joe.bearing("s3cret")),
            "a certificate and a bad token": who_am_i(joe.bearing("x")),
            "a certificate of another CA": who_am_i(other),
            "such a certificate and jane's token": who_am_i(other.bearing("s3cret")),
            "jane's token": who_am_i(nobody.bearing("s3cret")),
            "a service account's token": who_am_i(nobody.bearing(token)),
            "a bad token": who_am_i(nobody.bearing("x")),
            "nothing": who_am_i(nobody),
        },
    )
    yield Answer(
        "authn/no-client-ca",
        WHO,
        "the same without --client-ca-file: who one is",
        {
            "a certificate": who_am_i(
                Connection(
                    without_ca.port,
                    plane.authority.ca_pem,
                    plane.authority.client_certificate("joe"),
                )
            ),
            "jane's token": who_am_i(without_ca.connection().bearing("s3cret")),
        },
    )
    before = len(with_ca.log.read_text())
    both = other.bearing("x")("GET", "/api")
    logged = re.findall(
        r'"Unable to authenticate the request" err="\[(.*)\]"',
        with_ca.log.read_text()[before:],
    )
    yield Answer(
        "authn/all-fail",
        WHO,
        "a certificate of another CA and a bad token: the reply, how many errors the"
        " server's log names for the one request, and whether the reply names any",
        {
            "status": both.status,
            "message": both.message,
            "errors in the log": len(logged[-1].split(", ")) if logged else 0,
        },
    )


def _before_authentication(plane: ControlPlane) -> Iterator[Answer]:
    server = plane.api_server("cors", "--cors-allowed-origins=^https://app.example$")
    stranger = server.connection().bearing("x")
    preflight = stranger(
        "OPTIONS",
        PODS,
        Origin="https://app.example",
        Access_Control_Request_Method="GET",
    )
    late = stranger("GET", f"{PODS}?timeout=soon")
    yield Answer(
        "authn/what-comes-before",
        WHO,
        "with a bad token, at a server that allows an origin: a browser's OPTIONS from"
        " that origin, a GET with a timeout that is none, a GET",
        {
            "OPTIONS": preflight.status,
            "allowed origin": preflight.headers.get("access-control-allow-origin", ""),
            "impossible timeout": late.status,
            "GET": stranger("GET", PODS).status,
        },
    )


def _modes(plane: ControlPlane) -> Iterator[Answer]:
    rule = {
        "apiVersion": "abac.authorization.kubernetes.io/v1beta1",
        "kind": "Policy",
        "spec": {
            "user": "jane",
            "namespace": "*",
            "resource": "pods",
            "readonly": True,
        },
    }
    file = plane.file("abac.jsonl", json.dumps(rule) + "\n")
    answer: dict[str, Any] = {}
    for name, flags in {
        "AlwaysAllow": ["--authorization-mode=AlwaysAllow"],
        "AlwaysDeny": ["--authorization-mode=AlwaysDeny"],
        "AlwaysDeny,RBAC": ["--authorization-mode=AlwaysDeny,RBAC"],
        "ABAC": ["--authorization-mode=ABAC", f"--authorization-policy-file={file}"],
    }.items():
        server = plane.api_server(name.replace(",", "-"), *flags)
        jane = server.connection("jane")
        reader = server.connection("reader", "system:monitoring")
        answer[name] = {
            "jane gets pods": jane("GET", PODS).status,
            "jane makes a ConfigMap": jane(
                "POST",
                "/api/v1/namespaces/default/configmaps?dryRun=All",
                config_map("x"),
            ).status,
            "somebody whom RBAC allows gets /metrics": reader("GET", "/metrics").status,
        }
    refused = plane.refuses_mode("DenyAll")
    yield Answer(
        "authz/modes",
        WHO,
        "servers with these authorization modes (ABAC: a file lets jane read pods)",
        answer,
    )
    yield Answer(
        "authz/unknown-mode",
        WHO,
        "kube-apiserver --authorization-mode=DenyAll: whether it starts",
        not refused,
    )


def _webhook(plane: ControlPlane) -> Iterator[Answer]:
    def decide(spec: dict[str, Any]) -> dict[str, Any]:
        resource = spec.get("resourceAttributes", {}).get("resource")
        return {
            "allowed": spec["user"] == "jane" and resource == "pods",
            "denied": spec["user"] == "joe",
        }

    with running(Webhook(decide)) as service:
        assert isinstance(service, Webhook)
        kubeconfig = service.write_kubeconfig(plane.folder / "webhook.yaml")
        server = plane.api_server(
            "webhook",
            "--authorization-mode=Webhook,RBAC",
            f"--authorization-webhook-config-file={kubeconfig}",
            "--authorization-webhook-version=v1",
        )
        # Both are in a group of RBAC's that may read /metrics.
        joe = server.connection("joe", "system:monitoring")
        ann = server.connection("ann", "system:monitoring")
        jane = server.connection("jane")
        answer = {
            "jane, whom it allows, gets pods": jane("GET", PODS).status,
            "jane, of whom nobody has an opinion, gets /metrics": jane(
                "GET", "/metrics"
            ).status,
            "ann, whom only RBAC allows, gets /metrics": ann("GET", "/metrics").status,
            "joe, whom it denies and RBAC would allow, gets /metrics": joe(
                "GET", "/metrics"
            ).status,
        }
        asked = sorted(
            {spec["user"] for spec in service.specs} & {"jane", "joe", "ann"}
        )
    yield Answer(
        "authz/webhook",
        WHO,
        "modes Webhook,RBAC, with a service of its own behind the webhook: codes",
        answer,
    )
    yield Answer(
        "authz/webhook-asked",
        WHO,
        "the same: about whom of the three that service was asked",
        asked,
    )


def _configuration(plane: ControlPlane) -> Iterator[Answer]:
    configuration: dict[str, Any] = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [{"type": "RBAC", "name": "rbac"}],
    }
    file = plane.file("authorizers.json", json.dumps(configuration))
    with running(Webhook(lambda _: {"allowed": True})) as service:
        assert isinstance(service, Webhook)
        kubeconfig = service.write_kubeconfig(plane.folder / "allows.yaml")
        server = plane.api_server("reload", f"--authorization-config={file}")
        jane = server.connection("jane")
        before = jane("GET", PODS).status
        webhook = {
            "timeout": "3s",
            "authorizedTTL": "1s",
            "unauthorizedTTL": "1s",
            "subjectAccessReviewVersion": "v1",
            "matchConditionSubjectAccessReviewVersion": "v1",
            "failurePolicy": "Deny",
            "connectionInfo": {
                "type": "KubeConfigFile",
                "kubeConfigFile": str(kubeconfig),
            },
        }
        configuration["authorizers"].append(
            {"type": "Webhook", "name": "hook", "webhook": webhook}
        )
        file.write_text(json.dumps(configuration))
        until("the new file to count", lambda: jane("GET", PODS).status == 200)
    yield Answer(
        "authz/configuration",
        WHO,
        "--authorization-config with RBAC; while it runs, the file gets a webhook that"
        " allows everything: jane, who has no role, gets pods before and after",
        {"before": before, "after": 200},
    )


def _roles(server: Server) -> Iterator[Answer]:
    admin, jane = server.admin, server.connection("jane")

    def reads() -> int:
        return len(
            [
                event
                for event in server.requests("system:apiserver")
                if event["verb"] in ("get", "list")
                and event.get("objectRef", {}).get("apiGroup")
                == "rbac.authorization.k8s.io"
            ]
        )

    before = jane("GET", PODS).status
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "view"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "view",
        },
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
        ],
    }
    group = "/apis/rbac.authorization.k8s.io/v1"
    counted = reads()
    admin("POST", f"{group}/namespaces/default/rolebindings", role)
    until("the role", lambda: jane("GET", PODS).status == 200)
    for _ in range(50):
        jane("GET", PODS)
    watches = re.findall(
        r'^apiserver_longrunning_requests\{.*?resource="(\w+)".*?verb="WATCH".*?\}'
        r" (\d+)",
        str(admin("GET", "/metrics").body),
        re.M,
    )
    yield Answer(
        "authz/roles",
        WHO,
        "a role is bound to jane while the server runs, then she makes fifty requests:"
        " codes, how often the server read roles or bindings for that, which of their"
        " kinds it watches",
        {
            "before": before,
            "after": jane("GET", PODS).status,
            "reads": reads() - counted,
            "watches": sorted(
                {kind for kind, n in watches if "role" in kind and int(n) > 0}
            ),
        },
    )


def _node(server: Server) -> Iterator[Answer]:
    admin = server.admin
    path = namespace(admin, "node-authorizer")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    admin("POST", f"{path}/secrets", secret)
    kubelet = server.connection("system:node:n1", "system:nodes")
    other = server.connection("system:node:n2", "system:nodes")
    before = kubelet("GET", f"{path}/secrets/s").status
    volume = {"name": "v", "secret": {"secretName": "s"}}
    admin("POST", f"{path}/pods", pod("uses-it", nodeName="n1", volumes=[volume]))
    until("the graph", lambda: kubelet("GET", f"{path}/secrets/s").status == 200)
    yield Answer(
        "authz/node",
        WHO,
        "a kubelet gets a Secret before and after a pod of its node uses it, then"
        " another node's kubelet does",
        {
            "before": before,
            "after": kubelet("GET", f"{path}/secrets/s").status,
            "another": other("GET", f"{path}/secrets/s").status,
        },
    )
