"""`describe` in one process, on virtual time: what belongs to an object stands with it, and ages are those of the cluster's clock."""

from __future__ import annotations

import asyncio
import io

from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.kubectl.command import run_kubectl
from tests.kubectl.fake_server import kubectl


def typed(*lines: str, seconds: float = 60) -> tuple[int, str, str]:
    """The answer to the last line; `seconds` pass before it."""

    async def scene(cluster: RehearsedCluster) -> tuple[int, str, str]:
        async def run(line: str) -> tuple[int, str, str]:
            out, err = io.StringIO(), io.StringIO()
            code = await run_kubectl(line.split(), cluster.client("kubectl"), out=out, err=err)
            return code, out.getvalue(), err.getvalue()

        for line in lines[:-1]:
            assert (await run(line))[0] == 0, line
        await asyncio.sleep(seconds)
        return await run(lines[-1])

    return rehearse(scene, nodes=3)


def test_a_pod_is_described_with_its_events_and_their_ages_on_the_clusters_clock() -> None:
    code, out, err = typed("run web --image=nginx", "describe pod web", seconds=90)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Name:             web"
    assert "Status:           Running" in lines
    assert "\nStart Time:       " in out
    events = [line.split() for line in lines[lines.index("Events:") + 3 :]]
    assert [event[1] for event in events][:1] == ["Scheduled"]
    assert {event[2] for event in events} <= {f"{seconds}s" for seconds in range(80, 91)}


def test_a_deployment_names_its_replica_sets_old_and_new() -> None:
    _, out, _ = typed(
        "create deployment web --image=nginx:1 --replicas=2",
        "rollout status deployment web",
        "set image deployment/web nginx=nginx:2",
        "rollout status deployment web",
        "describe deploy web",
    )
    [old] = [line for line in out.splitlines() if line.startswith("OldReplicaSets:")]
    [new] = [line for line in out.splitlines() if line.startswith("NewReplicaSet:")]
    assert "(0/0 replicas created)" in old
    assert "(2/2 replicas created)" in new
    assert "Replicas:               2 desired | 2 updated | 2 total | 2 available | 0 unavailable" in out


def test_a_prefix_is_enough_where_nothing_has_that_name() -> None:
    _, out, err = typed(
        "create deployment web --image=nginx --replicas=2", "run other --image=nginx", "describe pod we"
    )
    names = [line.split()[1] for line in out.splitlines() if line.startswith("Name:")]
    assert (len(names), err) == (2, "")
    assert all(name.startswith("web-") for name in names)
    assert "Events:" not in out, "of several, what happened is shown only if asked for"


def test_nothing_of_that_name_or_prefix_is_the_first_refusal() -> None:
    assert typed("describe pod nope") == (1, "", 'Error from server (NotFound): pods "nope" not found\n')


def test_no_type_at_all_is_a_mistake() -> None:
    code, out, err, _ = kubectl("describe")
    assert (code, out) == (1, "")
    assert err.startswith("error: You must specify the type of resource to describe. Use")


def test_a_node_adds_up_what_its_pods_ask_for() -> None:
    _, out, _ = typed("run web --image=nginx", "describe node lifecycle-worker")
    assert "Non-terminated Pods:" in out
    assert "cpu                " in out
    assert "NodeReady" in out or "RegisteredNode" in out
