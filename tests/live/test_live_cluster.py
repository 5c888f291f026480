"""The live path: look, record, compare – and leave nothing behind."""

import pytest
from click.testing import CliRunner

from lifecycle.cli import main
from lifecycle.compare import compare_recordings
from lifecycle.inspector import InspectorError, LiveCluster, Recording, open_recording
from lifecycle.inspector.recorder import record

NODES = ["lifecycle-control-plane", "lifecycle-worker", "lifecycle-worker2"]


def test_the_line_of_a_notebook_works_live(connect):
    with connect() as cluster:
        assert sorted(node.metadata.name for node in cluster.client.CoreV1Api().list_node().items) == NODES
        assert cluster.get("/healthz") == "ok"
        assert ", live, " in str(cluster.provenance)


def test_namespaces_made_here_are_deleted_and_others_stay(connect):
    with connect() as cluster:
        with cluster.namespace("lifecycle-test") as name:
            config_map = {"metadata": {"name": "seen"}, "data": {"a": "b"}}
            cluster.client.CoreV1Api().create_namespaced_config_map(name, config_map)
        with pytest.raises(InspectorError, match="was not made here"):
            cluster.create_namespace("kube-system")
        cluster.delete_namespace("kube-system")
        assert cluster.get("/api/v1/namespaces/kube-system")["status"]["phase"] == "Active"


def test_a_recording_never_takes_over_a_namespace_that_was_there(connect, tmp_path):
    with connect() as cluster, cluster.namespace("journey"):
        with pytest.raises(InspectorError, match="stays untouched"):
            record(cluster, tmp_path / "kind-lifecycle", ["journey"], progress=False)
        assert cluster.get("/api/v1/namespaces/journey")["status"]["phase"] == "Active"


def agreement(cluster, out, scenario, pause):
    """Record one scenario and hold it against the book's recording."""
    taken = Recording(record(cluster, out, [scenario], pause=pause, progress=False))
    return taken, compare_recordings(taken, open_recording(), scenario)


def test_discovery_agrees_with_the_recording(connect, tmp_path, pause, is_real):
    with connect() as cluster:
        _, table = agreement(cluster, tmp_path / "kind-lifecycle", "discovery", pause)
    assert table.fields_equal / table.total > 0.93
    assert is_real or table.equal, table.unexplained[:3]


def test_the_journey_agrees_with_the_recording(connect, tmp_path, pause):
    with connect() as cluster:
        taken, table = agreement(cluster, tmp_path / "kind-lifecycle", "journey", pause)
    assert taken.moments("journey") == open_recording().moments("journey")
    assert len(list(taken.watch("journey"))) > 100
    codes = [difference for _, difference in table.unexplained if difference.path == "/status"]
    assert codes == []
    assert table.fields_equal / table.total > 0.93, str(table)


@pytest.mark.real
def test_the_real_kubectl_drives_the_journey_where_there_is_one(connect, tmp_path, pause, kubectl_on_path):
    if not kubectl_on_path:
        pytest.skip("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    with connect() as cluster:
        taken, table = agreement(cluster, tmp_path / "kind-lifecycle", "journey", pause)
    assert "deployment.apps/nginx created" in taken.kubectl("01-create")
    assert "[exit 0" in taken.kubectl("10-delete")
    assert table.fields_equal / table.total > 0.93, str(table)


def test_the_command_line_compares_a_live_cluster(connect, kubeconfig, pause, monkeypatch):
    if kubeconfig:  # the official client reads the variable when it is imported
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", kubeconfig)
    result = CliRunner().invoke(main, ["compare", "discovery", "--against", "kind-lifecycle"])
    assert "cluster: recording kind-1.36.2" in result.output
    assert result.exit_code in (0, 1)


def test_a_context_that_is_not_there_is_refused(kubeconfig):
    with pytest.raises(InspectorError, match="no context 'production'"):
        LiveCluster("production", config_file=kubeconfig)


STAND_INS_DIFFER = {
    "DELETE /apis/apps/v1/namespaces/default/deployments/rec-d?propagationPolicy=Foreground": "how far its pods had come",
    "GET /api/v1/namespaces": "which others there are",
    "GET /api/v1/namespaces/default/configmaps/rec-a": "the namespace in the bytes of protobuf",
    "GET /api/v1/namespaces/default/services": "`default` has the Service kubernetes",
    "GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices": "and its slice",
}
"""Answers that differ in a namespace that stands in for `default`, and in what. Of kube-system, whose pods have lives of their own,
nothing is asked."""


def test_what_is_recorded_in_a_namespace_of_its_own_is_compared_as_if_it_were_default(connect, tmp_path, pause):
    with connect() as cluster:
        taken, table = agreement(cluster, tmp_path / "kind-lifecycle", "storage", pause)
    assert taken.stand_ins("storage") == {"lifecycle-storage": "default"}
    assert table.freedoms["a namespace made for the recording"] > 50
    differ = {row.input for row in table.rows if not row.comparison.agrees and "kube-system" not in row.input}
    assert differ <= STAND_INS_DIFFER.keys(), differ
