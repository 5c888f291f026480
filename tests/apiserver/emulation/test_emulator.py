"""The face of Kubernetes 1.20: what discovery says, which requests are answered, and in which form."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import lifecycle
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.resources import resource
from lifecycle.apiserver.emulation.emulator import servable
from lifecycle.apiserver.emulation.served_version import UnknownVersion, full_version, recorded_version
from lifecycle.client.rest import Client
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.apiserver.emulation.signing_request import signing_request
from tests.apiserver.https_site import Site, request_bytes
from tests.conftest import RECORDINGS, find_kubectl, unavailable

NOT_SERVED = {
    "policy/v1beta1 podsecuritypolicies",
}
INGRESS = {
    "apiVersion": "networking.k8s.io/v1beta1",
    "kind": "Ingress",
    "metadata": {"name": "web", "labels": {"a": "b"}},
    "spec": {"backend": {"serviceName": "all", "servicePort": 80}},
}
OLD = "/apis/networking.k8s.io/v1beta1/namespaces/default/ingresses"
TODAY = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
CRON_JOBS = "/apis/batch/v1beta1/namespaces/default/cronjobs"
CRON_JOB = {
    "apiVersion": "batch/v1beta1",
    "kind": "CronJob",
    "metadata": {"name": "tick"},
    "spec": {
        "schedule": "* * * * *",
        "jobTemplate": {
            "spec": {
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
            }
        },
    },
}


def recorded() -> dict[str, Any]:
    lines = (RECORDINGS / "bare-1.20.2" / "http" / "discovery.jsonl").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    return {a["path"]: a for a in answers if "apidiscovery" not in (a["accept"] or "")}


def old(body: Callable[[Site], Awaitable[None]]) -> None:
    """Run it with a server that has the old face."""

    async def main() -> None:
        async with Site(kube_version="1.20") as site:
            await body(site)

    asyncio.run(main())


async def ask(site: Site, method: str, path: str, body: Any = b"", **headers: str) -> tuple[int, Any]:
    status, _, data = await site.ask(method, path, body, **headers)
    return status, json.loads(data) if data.startswith(b"{") else data.decode()


def without_unserved(answer: Object, group_version: str) -> Object:
    kept = [e for e in answer["resources"] if f"{group_version} {e['name']}" not in NOT_SERVED]
    return {**answer, "apiVersion": "v1", "resources": kept}


def test_what_cannot_be_served_is_known_by_name() -> None:
    everything = recorded_version("v1.20.2")
    served = servable(everything)
    missing = {
        f"{gv} {entry['name']}"
        for gv, entries in everything.resources.items()
        for entry in entries
        if not served.has(gv, entry["name"])
    }
    assert missing == NOT_SERVED
    told = (RECORDINGS.parent / "book" / "run-it.md").read_text()
    assert "Pod security policies are left out" in told


def test_discovery_says_what_the_recorded_server_said() -> None:
    async def body(site: Site) -> None:
        answers, compared = recorded(), 0
        for path, answer in answers.items():
            if not isinstance(answer["response"], dict) or answer["response"].get("kind") != "APIResourceList":
                continue
            group_version = answer["response"]["groupVersion"]
            expected = without_unserved(answer["response"], group_version)
            status, said = await ask(site, "GET", path)
            if expected["resources"]:
                assert (status, said) == (200, expected)
                compared += 1
            else:
                assert status == 404
        assert compared == 37
        group = answers["/apis/apps"]["response"]
        assert await ask(site, "GET", "/apis/apps") == (200, group)
        _, groups = await ask(site, "GET", "/apis")
        said = {g["name"]: [v["version"] for v in g["versions"]] for g in groups["groups"]}
        told = {g["name"]: [v["version"] for v in g["versions"]] for g in answers["/apis"]["response"]["groups"]}
        assert list(said) == list(told)
        assert said == told

    old(body)


def test_the_version_is_the_recorded_one_with_its_numbers() -> None:
    async def body(site: Site) -> None:
        told = recorded()["/version"]["response"]
        assert await ask(site, "GET", "/version") == (200, {**told, "major": "1", "minor": "20"})

    old(body)


def test_what_came_later_is_not_there() -> None:
    async def body(site: Site) -> None:
        for path in (
            "/openapi/v3",
            "/apis/resource.k8s.io",
            "/apis/resource.k8s.io/v1",
            "/apis/resource.k8s.io/v1/deviceclasses",
        ):
            assert await ask(site, "GET", path) == (404, "404 page not found\n")
        for path in (
            "/apis/batch/v1/cronjobs",
            "/apis/policy/v1beta1/podsecuritypolicies",
            "/apis/autoscaling/v2",
            "/api/v2",
        ):
            status, said = await ask(site, "GET", path)
            assert (status, said["reason"], said["message"]) == (
                404,
                "NotFound",
                "the server could not find the requested resource",
            )
        aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
        assert (await ask(site, "GET", "/apis", Accept=aggregated))[1]["kind"] == "APIGroupList"
        _, root = await ask(site, "GET", "/")
        assert "/apis/extensions/v1beta1" in root["paths"]
        assert not [path for path in root["paths"] if path.startswith(("/openapi/v3", "/apis/resource.k8s.io"))]

    old(body)


def test_an_ingress_has_each_version_s_form() -> None:
    async def body(site: Site) -> None:
        status, made = await ask(site, "POST", OLD, INGRESS)
        assert (status, made["apiVersion"], made["spec"]) == (201, INGRESS["apiVersion"], INGRESS["spec"])
        _, today = await ask(site, "GET", f"{TODAY}/web")
        assert today["spec"] == {"defaultBackend": {"service": {"name": "all", "port": {"number": 80}}}}
        older = OLD.replace("networking.k8s.io", "extensions")
        _, listed = await ask(site, "GET", older)
        assert (listed["kind"], listed["apiVersion"]) == ("IngressList", "extensions/v1beta1")
        assert [item["spec"] for item in listed["items"]] == [INGRESS["spec"]]
        status, refused = await ask(site, "GET", f"{older}/none")
        assert (status, refused["message"]) == (404, 'ingresses.extensions "none" not found')
        assert refused["details"] == {"name": "none", "group": "extensions", "kind": "ingresses"}
        status, table = await ask(site, "GET", OLD, Accept="application/json;as=Table;g=meta.k8s.io;v=v1")
        assert [row["cells"][0] for row in table["rows"]] == ["web"]

    old(body)


def test_an_ingress_is_patched_in_its_old_form() -> None:
    async def body(site: Site) -> None:
        await ask(site, "POST", OLD, INGRESS)
        patch = {"spec": {"backend": {"servicePort": "http"}}, "metadata": {"labels": {"a": None}}}
        for kind in ("merge-patch", "strategic-merge-patch"):
            status, patched = await ask(site, "PATCH", f"{OLD}/web", patch, Content_Type=f"application/{kind}+json")
            assert (status, patched["spec"]["backend"]) == (200, {"serviceName": "all", "servicePort": "http"})
            assert "labels" not in patched["metadata"]
        operations = [{"op": "replace", "path": "/spec/backend/serviceName", "value": "some"}]
        status, patched = await ask(site, "PATCH", f"{OLD}/web", operations, Content_Type="application/json-patch+json")
        assert (status, patched["spec"]["backend"]) == (200, {"serviceName": "some", "servicePort": "http"})
        status, refused = await ask(site, "PATCH", f"{OLD}/web", [{}], Content_Type="application/json-patch+json")
        assert (status, refused["reason"]) == (422, "Invalid")
        status, refused = await ask(site, "PATCH", f"{OLD}/web", {}, Content_Type="application/apply-patch+yaml")
        assert (status, refused["reason"]) == (415, "UnsupportedMediaType")
        status, refused = await ask(site, "PATCH", f"{OLD}/none", patch, Content_Type="application/merge-patch+json")
        assert (status, refused["reason"]) == (404, "NotFound")

    old(body)


def test_a_kind_of_the_same_form_is_patched_as_always() -> None:
    async def body(site: Site) -> None:
        status, made = await ask(site, "POST", CRON_JOBS, CRON_JOB)
        assert (status, made["apiVersion"], made["kind"]) == (201, "batch/v1beta1", "CronJob")
        for kind, patch in (
            ("application/merge-patch+json", {"apiVersion": "batch/v1beta1", "spec": {"suspend": True}}),
            ("application/json-patch+json", [{"op": "replace", "path": "/spec/suspend", "value": False}]),
            ("application/apply-patch+yaml", {**CRON_JOB, "spec": {"suspend": True, "schedule": "* * * * *"}}),
        ):
            path = f"{CRON_JOBS}/tick" + ("?fieldManager=m&force=true" if "apply" in kind else "")
            status, patched = await ask(site, "PATCH", path, patch, Content_Type=kind)
            assert (status, patched["apiVersion"]) == (200, "batch/v1beta1"), patched
        assert patched["spec"]["suspend"] is True

    old(body)


def test_a_watch_speaks_the_version_that_was_asked_for() -> None:
    async def body(site: Site) -> None:
        await ask(site, "POST", OLD, INGRESS)
        reader, writer = await site.connect()
        writer.write(
            request_bytes("GET", f"{OLD}?watch=1", Accept="application/vnd.kubernetes.protobuf,application/json")
        )
        async with asyncio.timeout(20):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readline()
            event = json.loads(await reader.readline())
        writer.transport.abort()
        assert b"Content-Type: application/json\r\n" in head
        assert (event["type"], event["object"]["apiVersion"], event["object"]["spec"]) == (
            "ADDED",
            "networking.k8s.io/v1beta1",
            INGRESS["spec"],
        )

    old(body)


def test_who_may_not_ask_is_not_told() -> None:
    async def body(site: Site) -> None:
        for path in ("/apis/batch/v1beta1", "/apis/extensions", "/apis", "/"):
            assert (await site.ask("GET", path, token=""))[0] == 403
            assert (await site.ask("GET", path, token="wrong"))[0] == 401
        assert (await site.ask("GET", "/version", token=""))[0] == 200
        assert (await site.ask("POST", OLD, INGRESS, token=""))[0] == 403

    old(body)


def test_custom_resources_pass() -> None:
    async def body(site: Site) -> None:
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.org"},
            "spec": {
                "group": "example.org",
                "scope": "Cluster",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
        status, _ = await ask(site, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        assert status == 201
        while (await ask(site, "GET", "/apis/example.org/v1/things"))[0] != 200:  # it will be there in a moment
            pass
        _, groups = await ask(site, "GET", "/apis")
        assert groups["groups"][-1]["name"] == "example.org"

    old(body)


def test_our_own_components_do_not_see_it() -> None:
    async def body(site: Site) -> None:
        client = Client(site.server.in_process_transport(UserInfo("admin", ("system:masters",))), "tests/v1")
        made = await client.create(resource("cronjobs.batch"), {**CRON_JOB, "apiVersion": "batch/v1"}, "default")
        assert made["apiVersion"] == "batch/v1"

    old(body)


@pytest.mark.parametrize("text", ["1.20", "v1.20", "v1.20.2", "1.20.2"])
def test_a_version_may_be_named_shortly(text: str) -> None:
    assert full_version(text) == "v1.20.2"


def test_another_version_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownVersion, match=r"^no API of Kubernetes 1\.19 is known here, only of v1\.20\.2$"):
        ClusterConfig(kube_version="1.19").check()


def old_kubectl(kubeconfig: Object, folder: Path) -> Callable[..., str]:
    """Runs kubectl 1.20 and gives what it printed. A failure of it is one of the test's."""
    found = find_kubectl("1.20")
    if found is None:
        unavailable("kubectl 1.20 is not here (.ci/kubectl fetches it on Debian)")
    config = folder / "config"
    config.write_text(json.dumps(kubeconfig))

    def kubectl(*args: str, stdin: str = "") -> str:
        command = [str(found), "--kubeconfig", str(config), "--cache-dir", str(folder / "cache"), *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return kubectl


def test_kubectl_1_20_finds_what_it_knows(tmp_path: Path) -> None:
    with lifecycle.up(nodes=1, kube_version="1.20") as cluster:
        kubectl = old_kubectl(cluster.kubeconfig, tmp_path)
        assert kubectl("version", "--short") == "Client Version: v1.20.2\nServer Version: v1.20.2\n"
        assert "extensions/v1beta1" in kubectl("api-versions").split()
        both = json.dumps({"apiVersion": "v1", "kind": "List", "items": [INGRESS, CRON_JOB]})
        made = ["ingress.networking.k8s.io/web", "cronjob.batch/tick"]
        assert kubectl("apply", "-f", "-", stdin=both).splitlines() == [f"{name} created" for name in made]
        assert kubectl("apply", "-f", "-", stdin=both).splitlines() == [f"{name} unchanged" for name in made]
        changed = both.replace('"servicePort": 80', '"servicePort": "http"')
        assert kubectl("apply", "-f", "-", stdin=changed).startswith("ingress.networking.k8s.io/web configured\n")
        port = kubectl(
            "get", "ingress.v1beta1.extensions", "web", "-o", "jsonpath={.apiVersion} {.spec.backend.servicePort}"
        )
        assert port == "extensions/v1beta1 http"
        assert kubectl("get", "cronjobs", "-o", "jsonpath={.items[*].apiVersion}") == "batch/v1beta1"
        kubectl("create", "job", "now", "--from=cronjob/tick")
        assert kubectl("delete", "ingress,cronjob", "--all").count("deleted") == 2


OLD_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1beta1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
        "group": "example.org",
        "version": "v1",
        "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "JSONPath": ".spec.size"}],
        "subresources": {"status": {}},
    },
}
OLD_HOOKS = {
    "apiVersion": "admissionregistration.k8s.io/v1beta1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "hooks"},
    "webhooks": [{"name": "a.example.org", "clientConfig": {"url": "https://127.0.0.1:1"}}],
}
OLD_AUTOSCALER = {
    "apiVersion": "autoscaling/v2beta1",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 60}}],
    },
}


def test_kubectl_1_20_applies_what_changed_its_form(tmp_path: Path) -> None:
    """Definitions, webhooks, autoscalers, and a request that it approves."""
    with lifecycle.up(nodes=1, kube_version="1.20") as cluster:
        kubectl = old_kubectl(cluster.kubeconfig, tmp_path)
        made = [OLD_DEFINITION, OLD_HOOKS, OLD_AUTOSCALER, signing_request("jane")]
        names = [
            "customresourcedefinition.apiextensions.k8s.io/things.example.org",
            "validatingwebhookconfiguration.admissionregistration.k8s.io/hooks",
            "horizontalpodautoscaler.autoscaling/web",
            "certificatesigningrequest.certificates.k8s.io/r",
        ]
        both = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
        assert kubectl("apply", "-f", "-", stdin=both).splitlines() == [f"{name} created" for name in names]
        assert kubectl("apply", "-f", "-", stdin=both).splitlines() == [f"{name} unchanged" for name in names]
        changed = both.replace('"name": "Size"', '"name": "How large"').replace(
            '"targetAverageUtilization": 60', '"targetAverageValue": "1Gi"'
        )
        changed = changed.replace('"name": "a.example.org"', '"name": "b.example.org", "failurePolicy": "Fail"')
        done = kubectl("apply", "-f", "-", stdin=changed).splitlines()
        assert [line.rpartition(" ")[2] for line in done] == ["configured"] * 3 + ["unchanged"]
        path = "jsonpath={.apiVersion} {.webhooks[*].name} {.webhooks[*].failurePolicy} {.webhooks[*].timeoutSeconds}"
        hooks = "validatingwebhookconfigurations.v1beta1.admissionregistration.k8s.io"
        assert kubectl("get", hooks, "hooks", "-o", path) == (
            "admissionregistration.k8s.io/v1beta1 b.example.org Fail 30"
        )
        path = "jsonpath={.spec.metrics[*].resource.targetAverageValue}"
        assert kubectl("get", "hpa.v2beta1.autoscaling", "web", "-o", path) == "1Gi"
        kubectl("wait", "--for=condition=Established", "crd/things.example.org")
        thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 3}}
        assert kubectl("create", "-f", "-", stdin=json.dumps(thing)) == "thing.example.org/t created\n"
        table = [line.split() for line in kubectl("get", "th").splitlines()]
        assert table == [["NAME", "HOW", "LARGE"], ["t", "3"]]
        kubectl("certificate", "approve", "r")
        assert kubectl("get", "csr", "r").splitlines()[1].split()[2:] == [
            "kubernetes.io/legacy-unknown",
            "kubernetes-admin",
            "<none>",
            "Approved",
        ]
