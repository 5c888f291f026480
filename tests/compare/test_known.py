"""For every known disagreement: a difference that it explains, and tampered ones that it must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.compare import AgreementTable, Comparison, Difference
from lifecycle.compare.known import known_disagreements, load

EMBEDDED, OURS = "the embedded cluster", "lifecycle, started like the recorded cluster"
KIND, BARE = "recording kind-1.36.2 (Kubernetes v1.36.2)", "recording bare-1.20.2 (Kubernetes v1.20.2)"
PODS = "GET /api/v1/namespaces/kubelet/pods"
LOG = f"{PODS}/plain/log?container=c&tailLines=60"
ID, REPOSITORY = f"sha256:{'a' * 64}", f"docker.io/library/nginx@sha256:{'b' * 64}"
OBJECT = {"metadata": {}, "spec": {"priority": 0, "nodeName": "a"}}
GONE = "(absent)"
Told = tuple[str, str, Any, Any]
"""Question, path, ours, theirs."""


def resolver(search: str = "a.example b.example", server: str = "192.0.2.53", options: str = "edns0 ndots:2") -> str:
    hosts = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.244.1.7\tdns-config\n"
    return f"search {search}\nnameserver {server}\noptions {options}\n{hosts}"


EVENTS = "GET /api/v1/namespaces/kubelet/events"
LOST, WAITS = (f"/body/items/kubelet {pod}.<hash>" for pod in ("post-start-http", "missing-volume"))
CASES: dict[str, tuple[str, tuple[str, str], Told, list[Told]]] = {
    "preemption-victim": (
        "scheduling", (KIND, KIND),
        ("GET /api/v1/namespaces/sched/pods", "/body/items/sched small", OBJECT, GONE),
        [("GET /api/v1/namespaces/sched/pods", "/body/items/sched small", "Running", "Pending"),
         ("GET /api/v1/namespaces/sched/pods", "/body/items/sched small/spec/nodeName", GONE, "a"),
         ("GET /api/v1/namespaces/sched/events", "/body/items/sched small.<hash> Scheduled x", OBJECT, GONE),
         ("GET /api/v1/namespaces/sched/pods", "/body/items/sched preemptor", OBJECT, GONE),
         ("GET /api/v1/namespaces/sched/pods", "/body/items/sched small", {"spec": {"priority": 1000, "x": 1}}, GONE),
         ("GET /api/v1/namespaces/sched/events", "/body/items/sched small.<hash> Killing Stopping container d", OBJECT, GONE),
         ("GET /api/v1/namespaces/sched/events", "/body/items/sched small.<hash> Preempted Preempted by pod <uid of Pod sched/big>",
          OBJECT, GONE)],
    ),
    "image-id-of-two-names": (
        "kubelet", (KIND, KIND), (PODS, "/body/items/kubelet two/status/containerStatuses/1/imageID", ID, REPOSITORY),
        [(PODS, "/body/items/kubelet two/status/containerStatuses/1/imageID", ID, f"sha256:{'b' * 64}"),
         (PODS, "/body/items/kubelet two/status/containerStatuses/1/imageID", ID, GONE),
         (PODS, "/body/items/kubelet two/status/containerStatuses/1/imageID", ID, REPOSITORY.replace("nginx", "busybox")),
         (PODS, "/body/items/kubelet two/status/containerStatuses/1/image", ID, REPOSITORY)],
    ),
    "crash-loop-caught-at-another-turn": (
        "kubelet", (KIND, KIND), (PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/ready", False, True),
        [(PODS, "/body/items/kubelet plain/status/containerStatuses/0/ready", False, True),
         (PODS, "/body/items/kubelet post-start-http/status/conditions/Ready/status", "False", "Unknown"),
         (PODS, "/body/items/kubelet post-start-http/status/conditions/Initialized/status", "False", "True"),
         (PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/state/waiting",
          {"reason": "ErrImagePull", "message": ""}, GONE),
         (PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/lastState/terminated/exitCode", 1, 0),
         (PODS, "/body/items/kubelet post-start-http/spec/nodeName", "a", "b"),
         (PODS, "/body/items/kubelet post-start-http", OBJECT, GONE)],
    ),
    "crash-loop-a-turn-further": (
        "kubelet", (KIND, KIND), (PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/restartCount", 2, 1),
        [(PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/restartCount", 7, 1),
         (PODS, "/body/items/kubelet plain/status/containerStatuses/0/restartCount", 2, 1),
         (PODS, "/body/items/kubelet post-start-http/status/containerStatuses/0/containerID", "containerd://<id>", GONE)],
    ),
    "crash-loop-told-more-often": (
        "kubelet", (EMBEDDED, KIND), (EVENTS, f"{LOST} FailedPostStartHook PostStartHook failed/count", "<count>", "<count>"),
        [(EVENTS, f"{LOST} Started Container started/count", "<count>", "<count>"),
         (EVENTS, f"{LOST} FailedPostStartHook PostStartHook failed/message", "<count>", "<count>"),
         (EVENTS, f"{LOST} FailedPostStartHook PostStartHook failed/count", "<count>", GONE)],
    ),
    "mounts-are-tried-a-little-late": (
        "kubelet", (EMBEDDED, KIND), (EVENTS, f"{WAITS} FailedMount MountVolume.SetUp failed/count", "<count>", "<count>"),
        [(EVENTS, f"{WAITS} Scheduled Successfully assigned/count", "<count>", "<count>"),
         (EVENTS, f"{WAITS} FailedMount MountVolume.SetUp failed/count", "<count>", GONE)],
    ),
    "crash-loop-in-managed-fields": (
        "kubelet", (KIND, KIND),
        (PODS, '/body/items/kubelet post-start-http/metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/'
         'f:conditions/k:{"type":"Ready"}/f:reason', {}, GONE),
        [(PODS, '/body/items/kubelet post-start-http/metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/'
          'f:conditions/k:{"type":"Ready"}/f:status', {}, GONE),
         (PODS, '/body/items/kubelet post-start-http/metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status/'
          'f:conditions/k:{"type":"Ready"}/f:reason', {"f:x": {}}, GONE)],
    ),
    "limits-read-back-or-not": (
        "kubelet", (KIND, KIND), (PODS, "/body/items/kubelet oom/status/resources/limits", {"memory": "16Mi"}, GONE),
        [(PODS, "/body/items/kubelet oom/status/resources/limits", {"memory": "16Mi"}, {"memory": "32Mi"}),
         (PODS, "/body/items/kubelet oom/status/resources/limits", {"memory": "32Mi"}, GONE),
         (PODS, "/body/items/kubelet plain/status/resources/limits", {"memory": "16Mi"}, GONE)],
    ),
    "output-of-programs": (
        "kubelet", (KIND, KIND),
        (LOG, "/body", "2026/01/01 00:00:00 [notice] a", "2026/01/01 00:00:01 [notice] b"),
        [(LOG, "/body", "", "2026/01/01 00:00:01 [notice] b"), (LOG, "/code", 200, 404),
         (LOG.replace("plain", "dns-config"), "/body", resolver(), resolver(server="192.0.2.54")),
         (LOG.replace("plain", "dns-config"), "/body", resolver(), resolver(options="ndots:3 edns0")),
         (LOG.replace("plain", "dns-config"), "/body", resolver(), resolver(search="a.example c.example")),
         (LOG.replace("plain", "env"), "/body", "A=1", "A=2")],
    ),
    "programs-do-not-run": (
        "kubelet", (EMBEDDED, KIND), (LOG, "/body", "", "2026/01/01 00:00:01 [notice] b"),
        [(LOG, "/body", "something", "2026/01/01 00:00:01 [notice] b"), (LOG, "/code", 200, 404),
         (LOG.replace("plain", "env"), "/body", "", "A=2")],
    ),
    "constrained-impersonation": (
        "authn", (OURS, BARE),
        ("token as jane: POST /apis/authentication.k8s.io/v1/selfsubjectreviews", "/message",
         'selfsubjectreviews.authentication.k8s.io is forbidden: User "system:serviceaccount:default:default" cannot'
         ' impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster'
         " scope",
         'users "jane" is forbidden: User "system:serviceaccount:default:default" cannot impersonate resource "users" in API'
         ' group "" at the cluster scope'),
        [("token as jane: POST /apis/authentication.k8s.io/v1/selfsubjectreviews", "/message", "no", "yes"),
         ("token as jane: POST /apis/authentication.k8s.io/v1/selfsubjectreviews", "/code", 500, 403)],
    ),
    "who-am-i": (
        "authn", (OURS, BARE), ("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", "/code", 201, 404),
        [("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", "/code", 500, 404),
         ("POST /apis/authentication.k8s.io/v1/tokenreviews", "/code", 201, 404)],
    ),
    "what-is-acceptable": (
        "authn", (OURS, BARE),
        ("GET /openid/v1/jwks", "/message",
         "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json\n", "406: Not Acceptable\n"),
        [("GET /openid/v1/jwks", "/message", "406: Not Acceptable\n", "404: Not Found")],
    ),
    "nodes-held-to-their-own": (
        "authz", (OURS, BARE),
        ("system:node:lifecycle-worker: 224 questions", "/get pods in default", "not allowed No Object name found",
         "allowed"),
        [("system:node:lifecycle-worker: 224 questions", "/get pods in default", "allowed", "not allowed"),
         ("system:node:lifecycle-worker: 224 questions", "/get secrets in default",
          "not allowed No Object name found", "allowed")],
    ),
    "unset-times-are-left-out": (
        "kubectl-versions", (BARE, KIND), ("run", "/objects/0/metadata/creationTimestamp", None, GONE),
        [("run", "/objects/0/metadata/creationTimestamp", "2026-01-01T00:00:00Z", GONE)],
    ),
    "served-as-v1-by-now": (
        "kubectl-versions", (BARE, KIND), ("create cronjob j", "/objects/0/apiVersion", "batch/v1beta1", "batch/v1"),
        [("create cronjob j", "/objects/0/apiVersion", "batch/v1", "batch/v2"),
         ("create job j", "/objects/0/apiVersion", "batch/v1beta1", "batch/v1")],
    ),
    "flags-of-run-are-gone": (
        "kubectl-versions", (BARE, KIND), ("run nginx --generator=x", "/exit code", 0, 1),
        [("run nginx --generator=x", "/exit code", 1, 0), ("run nginx", "/exit code", 0, 1)],
    ),
    "cobra-no-longer-speaks-for-kubectl": (
        "kubectl-versions", (BARE, KIND), ("create deployment x", "/stderr/0", "Error: no image", "error: no image"),
        [("create deployment x", "/stderr/0", "Error: no image", "error: no name")],
    ),
    "powers-of-a-privileged-container": (
        "container runtime", ("lifecycle", KIND),
        ("container kube-system/kube-proxy-87b9w: kube-proxy", "/process/capabilities/bounding/7", "CAP_A", "CAP_B"),
        [("container kube-system/coredns-a: coredns", "/process/capabilities/bounding/7", "CAP_A", "CAP_B"),
         ("container kube-system/kube-proxy-87b9w: kube-proxy", "/process/args/0", "CAP_A", "CAP_B"),
         ("container kube-system/kube-proxy-87b9w: kube-proxy", "/process/capabilities/bounding/7", "all", "CAP_B")],
    ),
    "hook-before-the-program-listens": (
        "kubelet", ("lifecycle", KIND), ("state of each container in the end", "/post-start-http/c running", True, GONE),
        [("state of each container in the end", "/plain/c running", True, GONE),
         ("state of each container in the end", "/post-start-http/c running", True, False)],
    ),
    "probe-before-the-program-listens": (
        "kubelet", ("lifecycle", KIND),
        ("what events say of them", "/readiness-fails: Warning Unhealthy Readiness probe failed: "
         'Get "http://IP:80/nope": dial tcp IP:80: connect: connection refused', GONE, "<count>"),
        [("what events say of them", "/readiness-fails: Warning Unhealthy Readiness probe failed: "
          'Get "http://IP:80/nope": dial tcp IP:80: connect: connection refused', "<count>", GONE),
         ("what events say of them", "/plain: Warning Unhealthy Readiness probe failed", GONE, "<count>")],
    ),
    "programs-that-look-at-their-machine": (
        "kubelet", ("lifecycle", KIND), ("what their logs say, or why there are none", "/two/probe", "(empty)", "<html>"),
        [("what their logs say, or why there are none", "/two/probe", "<p>", "<html>"),
         ("what their logs say, or why there are none", "/env/c", "(empty)", "A=1")],
    ),
}  # fmt: skip


def table(scenario: str, sides: tuple[str, str], *told: Told) -> AgreementTable:
    made = AgreementTable("t", *sides)
    for question, path, ours, theirs in told:
        comparison = Comparison(total=1, differences=[Difference(path, ours, theirs)])
        made.add(f"{scenario}: at rest", question, "", "", comparison)
    return made


def test_every_known_disagreement_is_tampered_with() -> None:
    assert {known.id for known in known_disagreements()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_it_explains_this_and_not_that(name: str) -> None:
    scenario, sides, honest, tampered = CASES[name]
    assert [known.id for known in table(scenario, sides, honest).known] == [name]
    assert tampered
    for told in tampered:
        assert len(table(scenario, sides, told).unexplained) == 1, told
    assert table("another", sides, honest).unexplained


@pytest.mark.parametrize("known", known_disagreements(), ids=lambda known: known.id)
def test_no_more_than_so_many(known: Any) -> None:
    scenario, sides, honest, _ = CASES[known.id]
    assert len(table(scenario, sides, *[honest] * (known.at_most + 2)).unexplained) == 2
    assert len(known.reason) > 40


@pytest.mark.parametrize("known", known_disagreements(), ids=lambda known: known.id)
def test_no_entry_takes_any_two_values(known: Any) -> None:
    assert not known.values.fullmatch("this ↔ that")
    assert not known.path.search("GET /api/v1/nodes/body/items/one/spec/podCIDR")


@pytest.mark.parametrize("lacking", ["reason", "values", "at_most", "between"])
def test_an_entry_without_bounds_or_reason_is_refused(lacking: str, tmp_path: Path) -> None:
    entry = {key: "x" for key in ("id", "scenario", "path", "between", "values", "at_most", "reason") if key != lacking}
    (tmp_path / "known.yaml").write_text("- " + "\n  ".join(f"{key}: {value}" for key, value in entry.items()))
    with pytest.raises(ValueError, match=r"x: wants id, scenario, path, between, values, at_most, reason$"):
        load(tmp_path / "known.yaml")


def test_options_of_a_resolver_may_come_in_any_order() -> None:
    told = (LOG.replace("plain", "dns-config"), "/body", resolver(), resolver(options="ndots:2 edns0"))
    assert [known.id for known in table("kubelet", (KIND, KIND), told).known] == ["output-of-programs"]
