"""Real kubectl in hollow containers: commands, files of volumes, `kubectl cp`, and what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.cluster.background import BackgroundCluster
from tests.cluster.conftest import Kubectl

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "files", "labels": {"app": "x"}},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "busybox:1.36",
                "command": ["sh", "-c", "cat /config/greeting > /shared/heard; sleep 36000"],
                "volumeMounts": [
                    {"name": "config", "mountPath": "/config"},
                    {"name": "config", "mountPath": "/etc/one", "subPath": "greeting"},
                    {"name": "secret", "mountPath": "/secret"},
                    {"name": "about", "mountPath": "/about"},
                    {"name": "shared", "mountPath": "/shared"},
                ],
            },
            {
                "name": "other",
                "image": "busybox:1.36",
                "command": ["sleep", "36000"],
                "volumeMounts": [{"name": "shared", "mountPath": "/mnt/both"}],
            },
        ],
        "volumes": [
            {"name": "config", "configMap": {"name": "settings"}},
            {"name": "secret", "secret": {"secretName": "password"}},
            {
                "name": "about",
                "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]},
            },
            {"name": "shared", "emptyDir": {}},
        ],
    },
}
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture
def files(kubectl: Kubectl, tmp_path: Path) -> Kubectl:
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(POD))
    kubectl("create", "configmap", "settings", "--from-literal=greeting=hello", "--from-literal=b=2")
    kubectl("create", "secret", "generic", "password", "--from-literal=word=open sesame")
    kubectl("create", "-f", str(manifest))
    kubectl("wait", "--for=condition=Ready", "pod/files", "--timeout=30s")
    return kubectl


def test_the_files_of_volumes_are_those_of_the_api(files: Kubectl, namespace: str) -> None:
    def out(*command: str, container: str = "c") -> str:
        return files("exec", "files", "-c", container, "--", *command).stdout

    assert out("cat", "/config/greeting") == "hello"
    assert out("ls", "/config") == "b\ngreeting\n"
    assert out("cat", "/etc/one") == "hello"
    assert out("cat", "/secret/word") == "open sesame"
    assert out("cat", "/about/labels") == 'app="x"'
    assert out("ls", ACCOUNT) == "ca.crt\nnamespace\ntoken\n"
    assert out("cat", f"{ACCOUNT}/namespace") == namespace
    assert out("cat", f"{ACCOUNT}/ca.crt").startswith("-----BEGIN CERTIFICATE-----")
    assert out("cat", f"{ACCOUNT}/token").count(".") == 2
    assert out("cat", "/mnt/both/heard", container="other") == "hello"
    address = files("get", "pod", "files", "-o", "jsonpath={.status.podIP}").stdout
    assert f"{address}\tfiles\n" in out("cat", "/etc/hosts")
    files("create", "configmap", "settings", "--from-literal=greeting=changed", "-o", "yaml", "--dry-run=client")
    files("patch", "configmap", "settings", "-p", '{"data":{"greeting":"changed"}}')
    assert out("cat", "/config/greeting") == "changed"


def test_volumes_from_the_api_cannot_be_written(files: Kubectl) -> None:
    result = files("exec", "files", "-c", "c", "--", "sh", "-c", "echo x > /config/new", check=False)
    assert result.returncode == 1
    assert "can't create /config/new: Read-only file system" in result.stderr


def test_files_are_copied_in_and_out(files: Kubectl, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "deep" / "b.bin").write_bytes(bytes(range(256)) * 100)
    files("cp", str(folder), "files:/tmp/there", "-c", "c")
    assert files("exec", "files", "-c", "c", "--", "cat", "/tmp/there/a.txt").stdout == "a\n"
    files("cp", "files:/tmp/there", str(tmp_path / "out"), "-c", "c")
    assert (tmp_path / "out/deep/b.bin").read_bytes() == bytes(range(256)) * 100
    missing = files("cp", "files:/tmp/none", str(tmp_path / "none"), "-c", "c", check=False)
    assert missing.returncode != 0
    assert "No such file or directory" in missing.stdout + missing.stderr


def test_a_command_that_is_not_modelled_fails_loudly(files: Kubectl) -> None:
    result = files("exec", "files", "-c", "c", "--", "wget", "-q", "http://x", check=False)
    assert result.returncode == 126
    (line, *rest) = result.stderr.splitlines()
    assert "wget -q http://x: not run: hollow containers run no programs" in line
    assert "--runtime sandbox" in line
    assert rest == ["command terminated with exit code 126"]


def test_a_shell_answers_what_is_typed(files: Kubectl) -> None:
    result = files("exec", "-i", "files", "-c", "c", "--", "sh", stdin="echo $((6*7))\nexit 5\n", check=False)
    assert (result.stdout, result.returncode) == ("42\n", 5)
    assert files("exec", "-i", "files", "-c", "c", "--", "sh", "-c", "cat", stdin="typed\n").stdout == "typed\n"


@pytest.mark.parametrize("kubectl_binary", ["1.36"], indirect=True)
def test_a_tag_that_does_not_exist_is_not_pulled(kubectl: Kubectl, cluster: BackgroundCluster, namespace: str) -> None:
    from kubernetes import client, watch

    kubectl("run", "lost", "--image=nginx:no-such", "--restart=Never")
    name = "docker.io/library/nginx:no-such"
    message = (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}":'
        f' failed to resolve reference "{name}": {name}: not found'
    )
    states: dict[str, set[str]] = {}
    list_pods = client.CoreV1Api(cluster.api_client).list_namespaced_pod
    for event in watch.Watch().stream(list_pods, namespace, timeout_seconds=30):
        for status in event["object"].status.container_statuses or ():
            waiting = status.state.waiting
            states.setdefault(waiting.reason, set()).add(waiting.message or message)
        if "ImagePullBackOff" in states:
            break
    assert {"ImagePullBackOff"} <= set(states) <= {"ContainerCreating", "ErrImagePull", "ImagePullBackOff"}
    assert [said for texts in states.values() for said in texts if message not in said] == []
    path = "jsonpath={.status.containerStatuses[0].state.waiting}"
    waiting = json.loads(kubectl("get", "pod", "lost", "-o", path).stdout)
    assert waiting["reason"] in ("ErrImagePull", "ImagePullBackOff")
    assert message in waiting["message"]
