"""Commands against a server that only remembers: which requests are made, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.kubectl.three_way_merge import three_way_merge_patch
from tests.kubectl.fake_server import FakeServer, kubectl

RECORDINGS = Path(__file__).parents[2] / "recordings" / "kind-1.36.2"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def audited(verb, resource, subresource=None):
    """The kubectl requests of the recorded journey: (request object, response object)."""
    lines = map(json.loads, (RECORDINGS / "audit" / "journey.jsonl").read_bytes().splitlines())
    return [
        (e["requestObject"], e["responseObject"], e["requestURI"])
        for e in lines
        if e["stage"] == "ResponseComplete"
        and e["userAgent"].startswith("kubectl")
        and (e["verb"], e["objectRef"]["resource"], e["objectRef"].get("subresource")) == (verb, resource, subresource)
    ]


def deployment(image="nginx:1.27", **status):
    template = {"metadata": {"labels": {"app": "nginx"}}, "spec": {"containers": [{"name": "nginx", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx", "namespace": "default", "generation": 1, "labels": {"app": "nginx"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "nginx"}}, "template": template},
        "status": {"observedGeneration": 1, **status},
    }


def test_create_deployment_posts_once_and_asks_no_discovery():
    code, out, err, server = kubectl("create deployment nginx --image=nginx:1.27 --replicas=3")
    assert (code, out, err) == (0, "deployment.apps/nginx created\n", "")
    (request,) = server.requests
    assert server.discovered == []
    assert (request.method, request.path) == ("POST", DEPLOYMENTS)
    assert request.query == {"fieldManager": ["kubectl-create"], "fieldValidation": ["Strict"]}
    assert request.headers["user-agent"].startswith("kubectl/")
    recorded = audited("create", "deployments")[0][0]
    assert {**request.obj["spec"], "replicas": 3}["replicas"] == recorded["spec"]["replicas"]
    for key in ("selector", "replicas"):
        assert request.obj["spec"][key] == recorded["spec"][key]


def test_server_side_refusals_are_reported_in_the_commands_words():
    taken = {
        "kind": "Status",
        "code": 409,
        "reason": "AlreadyExists",
        "message": 'deployments.apps "nginx" already exists',
    }
    code, out, err, _ = kubectl("create deployment nginx --image=nginx", {f"POST {DEPLOYMENTS}": (409, taken)})
    assert (code, out, err) == (1, "", 'error: failed to create deployment: deployments.apps "nginx" already exists\n')
    code, _, err, _ = kubectl("get pods nope")
    assert (code, err) == (1, 'Error from server (NotFound): pods "nope" not found\n')


def test_invalid_objects_list_their_causes():
    causes = [{"field": "a", "message": "x"}, {"field": "b", "message": "y"}, {"field": "a", "message": "x"}]
    status = {
        "kind": "Status",
        "code": 422,
        "reason": "Invalid",
        "message": "m",
        "details": {"name": "n", "kind": "Namespace", "causes": causes},
    }
    code, _, err, _ = kubectl("create namespace n", {"POST /api/v1/namespaces": (422, status)})
    assert (code, err) == (1, 'The Namespace "n" is invalid: \n* a: x\n* b: y\n')
    status["details"]["causes"] = causes[:1]
    assert (
        kubectl("create namespace n", {"POST /api/v1/namespaces": (422, status)})[2]
        == 'The Namespace "n" is invalid: a: x\n'
    )


@pytest.mark.parametrize(
    "command", ["run x --image=BAD!!", "run --image=nginx --port=80 --expose", "run x --image=nginx --replicas=3"]
)
def test_what_can_never_succeed_makes_no_request(command):
    code, out, _, server = kubectl(command)
    assert (code, out, server.requests, server.discovered) == (1, "", [], [])


def test_create_deployment_lets_a_bad_image_through():
    code, _, _, server = kubectl("create deployment x --image=BAD!!")
    assert code == 0
    assert server.requests[0].obj["spec"]["template"]["spec"]["containers"][0]["image"] == "BAD!!"


def test_run_posts_the_pod_then_the_service_but_prints_the_service_first():
    code, out, _, server = kubectl("run nginx --image=nginx --port=80 --expose -n web")
    assert (code, out) == (0, "service/nginx created\npod/nginx created\n")
    assert server.asked() == ["POST /api/v1/namespaces/web/pods", "POST /api/v1/namespaces/web/services"]
    assert server.discovered[:2] == ["/api", "/apis"]
    assert server.requests[1].obj["spec"]["selector"] == {"run": "nginx"}


@pytest.mark.parametrize(("strategy", "sent"), [("client", []), ("server", [["All"]]), ("none", [None])])
def test_three_kinds_of_dry_run(strategy, sent):
    _, out, _, server = kubectl(f"create deployment x --image=nginx --dry-run={strategy}")
    assert [request.query.get("dryRun") for request in server.requests] == sent
    note = {"client": " (dry run)", "server": " (server dry run)", "none": ""}[strategy]
    assert out == f"deployment.apps/x created{note}\n"


def test_expose_sends_what_the_real_kubectl_sent():
    ((body, _, uri),) = audited("create", "services")
    live = audited("create", "deployments")[0][1]
    code, out, _, server = kubectl(
        "expose deployment nginx --port=80 -n journey",
        {
            "GET "
            + uri.replace("/api/v1", "/apis/apps/v1").replace(
                "services?fieldManager=kubectl-expose", "deployments/nginx"
            ): live
        },
    )
    assert (code, out) == (0, "service/nginx exposed\n")
    sent = server.requests[-1]
    assert sent.query["fieldManager"] == ["kubectl-expose"]
    for part in ("selector",):
        assert sent.obj["spec"][part] == body["spec"][part]
    assert sent.obj["metadata"]["labels"] == body["metadata"]["labels"]
    assert [(p["port"], p["targetPort"], p["protocol"]) for p in sent.obj["spec"]["ports"]] == [(80, 80, "TCP")]


def test_expose_reads_ports_and_protocols_off_the_object():
    live = deployment()
    live["spec"]["template"]["spec"]["containers"][0]["ports"] = [
        {"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53, "protocol": "TCP"}, {"containerPort": 80}]  # fmt: skip
    _, out, _, _ = kubectl(
        "expose deploy/nginx --dry-run=client -o json --type=NodePort", {f"GET {DEPLOYMENTS}/nginx": live}
    )
    spec = json.loads(out)["spec"]
    assert spec["type"] == "NodePort"
    assert [(p["name"], p["protocol"], p["port"]) for p in spec["ports"]] == [
        ("port-1-udp", "UDP", 53),
        ("port-1-tcp", "TCP", 53),
        ("port-2", "TCP", 80),
    ]
    _, _, err, _ = kubectl("expose deploy nginx", {f"GET {DEPLOYMENTS}/nginx": deployment()})
    assert err == "error: couldn't find port via --port flag or introspection\n"
    _, _, err, _ = kubectl(
        "expose node n --port=1",
        {"GET /api/v1/nodes/n": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}},
    )
    assert err == "error: cannot expose a Node\n"


def test_scale_patches_the_scale_subresource():
    bodies = [body for body, _, _ in audited("patch", "deployments", "scale")]
    answers = {f"GET {DEPLOYMENTS}/nginx": deployment(), f"PATCH {DEPLOYMENTS}/nginx/scale": {"kind": "Scale"}}
    code, out, _, server = kubectl("scale deployment nginx --replicas=5", answers)
    assert (code, out) == (0, "deployment.apps/nginx scaled\n")
    assert server.asked() == [f"GET {DEPLOYMENTS}/nginx", f"PATCH {DEPLOYMENTS}/nginx/scale"]
    assert server.requests[-1].obj == bodies[0]
    answers[f"GET {DEPLOYMENTS}/nginx/scale"] = {"spec": {"replicas": 3}}
    _, _, err, _ = kubectl("scale deployment nginx --replicas=5 --current-replicas=2", answers)
    assert err == "error: Expected replicas to be 2, was 3\n"


def test_set_image_sends_what_the_real_kubectl_sent():
    body = next(body for body, _, uri in audited("patch", "deployments") if "kubectl-set" in uri)
    answers = {f"GET {DEPLOYMENTS}/nginx": deployment(), f"PATCH {DEPLOYMENTS}/nginx": deployment(image="nginx:1.28")}
    code, out, _, server = kubectl("set image deployment/nginx nginx=nginx:1.28", answers)
    assert (code, out) == (0, "deployment.apps/nginx image updated\n")
    assert server.requests[-1].obj == body
    assert server.requests[-1].headers["content-type"] == "application/strategic-merge-patch+json"
    assert kubectl("set image deployment/nginx nope=x", answers)[2] == 'error: unable to find container named "nope"\n'


def test_delete_reports_and_waits():
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "deletionTimestamp": "t"}}
    pods = "/api/v1/namespaces/default/pods"
    answers = {
        f"DELETE {pods}/p": pod,
        f"GET {pods}/p": pod,
        f"GET {pods}": {"metadata": {"resourceVersion": "5"}, "items": [pod]},
        f"WATCH {pods}": [("MODIFIED", pod), ("DELETED", pod)],
    }
    code, out, _, server = kubectl("delete pod p", answers)
    assert (code, out) == (0, 'pod "p" deleted from default namespace\n')
    assert server.requests[0].obj["propagationPolicy"] == "Background"
    assert server.requests[-1].query["resourceVersion"] == ["5"]
    gone = {"kind": "Status", "status": "Success"}
    _, out, _, _ = kubectl(
        "delete deployment,service nginx --wait=false",
        {f"DELETE {DEPLOYMENTS}/nginx": gone, "DELETE /api/v1/namespaces/default/services/nginx": gone},
    )
    recorded = (RECORDINGS / "kubectl" / "10-delete.txt").read_text()
    assert out.replace("default", "journey") in recorded
    assert kubectl("delete pod p --ignore-not-found")[:2] == (0, "")
    assert kubectl("delete pod")[2] == "error: resource(s) were provided, but no name was specified\n"


def test_get_prints_the_servers_table_as_the_real_kubectl_does():
    """The recorded text, taken apart into tables, must come out again."""
    text = (RECORDINGS / "kubectl" / "07-get.txt").read_text().split("\n", 2)[2].partition("[stderr]")[0].strip("\n")
    answers = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        starts = [i for i, c in enumerate(lines[0]) if c != " " and (i == 0 or lines[0][i - 3 : i] == "   ")]
        cells = [[line[a:b].rstrip() for a, b in zip(starts, [*starts[1:], None])] for line in lines]
        kind, _, _ = cells[1][0].partition("/")
        path = {"pod": "/api/v1/namespaces/default/pods", "service": "/api/v1/namespaces/default/services"}.get(
            kind, f"/apis/apps/v1/namespaces/default/{kind.partition('.')[0]}s"
        )
        rows = [{"cells": [row[0].partition("/")[2], *row[1:]]} for row in cells[1:]]
        columns = [{"name": name.capitalize(), "priority": 0} for name in cells[0]]
        answers[f"GET {path}"] = {"kind": "Table", "columnDefinitions": columns, "rows": rows}
    empty = {"kind": "Table", "columnDefinitions": [], "rows": []}
    server = FakeServer(answers)
    server.answers = {**{f"GET {p}": empty for p in _all_paths()}, **answers}
    code, out, _, _ = kubectl("get all -o wide", server=server)
    assert code == 0
    assert out.strip("\n") == text
    assert "as=Table" in server.requests[0].headers["accept"]


def _all_paths():
    base, apps = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
    yield from (f"{base}/{p}" for p in ("pods", "replicationcontrollers", "services"))
    yield from (f"{apps}/{p}" for p in ("daemonsets", "deployments", "replicasets", "statefulsets"))
    yield "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    yield from (f"/apis/batch/v1/namespaces/default/{p}" for p in ("cronjobs", "jobs"))


def test_get_in_other_formats():
    item = {"metadata": {"name": "a", "managedFields": [1]}, "data": {"z": "1", "b": "2"}}
    listed = {"kind": "ConfigMapList", "apiVersion": "v1", "items": [item]}
    path = "GET /api/v1/namespaces/default/configmaps"
    assert kubectl("get cm -o name", {path: listed})[1] == "configmap/a\n"
    shown = json.loads(kubectl("get cm -o json", {path: listed})[1])
    assert shown["items"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2", "z": "1"}, "metadata": {"name": "a"}}
    ]
    one = {"apiVersion": "v1", "kind": "ConfigMap", **item}
    _, out, _, _ = kubectl("get cm/a -o yaml", {f"{path}/a": one})
    assert out == 'apiVersion: v1\ndata:\n  b: "2"\n  z: "1"\nkind: ConfigMap\nmetadata:\n  name: a\n'
    assert kubectl("get cm", {path: {"kind": "Table", "rows": []}})[2] == "No resources found in default namespace.\n"
    assert kubectl("get nodes", {"GET /api/v1/nodes": {"kind": "Table", "rows": []}})[2] == "No resources found\n"
    assert kubectl("get nonsense")[2] == 'error: the server doesn\'t have a resource type "nonsense"\n'


def test_rollout_status_tells_every_step():
    steps = [
        deployment(),
        deployment(updatedReplicas=3, replicas=4, availableReplicas=1),
        deployment(updatedReplicas=3, replicas=3, availableReplicas=2),
        deployment(updatedReplicas=3, replicas=3, availableReplicas=2),
        deployment(updatedReplicas=3, replicas=3, availableReplicas=3),
    ]
    answers = {
        f"GET {DEPLOYMENTS}/nginx": steps[0],
        f"GET {DEPLOYMENTS}": {"metadata": {"resourceVersion": "1"}, "items": [steps[0]]},
        f"WATCH {DEPLOYMENTS}": [("MODIFIED", step) for step in steps[1:]],
    }
    code, out, _, _ = kubectl("rollout status deployment/nginx", answers)
    assert code == 0
    assert out.splitlines() == [
        'Waiting for deployment "nginx" rollout to finish: 0 out of 3 new replicas have been updated...',
        'Waiting for deployment "nginx" rollout to finish: 1 old replicas are pending termination...',
        'Waiting for deployment "nginx" rollout to finish: 2 of 3 updated replicas are available...',
        'Waiting for deployment "nginx" rollout to finish: 2 of 3 updated replicas are available...',
        'deployment "nginx" successfully rolled out',
    ]
    late = deployment(conditions=[{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}])
    answers[f"GET {DEPLOYMENTS}"]["items"] = [late]
    assert (
        kubectl("rollout status deployment/nginx", answers)[2]
        == 'error: deployment "nginx" exceeded its progress deadline\n'
    )


MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx}
spec:
  replicas: 3
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}}
    spec: {containers: [{name: nginx, image: "nginx:1.27"}]}
"""


def test_apply_creates_with_the_annotation_then_patches_the_difference(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_text(MANIFEST)
    code, out, _, server = kubectl(f"apply -f {file}")
    assert (code, out) == (0, "deployment.apps/nginx created\n")
    assert server.asked() == [f"GET {DEPLOYMENTS}/nginx", f"POST {DEPLOYMENTS}"]
    created = server.requests[-1].obj
    assert server.requests[-1].query["fieldManager"] == ["kubectl-client-side-apply"]
    assert "kubectl.kubernetes.io/last-applied-configuration" in created["metadata"]["annotations"]
    live = {f"GET {DEPLOYMENTS}/nginx": created}
    assert kubectl(f"apply -f {file}", live)[1] == "deployment.apps/nginx unchanged\n"
    file.write_text(MANIFEST.replace("1.27", "1.28").replace("  replicas: 3\n", ""))
    live[f"PATCH {DEPLOYMENTS}/nginx"] = created
    _, out, _, server = kubectl(f"apply -f {file}", live)
    assert out == "deployment.apps/nginx configured\n"
    patch = server.requests[-1].obj
    del patch["metadata"]
    assert patch == {
        "spec": {
            "replicas": None,
            "template": {
                "spec": {
                    "$setElementOrder/containers": [{"name": "nginx"}],
                    "containers": [{"image": "nginx:1.28", "name": "nginx"}],
                }
            },
        }
    }


def test_server_side_apply_sends_the_configuration_as_it_is(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_text(MANIFEST)
    code, out, _, server = kubectl(f"apply --server-side -f {file}", {f"PATCH {DEPLOYMENTS}/nginx": deployment()})
    assert (code, out) == (0, "deployment.apps/nginx serverside-applied\n")
    (request,) = server.requests
    assert request.headers["content-type"] == "application/apply-patch+yaml"
    assert request.query == {"fieldManager": ["kubectl"], "fieldValidation": ["Strict"], "force": ["false"]}
    conflict = {"kind": "Status", "code": 409, "reason": "Conflict", "message": "Apply failed with 1 conflict: x"}
    _, _, err, _ = kubectl(f"apply --server-side -f {file}", {f"PATCH {DEPLOYMENTS}/nginx": (409, conflict)})
    assert err.startswith(
        "error: Apply failed with 1 conflict: x\nPlease review the fields above--they currently have other managers."
    )


def test_a_three_way_patch_names_the_keys_to_keep_of_what_excludes_each_other():
    schema = schema_for("apps/v1", "Deployment").child("spec")
    rolling, recreate = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}, {"type": "Recreate"}
    patch = three_way_merge_patch({"strategy": rolling}, {"strategy": recreate}, {"strategy": rolling}, schema)
    assert patch == {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}
    assert three_way_merge_patch({"strategy": recreate}, {"strategy": recreate}, {"strategy": recreate}, schema) == {}
    pod = schema_for("v1", "Pod").child("spec")
    before, after = {"name": "v", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/a"}}
    patch = three_way_merge_patch({"volumes": [before]}, {"volumes": [after]}, {"volumes": [before]}, pod)
    assert patch["volumes"] == [{**after, "$retainKeys": ["hostPath", "name"], "emptyDir": None}]


def test_a_three_way_patch_leaves_what_others_set():
    schema = schema_for("apps/v1", "Deployment")

    def spec(*containers, **more):
        return {"spec": {"template": {"spec": {"containers": list(containers)}}, **more}}

    original = spec({"name": "a", "image": "1"}, {"name": "b", "image": "1"}, replicas=3)
    modified = spec({"name": "a", "image": "2"}, paused=True)
    current = spec(
        {"name": "a", "image": "1", "tty": True}, {"name": "b", "image": "1"}, {"name": "injected"}, replicas=5
    )
    patch = three_way_merge_patch(original, modified, current, schema)
    result = strategic_merge_patch(current, patch, schema)
    assert result == spec({"name": "a", "image": "2", "tty": True}, {"name": "injected"}, paused=True)
    assert three_way_merge_patch(modified, modified, result, schema) == {}


def test_what_this_kubectl_cannot_do_is_said_and_nothing_is_created():
    for line in ("run x -it --rm --image=busybox -- sh", "run x --attach --image=busybox"):
        code, out, err, server = kubectl(line)
        assert (code, out, server.asked()) == (1, "", [])
        assert err.startswith("error: this kubectl cannot attach to a container, so nothing was created;")
    assert kubectl("run x --stdin --attach=false --image=busybox")[:2] == (0, "pod/x created\n")
    code, out, err, server = kubectl("attach x")
    assert (code, out, server.asked()) == (1, "", [])
    assert err == "error: attach: Kubernetes' kubectl has this command, this one does not\n"


def test_unknown_commands():
    assert kubectl("frobnicate")[2] == 'error: unknown command "frobnicate" for "kubectl"\n'
    for spelled in (
        "-n x create deployment d",
        "create -n x deployment d",
        "create deployment d -nx",
        "create deployment --namespace=x d",
    ):
        assert kubectl(f"{spelled} --image=i")[3].asked() == ["POST /apis/apps/v1/namespaces/x/deployments"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("apply --prune --all -f x.yaml", "--prune is not built into this kubectl"),
        ("apply view-last-applied deploy/x", "apply view-last-applied is not built into this kubectl"),
        ("apply edit-last-applied deploy/x", "apply edit-last-applied is not built into this kubectl"),
        ("apply set-last-applied -f x.yaml", "apply set-last-applied is not built into this kubectl"),
        ("delete -k folder", "-k is not built into this kubectl; -f is"),
        (
            "explain pods -o plaintext-openapiv2",
            "-o plaintext-openapiv2 is not built into this kubectl; -o plaintext is",
        ),
        (
            "run x --image=nginx --attach",
            "this kubectl cannot attach to a container, so nothing was created; without --attach, --stdin and --rm it"
            " creates the pod",
        ),
    ],
)
def test_what_is_not_built_in_is_refused_before_anything_is_done(line, words):
    code, out, err, server = kubectl(line)
    assert (code, out, err) == (1, "", f"error: {words}\n")
    assert server.requests == []
