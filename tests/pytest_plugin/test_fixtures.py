"""What the fixtures ask of a cluster, and what is said of a test that failed; the cluster itself runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lifecycle
from lifecycle.pytest_plugin import plugin
from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.pytest_plugin.conftest import SETTINGS
from tests.pytest_plugin.fake_running import Running

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture(scope="module", autouse=True)
def _(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load what is loaded when it is first needed: pytester forgets what one of their runs has loaded."""
    under_test = ClusterUnderTest(Running(), tmp_path_factory.mktemp("loading"))  # type: ignore[arg-type]
    under_test.kubectl("create namespace loading")
    under_test.wait_for("namespace/loading")
    under_test.kubectl("get all -o wide")
    under_test.kubectl("get events")
    under_test.kubectl("delete namespace loading --wait=false")


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What clusters were asked for."""
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(lifecycle, "up", lambda **options: asked.append(options) or Running())
    return asked


@pytest.fixture
def run(theirs: pytest.Pytester, wanted: list[Any]) -> Run:
    """Run their tests here: no cluster has to be started for them."""
    theirs.makeini(SETTINGS.replace("addopts = -p lifecycle.pytest_plugin.plugin\n", ""))

    def run(tests: str, *arguments: str, settings: str = "") -> pytest.RunResult:
        theirs.makepyfile(tests)
        if settings:
            theirs.makeini(f"[pytest]\n{settings}")
        return theirs.runpytest_inprocess(f"--basetemp={theirs.path}/folders", *arguments, plugins=[plugin])

    return run


def test_the_options_say_what_they_are_for(run: Run) -> None:
    printed = run("", "--help").stdout.str()
    group = printed.partition("a Kubernetes cluster for tests:")[2].partition("\n\n")[0]
    assert " ".join(group.split()) == (
        "--lifecycle-runtime=NAME what its nodes run containers with: hollow (the default), sandbox, containerd"
        " --lifecycle-nodes=N its machines"
        " --lifecycle-kube-version=VERSION an older Kubernetes whose API it shows: v1.20.2"
    )
    settings = " ".join(printed.partition("configuration file")[2].split())
    for name, words in (
        ("lifecycle_runtime (string)", "what its nodes run containers with"),
        ("lifecycle_nodes (string)", "its machines"),
        ("lifecycle_kube_version (string)", "an older Kubernetes whose API it shows"),
    ):
        assert f"{name}: {words}" in settings


ASKS = "def test_it(lifecycle_cluster): pass"


@pytest.mark.parametrize(
    ("settings", "arguments", "options"),
    [
        ("", (), {"runtime": "hollow", "nodes": 3, "kube_version": ""}),
        (
            "lifecycle_runtime = sandbox\nlifecycle_nodes = 2\nlifecycle_kube_version = v1.20.2",
            (),
            {"runtime": "sandbox", "nodes": 2, "kube_version": "v1.20.2"},
        ),
        (
            "lifecycle_runtime = sandbox\nlifecycle_nodes = 2\nlifecycle_kube_version = v1.20.2",
            ("--lifecycle-runtime=containerd", "--lifecycle-nodes=0", "--lifecycle-kube-version=v1.19"),
            {"runtime": "containerd", "nodes": 0, "kube_version": "v1.19"},
        ),
        ("lifecycle_nodes = -1", (), {"runtime": "hollow", "nodes": -1, "kube_version": ""}),
    ],
)
def test_the_command_line_goes_before_the_configuration(
    run: Run, wanted: list[Any], settings: str, arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    run(ASKS, *arguments, settings=settings).assert_outcomes(passed=1)
    assert wanted == [options]


def test_a_projects_own_options_come_last(run: Run, theirs: pytest.Pytester, wanted: list[Any]) -> None:
    theirs.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def lifecycle_cluster_options():
            return {"nodes": 7, "seed": 1}
        """
    )
    run(ASKS, "--lifecycle-nodes=2").assert_outcomes(passed=1)
    assert wanted == [{"runtime": "hollow", "nodes": 7, "kube_version": "", "seed": 1}]


@pytest.mark.parametrize("nodes", ["many", "x3", "3.0", "-"])
def test_what_is_no_number_of_nodes_is_said(run: Run, wanted: list[Any], nodes: str) -> None:
    result = run(ASKS, settings=f"lifecycle_nodes = {nodes}")
    result.assert_outcomes(errors=1)
    words = f"the cluster does not start: lifecycle_nodes is a number of machines, not {nodes!r}"
    result.stdout.fnmatch_lines([words])
    assert wanted == []


@pytest.mark.parametrize("error", [ValueError, OSError, RuntimeError, TimeoutError])
def test_why_a_cluster_does_not_start_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    def up(**_: Any) -> Any:
        raise error("there is no room")

    monkeypatch.setattr(lifecycle, "up", up)
    result = run(ASKS)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["the cluster does not start: there is no room"])


def test_a_mistake_of_ours_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "up", lambda **options: options["no-such"])
    result = run(ASKS)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E * KeyError: 'no-such'"])


@pytest.mark.parametrize("end", ["pass", "raise OSError", "lifecycle_cluster.kubeconfig.unlink()"])
def test_the_cluster_and_its_key_go_with_the_session(
    run: Run, theirs: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    running = Running()
    monkeypatch.setattr(lifecycle, "up", lambda **_: running)
    result = run(f"""
def test_one(lifecycle_cluster):
    assert lifecycle_cluster.namespace == "default"
    assert lifecycle_cluster.kubeconfig.exists()
    assert lifecycle_cluster.running.stopped == 0

def test_two(lifecycle_cluster):
    {end}
""")
    result.assert_outcomes(passed=2 - ("raise" in end), failed="raise" in end)
    assert running.stopped == 1
    assert list(theirs.path.rglob("kubeconfig")) == []


def test_a_namespace_and_its_key_go_with_the_test(
    run: Run, theirs: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running()
    monkeypatch.setattr(lifecycle, "up", lambda **_: running)
    result = run("""
keys = []

def test_one(lifecycle_namespace):
    keys.append(lifecycle_namespace.kubeconfig)
    assert lifecycle_namespace.running.names("namespaces", "") == [lifecycle_namespace.namespace] == ["test-one-1"]

def test_two(lifecycle_namespace):
    assert not keys[0].exists()
    assert lifecycle_namespace.kubeconfig != keys[0]
    assert lifecycle_namespace.running.names("namespaces", "") == ["test-two-2"]
    lifecycle_namespace.kubeconfig.unlink()
""")
    result.assert_outcomes(passed=2)
    assert running.names("namespaces", "") == []
    assert list(theirs.path.rglob("kubeconfig")) == []


def test_a_namespace_is_called_after_its_test(run: Run) -> None:
    result = run(f"""
import pytest

def test_max(lifecycle_namespace):
    assert lifecycle_namespace.namespace == "test-max-1"

def test__UPPER__(lifecycle_namespace):
    assert lifecycle_namespace.namespace == "test-upper-2"

@pytest.mark.parametrize("word", ["x y/Z", "9"])
def test_words(lifecycle_namespace, word):
    assert lifecycle_namespace.namespace == {{"x y/Z": "test-words-x-y-z-3", "9": "test-words-9-4"}}[word]

def test_{"o" * 44}pqrs(lifecycle_namespace):
    assert lifecycle_namespace.namespace == "test-{"o" * 44}p-5"
""")
    result.assert_outcomes(passed=5)


def test_pods_may_come_as_soon_as_the_test_begins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    running, asked = Running(), []
    running.api.refuse = lambda request: asked.append(request.path)
    monkeypatch.setattr(lifecycle, "up", lambda **_: running)
    run(
        "def test_it(lifecycle_namespace): lifecycle_namespace.running.api.refuse = lambda request: None"
    ).assert_outcomes(passed=1)
    assert asked[-1] == "/api/v1/namespaces/test-it-1/serviceaccounts", "who has none is refused"


def test_of_an_empty_namespace_nothing_is_said(run: Run) -> None:
    result = run("def test_it(lifecycle_namespace): assert not lifecycle_namespace")
    result.assert_outcomes(failed=1)
    for title in ("kubectl get all -o wide -n test-it-1", "kubectl get events -n test-it-1"):
        result.stdout.re_match_lines([f"^-+ {title} -+$", "^nothing$"], consecutive=True)


def test_a_cluster_that_cannot_answer_any_more_is_quoted(run: Run) -> None:
    result = run("""
def test_it(lifecycle_namespace):
    def kubectl(command):
        raise RuntimeError(f"{command}: the cluster is not running")

    lifecycle_namespace.kubectl = kubectl
    assert not lifecycle_namespace
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["get all -o wide: the cluster is not running", "get events: the cluster is not running"]
    )


@pytest.mark.parametrize(
    ("test", "outcomes"),
    [
        ("def test_it(lifecycle_namespace): pass", {"passed": 1}),
        ("def test_it(lifecycle_cluster): assert not lifecycle_cluster", {"failed": 1}),
        ("def test_it(lifecycle_namespace, no_such): pass", {"errors": 1}),
    ],
)
def test_nothing_is_said_of_a_namespace_that_no_test_has_failed_in(
    run: Run, test: str, outcomes: dict[str, int]
) -> None:
    result = run(test, "-rA")
    result.assert_outcomes(**outcomes)
    result.stdout.no_fnmatch_line("*kubectl get*")
