"""The real kube-controller-manager and ours, each at work for one of two equal API servers: what is left, told and written.

Both clusters have our API server, scheduler and hollow kubelets, so that only the controllers differ. All scenes run at once on
both. Runs where `KUBE_BIN` is set.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import all_resources
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.client.rest import Client
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.live.controller_scenes import SCENES
from tests.live.real_programs import identity, kube_bin, real_controller_manager
from tests.live.stage import Stage, quiet
from tests.live.witness import (
    POLICY,
    Outcome,
    differences,
    events,
    objects,
    of_a_namespace_that_ends,
    untold,
    unwritten,
    writes,
)

MANAGER = "system:kube-controller-manager"
CONTROLLERS = (MANAGER, "system:serviceaccount:kube-system:")
NODES = 2
BESIDE = (
    "namespaces",
    "persistentvolumes",
    "clusterroles.rbac.authorization.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
)
"""In no namespace; those with a scene's name are its own."""

Outcomes = dict[str, Outcome]


def _kept_free(node: Object) -> bool:
    """Whether pods wait because the node has not been seen as ready."""
    return any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", ()))


async def _play(client: Client, name: str) -> tuple[str, Outcome]:
    outcome = Outcome()
    stage = Stage(client, name)
    try:
        await stage.open()
        await SCENES[name](stage)
    except Exception as error:  # the other scenes go on
        outcome.error = repr(error)
    return name, outcome


async def _played(client: Client) -> Outcomes:
    # A controller manager that starts later lifts the nodes' taints later; no scene is about that.
    await Stage(client, "").until(
        "nodes", lambda items: len(items) == NODES and not any(map(_kept_free, items.values()))
    )
    outcomes = dict(await asyncio.gather(*(_play(client, name) for name in SCENES)))
    shown = [row for row in all_resources() if row.plural not in ("events", "leases", "nodes")]
    await quiet(client, [row for row in shown if "watch" in row.verbs and (row.namespaced or row.plural in BESIDE)])
    for name, outcome in outcomes.items():
        outcome.lists = await objects(client, name, BESIDE)
        outcome.events = await events(client, name)
    return outcomes


def outcomes_of(folder: Path, *, real: bool) -> Outcomes:
    """Play all scenes on a cluster with the real controllers, or with ours."""
    folder.mkdir()
    policy, log = folder / "policy.yaml", folder / "audit.log"
    policy.write_text(POLICY)
    config = ClusterConfig(
        nodes=NODES,
        seed=7,
        cert_dir=folder / "pki",
        without=("controllers",) if real else (),
        audit=AuditOptions(policy_file=policy, log_path=log),
    )
    with BackgroundCluster(config) as running, contextlib.ExitStack() as programs:
        cluster = running.cluster
        assert cluster is not None
        if real:
            authority = cluster.server.certificates
            connection = identity(authority, cluster.url, folder / "kubeconfig", MANAGER, context="real")
            programs.enter_context(real_controller_manager(connection, folder, folder / "pki"))
        outcomes = running.run(_played(cluster.client("kubectl")))
    made = writes(log, CONTROLLERS)
    for name, outcome in outcomes.items():
        outcome.writes = made.get(name, Counter()) + of_a_namespace_that_ends(made.get(f"{name}-doomed", Counter()))
    return outcomes


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Outcomes, Outcomes]]:
    """Ours and theirs, by scene."""
    kube_bin("kube-controller-manager")
    folder = tmp_path_factory.mktemp("controllers")
    with ThreadPoolExecutor(2) as threads:
        sides = [threads.submit(outcomes_of, folder / name, real=name == "theirs") for name in ("ours", "theirs")]
        yield sides[0].result(), sides[1].result()


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_objects_are_left(outcomes: tuple[Outcomes, Outcomes], scene: str) -> None:
    ours, theirs = (side[scene] for side in outcomes)
    assert (ours.error, theirs.error) == ("", "")
    assert ours.lists
    assert [str(difference) for difference in differences(ours, theirs)] == []


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_is_told(outcomes: tuple[Outcomes, Outcomes], scene: str) -> None:
    assert untold(*(side[scene] for side in outcomes)) == []


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_writes_are_made(outcomes: tuple[Outcomes, Outcomes], scene: str) -> None:
    ours, theirs = (side[scene] for side in outcomes)
    assert ours.writes
    assert unwritten(ours, theirs) == []
