"""The line, with real kubectl of three Debian releases: from `create deployment` to `delete`, as a user types it."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.cluster.conftest import Kubectl

pytestmark = pytest.mark.real


def rows(result: subprocess.CompletedProcess[str]) -> list[list[str]]:
    """The table kubectl printed, split at two or more spaces."""
    return [re.split(r"\s{2,}", line.strip()) for line in result.stdout.splitlines() if line.strip()]


def created(kubectl: Kubectl, replicas: int = 3) -> None:
    kubectl("create", "deployment", "nginx", "--image=nginx", f"--replicas={replicas}")
    kubectl("rollout", "status", "deployment/nginx", "--timeout=30s")


def test_create_deployment_makes_three_pods_run(kubectl: Kubectl) -> None:
    result = kubectl("create", "deployment", "nginx", "--image=nginx", "--replicas=3")
    assert result.stdout == "deployment.apps/nginx created\n"
    status = kubectl("rollout", "status", "deployment/nginx", "--timeout=30s")
    assert status.stdout.splitlines()[-1] == 'deployment "nginx" successfully rolled out'
    pods = json.loads(kubectl("get", "pods", "-l", "app=nginx", "-o", "json").stdout)["items"]
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 3
    assert all(condition["status"] == "True" for pod in pods for condition in pod["status"]["conditions"])
    assert len({pod["status"]["podIP"] for pod in pods}) == 3


def test_get_prints_the_tables_of_the_real_server(kubectl: Kubectl) -> None:
    created(kubectl)
    table = kubectl("get", "deploy,rs,pods", "-o", "wide").stdout
    headers = [re.split(r"\s{2,}", line.strip()) for line in table.splitlines() if line.startswith("NAME")]
    assert headers == [
        ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"],
        ["NAME", "DESIRED", "CURRENT", "READY", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"],
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"],
    ]
    assert re.search(r"^deployment.apps/nginx\s+3/3\s+3\s+3\s+\d+s\s+nginx\s+nginx\s+app=nginx$", table, re.M)
    assert (
        len(
            re.findall(
                r"^pod/nginx-\S+\s+1/1\s+Running\s+0\s+\d+s\s+10\.244\.\d+\.\d+\s+lifecycle-worker2?\s", table, re.M
            )
        )
        == 3
    )


def test_get_watch_prints_each_change(kubectl: Kubectl, kubectl_binary: object) -> None:
    created(kubectl, replicas=1)
    result = kubectl("get", "pods", "-w", "--request-timeout=2s", check=False)
    assert re.search(r"^nginx-\S+\s+1/1\s+Running", result.stdout, re.M)


def test_scale_changes_the_number_of_pods(kubectl: Kubectl) -> None:
    created(kubectl)
    assert kubectl("scale", "deployment", "nginx", "--replicas=5").stdout == "deployment.apps/nginx scaled\n"
    kubectl("rollout", "status", "deployment/nginx", "--timeout=30s")
    assert len(json.loads(kubectl("get", "pods", "-o", "json").stdout)["items"]) == 5


def test_set_image_rolls_every_pod(kubectl: Kubectl) -> None:
    created(kubectl)
    assert (
        kubectl("set", "image", "deployment/nginx", "nginx=nginx:1.28").stdout
        == "deployment.apps/nginx image updated\n"
    )
    kubectl("rollout", "status", "deployment/nginx", "--timeout=30s")
    sets = json.loads(kubectl("get", "rs", "-o", "json").stdout)["items"]
    assert sorted(s["spec"]["replicas"] for s in sets) == [0, 3]
    kubectl("wait", "--for=jsonpath={.status.terminatingReplicas}=0", "deployment/nginx", "--timeout=10s", check=False)
    assert kubectl("rollout", "undo", "deployment/nginx").stdout == "deployment.apps/nginx rolled back\n"
    kubectl("rollout", "status", "deployment/nginx", "--timeout=30s")
    image = kubectl("get", "deployment", "nginx", "-o", "jsonpath={.spec.template.spec.containers[0].image}").stdout
    assert image == "nginx"


def test_describe_tells_the_story(kubectl: Kubectl) -> None:
    created(kubectl)
    told = kubectl("describe", "deployment", "nginx").stdout
    assert "3 desired | 3 updated | 3 total | 3 available | 0 unavailable" in told
    assert re.search(r"Scaled up replica set nginx-\S+ (to 3|from 0 to 3)", told)
    name = kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}").stdout
    pod = kubectl("describe", "pod", name).stdout  # newer kubectls print no events when they describe several at once
    assert "Successfully assigned" in pod
    assert "Container started" in pod


def test_expose_makes_a_service_with_endpoints(kubectl: Kubectl) -> None:
    created(kubectl)
    assert kubectl("expose", "deployment", "nginx", "--port=80").stdout == "service/nginx exposed\n"
    service = json.loads(kubectl("get", "service", "nginx", "-o", "json").stdout)
    assert service["spec"]["clusterIP"].startswith("10.96.")

    def ready_addresses() -> int:
        slices = json.loads(
            kubectl("get", "endpointslices", "-l", "kubernetes.io/service-name=nginx", "-o", "json").stdout
        )
        return sum(len(e["addresses"]) for s in slices["items"] for e in s.get("endpoints") or [])

    attempts = 0
    while ready_addresses() < 3:
        attempts += 1
        assert attempts < 20, "the EndpointSlice never got its three addresses"


def test_delete_takes_everything_along(kubectl: Kubectl) -> None:
    created(kubectl)
    assert kubectl("delete", "deployment", "nginx").stdout.startswith('deployment.apps "nginx" deleted')
    assert kubectl("wait", "--for=delete", "pods", "-l", "app=nginx", "--timeout=30s", check=False).returncode in (0, 1)
    assert kubectl("get", "rs,pods", "-o", "name").stdout == ""


MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: COLOUR}
"""


@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_apply_creates_then_changes_then_leaves_alone(kubectl: Kubectl, flags: tuple[str, ...]) -> None:
    done = "serverside-applied" if flags else None
    first = kubectl("apply", *flags, "-f", "-", stdin=MANIFEST.replace("COLOUR", "red"))
    assert first.stdout == f"configmap/settings {done or 'created'}\n"
    second = kubectl("apply", *flags, "-f", "-", stdin=MANIFEST.replace("COLOUR", "blue"))
    assert second.stdout == f"configmap/settings {done or 'configured'}\n"
    third = kubectl("apply", *flags, "-f", "-", stdin=MANIFEST.replace("COLOUR", "blue"))
    assert third.stdout == f"configmap/settings {done or 'unchanged'}\n"
    assert kubectl("get", "configmap", "settings", "-o", "jsonpath={.data.colour}").stdout == "blue"


def test_api_resources_and_versions_are_listed(kubectl: Kubectl) -> None:
    listed = kubectl("api-resources", "-o", "wide").stdout
    assert re.search(r"^deployments\s+deploy\s+apps/v1\s+true\s+Deployment\s", listed, re.M)
    assert "apps/v1" in kubectl("api-versions").stdout.split()


def test_explain_reads_the_published_schema(kubectl: Kubectl) -> None:
    told = kubectl("explain", "deployment.spec").stdout
    assert "replicas" in told
    assert "progressDeadlineSeconds" in told


def test_auth_can_i_asks_the_server(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "deployments").stdout == "yes\n"
    refused = kubectl("auth", "can-i", "create", "deployments", "--as=nobody", check=False)
    assert refused.stdout.startswith("no")
    assert refused.returncode == 1


def test_auth_whoami_names_the_admin(kubectl: Kubectl, kubectl_binary: object) -> None:
    if "1.20" in str(kubectl_binary):
        assert kubectl("auth", "whoami", check=False).returncode != 0  # this kubectl has no such command yet
        return
    assert "kubernetes-admin" in kubectl("auth", "whoami").stdout


def test_errors_read_as_from_a_real_server(kubectl: Kubectl) -> None:
    absent = kubectl("get", "deployment", "absent", check=False)
    assert absent.returncode == 1
    assert absent.stderr == 'Error from server (NotFound): deployments.apps "absent" not found\n'
    bad = kubectl("create", "deployment", "Bad_Name", "--image=nginx", check=False)
    assert bad.returncode == 1
    assert 'Invalid value: "Bad_Name"' in bad.stderr
