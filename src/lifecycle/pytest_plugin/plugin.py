"""The plugin as pytest loads it: options, fixtures, and what is said of a test that
failed.

`lifecycle_cluster` is one cluster for the session (with pytest-xdist: one for each
worker), `lifecycle_namespace` a namespace of it for each test. A project says what
cluster it wants by `--lifecycle-runtime`, `--lifecycle-nodes` and
`--lifecycle-kube-version`, by settings of the same names (`lifecycle_runtime` …) in its
pytest configuration, or by a fixture `lifecycle_cluster_options` of its own: what it
returns goes to `lifecycle.up`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest

RUNTIMES = "hollow (the default), sandbox, containerd"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--lifecycle-runtime` and the others, and the same as settings."""
    group = parser.getgroup("lifecycle", "a Kubernetes cluster for tests")
    runtime, nodes = f"what its nodes run containers with: {RUNTIMES}", "its machines"
    version = "an older Kubernetes whose API it shows: v1.20.2"
    group.addoption("--lifecycle-runtime", metavar="NAME", help=runtime)
    group.addoption("--lifecycle-nodes", metavar="N", type=int, help=nodes)
    parser.addini("lifecycle_runtime", runtime, default="hollow")
    parser.addini("lifecycle_nodes", nodes, default="3")
    group.addoption("--lifecycle-kube-version", metavar="VERSION", help=version)
    parser.addini("lifecycle_kube_version", version, default="")


@pytest.fixture(scope="session")
def lifecycle_cluster_options() -> dict[str, Any]:
    """What `lifecycle.up` is told besides runtime and nodes; a project overrides it."""
    return {}


@pytest.fixture(scope="session")
def lifecycle_cluster(
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
    lifecycle_cluster_options: dict[str, Any],
) -> Iterator[ClusterUnderTest]:
    """A cluster that runs for the whole session, seen from its namespace `default`."""
    import lifecycle
    from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest

    try:
        running = lifecycle.up(
            **{**_configured(pytestconfig), **lifecycle_cluster_options}
        ).start()
    except (ValueError, OSError, RuntimeError) as error:
        pytest.fail(f"the cluster does not start: {error}", pytrace=False)
    try:
        under_test = ClusterUnderTest(running, tmp_path_factory.mktemp("lifecycle"))
        yield under_test
        under_test.kubeconfig.unlink(missing_ok=True)  # it holds a key
    finally:
        running.stop()


def _configured(config: pytest.Config) -> dict[str, Any]:
    nodes = _option(config, "lifecycle_nodes")
    if not str(nodes).lstrip("-").isdigit():
        raise ValueError(f"lifecycle_nodes is a number of machines, not {nodes!r}")
    return {
        "runtime": _option(config, "lifecycle_runtime"),
        "nodes": int(nodes),
        "kube_version": _option(config, "lifecycle_kube_version"),
    }


def _option(config: pytest.Config, name: str) -> Any:
    """What the command line says, else what the configuration does."""
    typed = config.getoption(f"--{name.replace('_', '-')}")
    return config.getini(name) if typed is None else typed


@pytest.fixture
def lifecycle_namespace(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    lifecycle_cluster: ClusterUnderTest,
) -> Iterator[ClusterUnderTest]:
    """The cluster, seen from a namespace that only this test has. It is deleted after
    the test, with all that is in it.
    """
    from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest

    number = request.config.stash.setdefault(_COUNT, 0) + 1
    request.config.stash[_COUNT] = number
    name = re.sub("[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:50]
    name = f"{name}-{number}"
    lifecycle_cluster.kubectl("create", "namespace", name)
    folder = tmp_path_factory.mktemp(name)
    seen_from = ClusterUnderTest(lifecycle_cluster.running, folder, name)
    # a pod that comes before its service account is refused
    seen_from.wait_for("serviceaccount/default")
    yield seen_from
    seen_from.kubeconfig.unlink(missing_ok=True)
    lifecycle_cluster.kubectl("delete", "namespace", name, "--wait=false")


_COUNT = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """To a test that failed: what its namespace looked like, and what happened."""
    report = yield
    namespace = getattr(item, "funcargs", {}).get("lifecycle_namespace")
    if report.when == "call" and report.failed and namespace is not None:
        for command in ("get all -o wide", "get events"):
            title = f"kubectl {command} -n {namespace.namespace}"
            report.sections.append((title, _answer(namespace, command)))
    return report


def _answer(namespace: ClusterUnderTest, command: str) -> str:
    try:
        return namespace.kubectl(command) or "nothing"
    except Exception as error:  # the cluster may be what has failed
        return str(error)
