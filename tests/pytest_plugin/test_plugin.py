"""Other people's tests with our fixtures, run by a pytest of their own."""

from __future__ import annotations

import re
from importlib.metadata import entry_points

import pytest

from lifecycle.pytest_plugin import plugin
from tests.conftest import ROOT
from tests.pytest_plugin.conftest import SETTINGS

pytest_plugins = ["pytester"]


def test_the_package_brings_it_along() -> None:
    (entry,) = entry_points(group="pytest11", name="lifecycle")
    assert entry.load() is plugin


def test_pods_run_and_each_test_has_a_namespace_of_its_own(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        seen = []

        def test_runs(lifecycle_namespace):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
                   "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
            assert [p["metadata"]["name"] for p in lifecycle_namespace.apply(pod)] == ["web"]
            pod = lifecycle_namespace.wait_for("pod/web", "condition=Ready")
            assert pod["metadata"]["namespace"] == lifecycle_namespace.namespace
            assert "web " in lifecycle_namespace.kubectl("get pods")
            seen.append(lifecycle_namespace)

        def test_is_empty(lifecycle_namespace):
            assert lifecycle_namespace.kubectl("get", "pods") == ""
            assert lifecycle_namespace.namespace != seen[0].namespace
            assert lifecycle_namespace.url == seen[0].url
            assert not seen[0].kubeconfig.exists()
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=2)


def test_a_namespace_goes_with_its_test(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        names = []

        def test_one(lifecycle_namespace):
            names.append(lifecycle_namespace.namespace)
            lifecycle_namespace.kubectl("create configmap kept")

        def test_two(lifecycle_cluster):
            lifecycle_cluster.wait_for(f"namespace/{names[0]}", "delete")
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=2)


def test_objects_are_waited_for_that_do_not_exist_yet(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        import threading

        def test_late(lifecycle_namespace):
            later = threading.Timer(0.1, lifecycle_namespace.kubectl, ["create configmap late --from-literal=a=1"])
            later.start()
            made = lifecycle_namespace.wait_for("cm/late", lambda c: c["data"] == {"a": "1"})
            assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")
            later.join()
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_wait_in_vain_says_how_it_was_last(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        def is_thirsty(pod):
            return False

        def test_in_vain(lifecycle_namespace):
            lifecycle_namespace.kubectl("run web --image=nginx")
            lifecycle_namespace.wait_for("pod/web", "condition=Ready")
            lifecycle_namespace.wait_for("pod/web", is_thirsty, timeout=0.2)

        def test_never_there(lifecycle_namespace):
            lifecycle_namespace.wait_for("deploy/nope", timeout=0.1)
        """
    )
    result = theirs.runpytest_subprocess()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*TimeoutError: pods/web in namespace test-in-vain-1 did not come to what is_thirsty asks for within 0.2 s;*last:",
            "*phase: Running*",
            "*kubectl get all -o wide -n test-in-vain-1*",
            "pod/web * Running *",
            "*kubectl get events -n test-in-vain-1*",
            "*Scheduled*pod/web*Successfully assigned test-in-vain-1/web to *",
            "*TimeoutError: deployments/nope in namespace test-never-there-2 did not come to 'create' within 0.1 s; it was never there",
        ]
    )


def test_a_refused_command_shows_its_words_and_its_exit_code(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        import pytest
        from lifecycle.pytest_plugin.cluster_under_test import KubectlFailed

        def test_not_found(lifecycle_namespace):
            with pytest.raises(KubectlFailed) as failed:
                lifecycle_namespace.kubectl("get pod nope")
            assert failed.value.code == 1
            assert failed.value.stderr == 'Error from server (NotFound): pods "nope" not found\\n'

        def test_two_at_once(lifecycle_namespace):
            with pytest.raises(ValueError, match="one object, TYPE/NAME, not 'pods'"):
                lifecycle_namespace.wait_for("pods")
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=2)


def test_the_official_client_and_other_programs_find_the_namespace(theirs: pytest.Pytester) -> None:
    theirs.makepyfile(
        """
        import stat
        from kubernetes import client, config

        def test_connected(lifecycle_namespace):
            core = lifecycle_namespace.client.CoreV1Api()
            core.create_namespaced_config_map(lifecycle_namespace.namespace, {"metadata": {"name": "made"}})
            core.api_client.close()
            path = str(lifecycle_namespace.kubeconfig)
            assert stat.S_IMODE(lifecycle_namespace.kubeconfig.stat().st_mode) == 0o600
            _, active = config.list_kube_config_contexts(path)
            assert active["context"]["namespace"] == lifecycle_namespace.namespace
            with config.new_client_from_config(path) as api:
                names = client.CoreV1Api(api).list_namespaced_config_map(active["context"]["namespace"])
            assert {"made"} <= {item.metadata.name for item in names.items}
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_project_says_what_cluster_it_wants(theirs: pytest.Pytester) -> None:
    theirs.makeini(SETTINGS + "lifecycle_nodes = 2\n")
    theirs.makeconftest(
        """
        import pytest

        async def speak(process):
            process.print("hello from Python")
            return 0

        @pytest.fixture(scope="session")
        def lifecycle_cluster_options():
            return {"programs": {"speaker": speak}}
        """
    )
    theirs.makepyfile(
        """
        def test_nodes(lifecycle_cluster):
            assert lifecycle_cluster.kubectl("get nodes -o name").count("node/") == 2

        def test_programs(lifecycle_namespace):
            lifecycle_namespace.kubectl("run talk --image=speaker --restart=Never")
            lifecycle_namespace.wait_for("pod/talk", "jsonpath={.status.phase}=Succeeded")
            assert lifecycle_namespace.kubectl("logs talk") == "hello from Python\\n"
        """
    )
    theirs.runpytest_subprocess().assert_outcomes(passed=2)
    theirs.makepyfile(
        "def test_nodes(lifecycle_cluster):\n    assert lifecycle_cluster.kubectl('get nodes -o name').count('node/') == 1"
    )
    theirs.runpytest_subprocess("--lifecycle-nodes=1").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--lifecycle-runtime=docker", "--runtime knows hollow, sandbox, containerd, containerd:SOCKET; not docker"),
        ("--lifecycle-kube-version=1.19", "no API of Kubernetes 1.19 is known here, only of v1.20.2"),
        ("--lifecycle-nodes=0", "--nodes must be at least 1, not 0"),
    ],
)
def test_a_cluster_that_cannot_be_is_one_line(theirs: pytest.Pytester, option: str, words: str) -> None:
    theirs.makepyfile("def test_it(lifecycle_cluster): pass")
    result = theirs.runpytest_subprocess(option)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"the cluster does not start: {words}"])


def test_what_asks_for_no_cluster_loads_nothing(theirs_alone: pytest.Pytester) -> None:
    theirs_alone.makepyfile(
        """
        import sys

        def test_nothing():
            assert [name for name in sys.modules if name.startswith(("lifecycle.cluster", "lifecycle.api", "aiohttp"))] == []
        """
    )
    theirs_alone.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_code_on_the_page_runs(theirs_alone: pytest.Pytester) -> None:
    first, fixture = re.findall(r"```python\n(.*?)```", (ROOT / "book/test-your-operator.md").read_text(), re.S)
    theirs_alone.makeconftest("import pytest\n" + fixture)
    theirs_alone.makepyfile(
        first
        + """

def test_a_program_is_a_function(lifecycle_namespace):
    lifecycle_namespace.kubectl("run schema --image=example.org/migrate --restart=Never")
    lifecycle_namespace.wait_for("pod/schema", "jsonpath={.status.phase}=Succeeded")
    assert lifecycle_namespace.kubectl("logs schema") == "schema is at version 7\\n"
"""
    )
    theirs_alone.runpytest_subprocess().assert_outcomes(passed=2)
