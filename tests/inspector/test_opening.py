"""One variable decides which cluster a notebook talks to."""

import pytest

from lifecycle.inspector import (
    InspectorError,
    LiveCluster,
    Recording,
    open_cluster,
    open_recording,
    recordings_directory,
)
from lifecycle.inspector.node import KindNode


def test_recorded_by_default(monkeypatch):
    monkeypatch.delenv("LIFECYCLE_CLUSTER", raising=False)
    cluster = open_cluster()
    assert isinstance(cluster, Recording)
    assert cluster.name == "kind-1.36.2"


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: far, cluster: {server: "https://10.0.0.1:6443"}}]
users: [{name: me, user: {}}]
contexts: [{name: production, context: {cluster: far, user: me}}]
"""


def test_another_context_is_refused(tmp_path):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(KUBECONFIG)
    with pytest.raises(
        InspectorError,
        match=r"refusing context 'production': https://10\.0\.0\.1:6443 is not on this machine; only a context "
        r"named 'kind-lifecycle' may be elsewhere$",
    ):
        LiveCluster("production", config_file=str(kubeconfig))


def test_the_named_context_is_the_one_that_is_opened(monkeypatch):
    monkeypatch.setenv("LIFECYCLE_CLUSTER", "production")
    with pytest.raises(
        InspectorError,
        match=r"no context 'production' to connect to \(Invalid kube-config file\. No configuration found\.\); `make cluster` makes one$",
    ):
        open_cluster()


def test_kind_without_a_kubeconfig_says_how_to_get_one(monkeypatch, tmp_path):
    with pytest.raises(InspectorError, match=r"`make cluster` makes one$"):
        LiveCluster(config_file=str(tmp_path / "none"))


def test_the_folder_can_be_named(monkeypatch, tmp_path):
    here = recordings_directory()
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", str(here))
    monkeypatch.chdir(tmp_path)
    assert recordings_directory() == here
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", str(tmp_path / "none"))
    with pytest.raises(InspectorError, match=r"is not a folder$"):
        recordings_directory()


def test_an_unknown_recording_names_the_known():
    with pytest.raises(InspectorError, match=r"no recording 'kind-9'.*kind-1\.36\.2-again$"):
        open_recording("kind-9")


def test_a_folder_that_is_no_recording(tmp_path):
    with pytest.raises(InspectorError, match=r"is not a recording: it has no http/ folder$"):
        Recording(tmp_path)


def test_live_nodes_need_docker(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(
        InspectorError,
        match=r"docker is not on PATH: a live kind node is a container, and only docker can look into it$",
    ):
        KindNode("lifecycle-worker").run("ip route")
    with pytest.raises(InspectorError, match=r"lifecycle-worker is live: it can be asked now, not at 'created'$"):
        KindNode("lifecycle-worker").run("ip route", moment="created")
