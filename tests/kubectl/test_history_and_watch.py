"""What came before, and what comes next: `rollout history`, `rollout undo`, `get --watch`, on a whole cluster."""

from __future__ import annotations

import asyncio
import io
import re

from lifecycle.api import fast_json
from lifecycle.cluster.command_line import Typed, type_line
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.inspector.transcript import parse_transcript
from lifecycle.kubectl.command import run_kubectl
from tests.conftest import RECORDINGS

KUBECTL = RECORDINGS / "kind-1.36.2" / "kubectl"


def typed(*lines: str) -> list[Typed]:
    """Lines of which each has half a minute to take effect."""

    async def scene(cluster: RehearsedCluster) -> list[Typed]:
        said = []
        for line in lines:
            said.append(await type_line(line, cluster.client("kubectl").transport))
            await asyncio.sleep(30)
        return said

    return rehearse(scene, nodes=1)


JOURNEY = ("create deployment nginx --image=nginx:1.27", "set image deployment/nginx nginx=nginx:1.28")


def test_history_and_undo_say_what_the_recorded_kubectl_said():
    _, _, history, undo, after = typed(
        *JOURNEY, "rollout history deployment/nginx", "rollout undo deployment/nginx", "rollout history deploy nginx"
    )
    assert history.out + "\n" == parse_transcript((KUBECTL / "05-history.txt").read_text()).out
    assert undo.out + "\n" == parse_transcript((KUBECTL / "06-undo.txt").read_text()).out
    assert [line.split()[0] for line in after.out.splitlines()[2:4]] == ["2", "3"]


def test_undo_sends_the_recorded_patch():
    undo = typed(*JOURNEY, "rollout undo deployment/nginx")[-1]
    recorded = re.search(r'"Request Body" body="(\[.*\])"$', (KUBECTL / "06-undo.txt").read_text(), re.MULTILINE)
    assert recorded is not None
    assert undo.requests[-1][0].obj == fast_json.loads(recorded[1].replace('\\"', '"'))


def test_undo_refuses_what_is_not_there():
    said = typed(
        JOURNEY[0],
        "rollout undo deployment/nginx",
        "rollout undo deployment/nginx --to-revision=9",
        "rollout undo deployment/nginx --to-revision=1",
        "rollout history service/kubernetes",
    )
    assert [answer.err + answer.out for answer in said[1:]] == [
        'error: no rollout history found for deployment "nginx"\n',
        "error: unable to find specified revision 9 in history\n",
        "deployment.apps/nginx skipped rollback (current template already matches revision 1)\n",
        'error: error retrieving history for "Service", no visitor method exists for { Service}\n',
    ]


def test_a_watch_prints_the_table_and_then_a_row_for_each_change():
    out = io.StringIO()

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("kubectl")
        watching = asyncio.create_task(run_kubectl(["get", "pods", "-w"], client, out=out, err=out))
        await asyncio.sleep(1)
        await type_line("run web --image=nginx", client.transport)
        await asyncio.sleep(30)
        watching.cancel()

    rehearse(scene, nodes=2)
    header, *rows = out.getvalue().splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert {row.index("0/1") for row in rows if "0/1" in row} == {header.index("READY")}
    assert [row.split()[2] for row in (rows[0], rows[-1])] == ["Pending", "Running"]


def watched(line: str) -> str:
    """What a watch prints of a ConfigMap that is there, another that comes and goes, and a change of the first."""
    out = io.StringIO()

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("kubectl")
        await type_line("create configmap one --from-literal=a=b", client.transport)
        watching = asyncio.create_task(run_kubectl(line.split(), client, out=out, err=out))
        await asyncio.sleep(1)
        for other in ("create configmap two", "delete configmap two", "annotate configmap one x=y"):
            await type_line(other, client.transport)
            await asyncio.sleep(1)
        watching.cancel()

    rehearse(scene, nodes=1)
    return out.getvalue()


NOT_OURS = "--field-selector=metadata.name!=kube-root-ca.crt"


def test_a_watch_prints_objects_in_any_format():
    assert watched(f"get cm -w -o name {NOT_OURS}").split() == [f"configmap/{n}" for n in ("one", "two", "two", "one")]
    assert watched("get cm one -w -o jsonpath={.metadata.annotations.x};") == ";y;"
    assert watched("get cm one --watch-only -o go-template={{.metadata.name}};") == "one;"
    documents = watched("get cm one -w -o yaml").split("---\n")
    assert ['x: "y"' in text for text in documents] == [False, True]
    assert watched(f"get cm -w -o custom-columns=NAME:.metadata.name {NOT_OURS}").split() == [
        "NAME",
        "one",
        "two",
        "two",
        "one",
    ]


def test_a_watch_says_what_happened_if_asked():
    rows = watched(f"get cm -w --output-watch-events {NOT_OURS}").splitlines()
    assert [row.split()[:2] for row in rows] == [
        ["EVENT", "NAME"],
        ["ADDED", "one"],
        ["ADDED", "two"],
        ["DELETED", "two"],
        ["MODIFIED", "one"],
    ]
    assert {row.index(row.split()[1]) for row in rows} == {11}
    events = [fast_json.loads(line) for line in watched("get cm one -w --output-watch-events -o json").splitlines()]
    assert [(event["type"], event["object"]["kind"]) for event in events] == [
        ("ADDED", "ConfigMap"),
        ("MODIFIED", "ConfigMap"),
    ]
    complaint = "error: --output-watch-events option can only be used with --watch or --watch-only\n"
    assert watched("get cm --output-watch-events") == complaint
