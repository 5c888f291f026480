"""The operator against a cluster that pytest starts: no kind, no mocks."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kopf.testing import KopfRunner

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest, KubectlFailed

# kopf and the official client leave open connections to Python's garbage collector
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)

HERE = Path(__file__).parent
WEBSITE: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "Website",
    "metadata": {"name": "hello"},
    "spec": {"page": "<h1>hello</h1>", "replicas": 3},
}


@pytest.fixture(scope="module")
def definition(lifecycle_cluster: ClusterUnderTest) -> None:
    lifecycle_cluster.apply(HERE / "websites.yaml")
    lifecycle_cluster.wait_for("crd/websites.example.org", "condition=Established")


@pytest.fixture
def own_logging() -> Iterator[None]:
    """kopf sets up the root logger as it likes; other tests get it back."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture
def site(
    definition: None,
    own_logging: None,
    lifecycle_namespace: ClusterUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[ClusterUnderTest]:
    """A namespace in which the operator runs."""
    monkeypatch.setenv("KUBECONFIG", str(lifecycle_namespace.kubeconfig))
    command = ["run", "--namespace", lifecycle_namespace.namespace]
    with KopfRunner(
        [*command, str(HERE / "website_operator.py")], timeout=30
    ) as operator:
        yield lifecycle_namespace
    gc.collect()
    assert operator.exit_code == 0, operator.output


def test_a_website_is_served_by_as_many_pods_as_it_asks_for(
    site: ClusterUnderTest,
) -> None:
    site.apply(WEBSITE)
    site.wait_for("deployment/hello", "condition=Available")
    website = site.wait_for("website/hello", "jsonpath={.status.ready}=3/3")
    assert website["spec"]["replicas"] == 3
    assert "<h1>hello</h1>" in site.kubectl("get configmap hello -o yaml")


def test_a_changed_page_and_number_arrive(site: ClusterUnderTest) -> None:
    site.apply(WEBSITE)
    site.wait_for("website/hello", "jsonpath={.status.ready}=3/3")
    site.apply({**WEBSITE, "spec": {"page": "<h1>good-bye</h1>", "replicas": 1}})
    site.wait_for("website/hello", "jsonpath={.status.ready}=1/1")
    site.wait_for("configmap/hello", lambda c: "good-bye" in c["data"]["index.html"])


def test_what_a_website_owned_goes_with_it(site: ClusterUnderTest) -> None:
    site.apply(WEBSITE)
    site.wait_for("deployment/hello")
    site.kubectl("delete website hello")
    site.wait_for("deployment/hello", "delete")
    site.wait_for("configmap/hello", "delete")


@pytest.mark.usefixtures("definition")
def test_a_website_without_a_page_is_refused(
    lifecycle_namespace: ClusterUnderTest,
) -> None:
    with pytest.raises(KubectlFailed, match=r"spec\.page: Required value"):
        lifecycle_namespace.apply({**WEBSITE, "spec": {"replicas": 1}})
