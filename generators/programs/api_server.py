"""What happens to a request: admission, quota, storage, aggregation, features gone."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.outside_services import LoopbackService

Object = dict[str, Any]
COUNT = re.compile(
    r'^apiserver_admission_controller_admission_duration_seconds_count\{name="(\w+)",'
    r'operation="CREATE",rejected="false",type="(\w+)"\} (\d+)',
    re.M,
)


def pod(name: str, image: str = "nginx", **spec: Any) -> Object:
    """A pod of one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}], **spec},
    }


def config_map(name: str) -> Object:
    """Nothing in particular."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def namespace(admin: Connection, name: str) -> str:
    """A new namespace in which pods can be made; its path."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    admin("POST", "/api/v1/namespaces", body)
    path = f"/api/v1/namespaces/{name}"
    until(
        "a service account",
        lambda: admin("GET", f"{path}/serviceaccounts/default").status == 200,
    )
    return path


class Extension(LoopbackService):
    """An extension API server that says what reached it."""

    def __init__(self, authority: CertificateAuthority) -> None:
        super().__init__()
        self.authority = authority

    def answer(self, request: Request) -> tuple[int, Any]:
        """Who is asking, and whether a credential of theirs came along."""
        return 200, {
            "kind": "Echo",
            "user": request.headers.get("x-remote-user", ""),
            "authorization": "authorization" in request.headers,
        }


@contextmanager
def running(service: LoopbackService) -> Iterator[LoopbackService]:
    """A loopback service on a loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(service.__aenter__(), loop).result()
    try:
        yield service
    finally:
        asyncio.run_coroutine_threadsafe(service.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it. The controller manager runs."""
    who = "kube-apiserver v1.36.2"
    yield from _quota(server.admin, who)
    yield from _admission(server.admin, who)
    yield from _storage(server.admin, who)
    yield from _initializers(server.admin, who)
    yield from _aggregation(server, who)
    yield from _other_prefix(plane, who)


def _quota(admin: Connection, who: str) -> Iterator[Answer]:
    path = namespace(admin, "quota")
    hard = {
        "pods": "1",
        "requests.cpu": "1",
        "requests.storage": "1Gi",
        "replicationcontrollers": "0",
        "services.loadbalancers": "0",
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "quota"},
        "spec": {"hard": hard},
    }
    admin("POST", f"{path}/resourcequotas", quota)
    until(
        "the quota's status",
        lambda: admin("GET", f"{path}/resourcequotas/quota").body["status"].get("used"),
    )

    def asking(name: str, cpu: str) -> Object:
        body = pod(name)
        body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        return body

    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "disk"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "2Gi"}},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }
    controller = {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": "rc"},
        "spec": {
            "replicas": 0,
            "selector": {"app": "web"},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": pod("x")["spec"],
            },
        },
    }
    tried = {
        "too much CPU": admin("POST", f"{path}/pods", asking("greedy", "2")),
        "one pod": admin("POST", f"{path}/pods", asking("one", "500m")),
        "a second pod": admin("POST", f"{path}/pods", asking("two", "100m")),
        "too much storage": admin("POST", f"{path}/persistentvolumeclaims", claim),
        "a load balancer": admin("POST", f"{path}/services", service),
        "a replication controller": admin(
            "POST", f"{path}/replicationcontrollers", controller
        ),
    }
    yield Answer(
        "admission/quota",
        who,
        f"creates in a namespace with a quota of {json.dumps(hard)}: their codes",
        {what: reply.status for what, reply in tried.items()},
    )
    yield Answer(
        "admission/rejected-is-not-stored",
        who,
        "GET the pod that was refused by quota, and the one that was not",
        {
            name: admin("GET", f"{path}/pods/{name}").status
            for name in ("greedy", "two", "one")
        },
    )


def _admission(admin: Connection, who: str) -> Iterator[Answer]:
    nowhere = admin("POST", "/api/v1/namespaces/nowhere/configmaps", config_map("x"))
    yield Answer(
        "admission/no-flag",
        who,
        "an API server without a flag about admission: a ConfigMap into a namespace"
        " that is not there",
        {"status": nowhere.status, "reason": nowhere.reason},
    )
    before = {name: int(n) for name, _, n in COUNT.findall(_metrics(admin))}
    created = admin("POST", "/api/v1/namespaces/default/pods", pod("chain"))
    after = {name: int(n) for name, _, n in COUNT.findall(_metrics(admin))}
    yield Answer(
        "admission/chain",
        who,
        "the metrics of admission plugins before and after one pod was made: whose"
        " counts have grown",
        {
            "status": created.status,
            "plugins": sorted(n for n, c in after.items() if c > before.get(n, 0)),
        },
    )
    group = "/apis/admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "registry"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [
                {
                    "expression": "object.spec.containers.all(c,"
                    " c.image.startsWith('registry.example/'))"
                }
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "registry"},
        "spec": {"policyName": "registry", "validationActions": ["Deny"]},
    }
    path = namespace(admin, "images")
    admin("POST", f"{group}/validatingadmissionpolicies", policy)
    admin("POST", f"{group}/validatingadmissionpolicybindings", binding)
    other = f"{path}/pods?dryRun=All"
    until("the policy", lambda: admin("POST", other, pod("x")).status != 201)
    statuses = {
        image: admin("POST", f"{path}/pods?dryRun=All", pod("x", image)).status
        for image in ("nginx", "registry.example/nginx")
    }
    admin("DELETE", f"{group}/validatingadmissionpolicybindings/registry")
    admin("DELETE", f"{group}/validatingadmissionpolicies/registry")
    until("no policy", lambda: admin("POST", other, pod("x")).status == 201)
    yield Answer(
        "admission/one-registry",
        who,
        "a ValidatingAdmissionPolicy wants images to begin with registry.example/: the"
        " codes of two pods",
        statuses,
    )


def _metrics(admin: Connection) -> str:
    return str(admin("GET", "/metrics").body)


def _storage(admin: Connection, who: str) -> Iterator[Answer]:
    count = re.compile(
        r'^etcd_request_duration_seconds_count\{group="",operation="(\w+)",'
        r'resource="configmaps"\} (\d+)',
        re.M,
    )
    before = {op: int(n) for op, n in count.findall(_metrics(admin))}
    created = admin("POST", "/api/v1/namespaces/default/configmaps", config_map("one"))
    after = {op: int(n) for op, n in count.findall(_metrics(admin))}
    yield Answer(
        "storage/after-create",
        who,
        "the API server's own count of its requests to etcd about ConfigMaps, before"
        " and after one was made",
        {
            "status": created.status,
            "grown": {
                op: after[op] - before.get(op, 0)
                for op in sorted(after)
                if after[op] != before.get(op, 0)
            },
        },
    )


def _initializers(admin: Connection, who: str) -> Iterator[Answer]:
    body = config_map("uninitialized")
    body["metadata"]["initializers"] = {"pending": [{"name": "sidecar.example"}]}
    path = "/api/v1/namespaces/default/configmaps"
    strict = admin("POST", f"{path}?fieldValidation=Strict", body)
    loose = admin("POST", f"{path}?fieldValidation=Ignore", body)
    resources = admin("GET", "/apis/admissionregistration.k8s.io/v1").body["resources"]

    def names(query: str) -> list[str]:
        items = admin("GET", f"{path}{query}").body["items"]
        return sorted(
            item["metadata"]["name"]
            for item in items
            if item["metadata"]["name"] != "kube-root-ca.crt"
        )

    yield Answer(
        "initializers/pending",
        who,
        "a ConfigMap with metadata.initializers, strictly and not; what is seen of it"
        " with includeUninitialized and without",
        {
            "strict": strict.status,
            "unknown field": 'unknown field "metadata.initializers"' in strict.message,
            "not strict": loose.status,
            "kept": "initializers" in loose.body["metadata"],
            "visible at once": "uninitialized" in names(""),
            "the parameter makes a difference": names("")
            != names("?includeUninitialized=true"),
        },
    )
    bare = pod("unscheduled", nodeName="")
    bare["metadata"]["initializers"] = {"pending": [{"name": "sidecar.example"}]}
    made = admin("POST", "/api/v1/namespaces/default/pods", bare)
    yield Answer(
        "initializers/configurations",
        who,
        "what admissionregistration.k8s.io/v1 offers; a pod with metadata.initializers",
        {
            "resources": sorted(
                each["name"] for each in resources if "/" not in each["name"]
            ),
            "pod": made.status,
            "kept": "initializers" in made.body["metadata"],
        },
    )


def _aggregation(server: Server, who: str) -> Iterator[Answer]:
    admin = server.admin
    with running(Extension(server.plane.authority)) as extension:
        port = int(extension.url.rpartition(":")[2])
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "extension"},
            "spec": {
                "type": "ExternalName",
                "externalName": "localhost",
                "ports": [{"port": port}],
            },
        }
        admin("POST", "/api/v1/namespaces/default/services", service)
        api = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1.echo.example"},
            "spec": {
                "group": "echo.example",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": "extension", "namespace": "default", "port": port},
            },
        }
        before = admin("GET", "/apis/echo.example/v1/echoes")
        path = "/apis/apiregistration.k8s.io/v1/apiservices"
        admin("POST", path, api)
        until(
            "the extension",
            lambda: admin("GET", "/apis/echo.example/v1/echoes").status == 200,
        )

        def reached() -> int:
            return [each.path for each in extension.requests].count(
                "/apis/echo.example/v1/echoes"
            )

        asked = reached()
        nobody = server.connection()("GET", "/apis/echo.example/v1/echoes")
        bad = server.connection().bearing("x")("GET", "/apis/echo.example/v1/echoes")
        jane = server.connection("jane")("GET", "/apis/echo.example/v1/echoes")
        through = reached() - asked
        token = admin(
            "POST",
            f"{namespace(admin, 'extension')}/serviceaccounts/default/token",
            {"spec": {}},
        ).body["status"]["token"]
        member = server.connection().bearing(token)
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "echo"},
            "rules": [
                {"apiGroups": ["echo.example"], "resources": ["*"], "verbs": ["*"]}
            ],
        }
        admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
        subject = {
            "kind": "ServiceAccount",
            "name": "default",
            "namespace": "extension",
        }
        bound = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "echo"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "echo",
            },
            "subjects": [subject],
        }
        admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", bound)
        arrived = until(
            "the role",
            lambda: (
                (reply := member("GET", "/apis/echo.example/v1/echoes")).status == 200
                and reply
            ),
        ).body
        admin("DELETE", f"{path}/v1.echo.example")
    yield Answer(
        "aggregation/extension",
        who,
        "an APIService routes echo.example/v1 to another server: codes before, as"
        " administrator, as nobody, with a bad token, as somebody without rights; how"
        " many of the last three reached that server",
        {
            "before": before.status,
            "administrator": 200,
            "nobody": nobody.status,
            "bad token": bad.status,
            "no rights": jane.status,
            "of these reached it": through,
        },
    )
    yield Answer(
        "aggregation/what-arrives",
        who,
        "the same, with a service account's token and the right: what the other server"
        " says of the request that it got",
        {"user": arrived["user"], "authorization header": arrived["authorization"]},
    )


def _other_prefix(plane: ControlPlane, who: str) -> Iterator[Answer]:
    elsewhere = plane.api_server("elsewhere", "--etcd-prefix=/elsewhere")
    elsewhere.admin("POST", "/api/v1/namespaces/default/configmaps", config_map("key"))
    keys = plane.keys("/elsewhere/configmaps/default/")
    yield Answer(
        "storage/etcd-prefix",
        who,
        "an API server with --etcd-prefix=/elsewhere: the key of a ConfigMap",
        keys,
    )
