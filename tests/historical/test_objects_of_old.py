"""What the old ways made, whole: objects of the generators, statuses, manifests, and the words of refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.etcd.memory import MemoryStore
from lifecycle.historical.apiserver.initial_resources import InitialResources
from lifecycle.historical.apiserver.initializers import STATE, Initializers, state_of, with_state
from lifecycle.historical.apiserver.password_file import Entry, basic_credentials, read_password_file
from lifecycle.historical.apiserver.server_with_initializers import create_server_with_initializers
from lifecycle.historical.controllers.initializer_controller import Refused
from lifecycle.historical.controllers.initializer_examples import (
    ANNOTATION,
    CERTIFICATE_PATH,
    PORT,
    SHORTEST,
    SIDECAR,
    initializer_configuration,
    inject_sidecar,
    mount_test_certificate,
    refuse_short_secret,
    wants_sidecar,
)
from lifecycle.historical.kubectl.generators import DEPRECATION, NO_EFFECT, default_generator, run
from lifecycle.historical.kubelet.cpu_weight import cpu_shares_to_weight_linear
from lifecycle.historical.kubelet.rkt import rkt_pod
from lifecycle.historical.kubelet.soft_admission import no_new_privs_handler, sync_pod_status
from lifecycle.historical.kubelet.supported_runtimes import supported
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitAttributes, PodAdmitResult
from tests.apiserver.admission_server import config_map, started

CONTAINER = {"name": "n", "image": "i:1"}
LABELS = {"run": "n"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}


def job_spec(policy: str) -> Object:
    return {"template": {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER], "restartPolicy": policy}}}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {"generator": name, "replicas": 2},
            {
                "apiVersion": version, "kind": "Deployment", "metadata": {"name": "n", "labels": LABELS},
                "spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": TEMPLATE},
            },
        )
        for name, version in (
            ("deployment/apps.v1", "apps/v1"), ("deployment/apps.v1beta1", "apps/v1beta1"),
            ("deployment/v1beta1", "extensions/v1beta1"),
        )
    ] + [
        (
            {"generator": "run/v1"},
            {
                "apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "n", "labels": LABELS},
                "spec": {"replicas": 1, "selector": LABELS, "template": TEMPLATE},
            },
        ),
        ({"generator": "run/v1", "replicas": 0}, {"spec": {"replicas": 0, "selector": LABELS, "template": TEMPLATE}}),
        *[
            (
                {"generator": "job/v1", "restart": restart},
                {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "n", "labels": LABELS}, "spec": job_spec(policy)},
            )
            for restart, policy in (("Always", "OnFailure"), ("OnFailure", "OnFailure"), ("Never", "Never"))
        ],
        *[
            (
                {"generator": f"cronjob/{version}", "schedule": "* * * * *", "restart": "Never"},
                {
                    "apiVersion": f"batch/{version}", "kind": "CronJob", "metadata": {"name": "n", "labels": LABELS},
                    "spec": {
                        "schedule": "* * * * *", "concurrencyPolicy": "Allow", "jobTemplate": {"spec": job_spec("Never")},
                    },
                },
            )
            for version in ("v1beta1", "v2alpha1")
        ],
        (
            {"generator": "run-pod/v1", "restart": "Never"},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n", "labels": LABELS}},
        ),
    ],
)  # fmt: skip
def test_what_a_generator_made(flags: dict[str, Any], expected: Object) -> None:
    made = run(11, "n", "i:1", **flags)
    assert (made.generator, made.warnings) == (flags["generator"], ())
    assert {key: made.obj[key] for key in expected} == expected
    with_more = run(11, "n", "i:1", **flags, port="80", args=["a", "b"]).obj["spec"]
    while "containers" not in with_more:
        with_more = with_more.get("jobTemplate", with_more)
        with_more = with_more.get("template", with_more).get("spec", with_more)
    assert with_more["containers"] == [{**CONTAINER, "args": ["a", "b"], "ports": [{"containerPort": 80}]}]


@pytest.mark.parametrize(
    ("minor", "arguments", "generator"),
    [
        (5, {}, "deployment/v1beta1"), (6, {}, "deployment/apps.v1beta1"), (13, {}, "deployment/apps.v1beta1"),
        (14, {}, "deployment/apps.v1"), (14, {"served": ["apps/v1"]}, "deployment/apps.v1"),
        (14, {"served": ["apps/v1beta1"]}, "run/v1"), (13, {"served": ["apps/v1", "extensions/v1beta1"]}, "deployment/v1beta1"),
        (5, {"served": ["apps/v1beta1"]}, "run/v1"), (7, {"schedule": "x"}, "cronjob/v2alpha1"),
        (8, {"schedule": "x", "restart": "Never"}, "cronjob/v1beta1"), (17, {"restart": "OnFailure"}, "job/v1"),
        (17, {"restart": "Never", "served": []}, "run-pod/v1"), (18, {"schedule": "x"}, "run-pod/v1"),
    ],
)  # fmt: skip
def test_which_generator_was_chosen(minor: int, arguments: dict[str, Any], generator: str) -> None:
    assert default_generator(minor, **arguments) == generator


@pytest.mark.parametrize(
    ("minor", "flags", "warnings"),
    [
        (11, {"generator": "run/v1"}, []), (12, {"generator": "run/v1"}, [DEPRECATION.format("run/v1")]),
        (17, {}, [DEPRECATION.format("deployment/apps.v1")]), (17, {"generator": "run-pod/v1"}, []),
        (18, {"generator": "x", "replicas": 0, "schedule": "y"}, [NO_EFFECT.format(f) for f in ("generator", "replicas", "schedule")]),
        (20, {}, []), (36, {}, []),
    ],
)  # fmt: skip
def test_what_was_printed(minor: int, flags: dict[str, Any], warnings: list[str]) -> None:
    assert list(run(minor, "n", "i", **flags).warnings) == warnings
    assert DEPRECATION.format("G") == (
        "kubectl run --generator=G is DEPRECATED and will be removed in a future version. "
        "Use kubectl run --generator=run-pod/v1 or kubectl create instead."
    )
    assert NO_EFFECT.format("f") == "Flag --f has been deprecated, has no effect and will be removed in the future."


@pytest.mark.parametrize(("flag", "value"), [("generator", "x"), ("replicas", 0), ("schedule", "x")])
def test_flags_that_are_gone(flag: str, value: Any) -> None:
    for minor in (21, 36):
        with pytest.raises(CommandError) as refused:
            run(minor, "n", "i", **{flag: value})
        assert str(refused.value) == f"unknown flag: --{flag}\nSee 'kubectl run --help' for usage."
    with pytest.raises(CommandError) as unknown:
        run(17, "n", "i", generator="x")
    assert str(unknown.value) == "generator \"x\" not found\nSee 'kubectl run -h' for help and examples"


@pytest.mark.parametrize(
    ("minor", "names"),
    [
        (0, ["docker, in the kubelet"]), (2, ["docker, in the kubelet"]), (3, ["docker, in the kubelet", "rkt, in the kubelet"]),
        (4, ["docker, in the kubelet", "rkt, in the kubelet"]),
        (5, ["docker, through dockershim", "rkt, in the kubelet", "any runtime that speaks CRI"]),
        (10, ["docker, through dockershim", "rkt, in the kubelet", "any runtime that speaks CRI"]),
        (11, ["docker, through dockershim", "any runtime that speaks CRI"]),
        (23, ["docker, through dockershim", "any runtime that speaks CRI"]), (24, ["any runtime that speaks CRI"]),
    ],
)  # fmt: skip
def test_the_first_and_the_last_version_of_each_runtime(minor: int, names: list[str]) -> None:
    assert supported(minor) == names


@pytest.mark.parametrize(
    ("shares", "weight"), [(0, 0), (2, 1), (28, 1), (29, 2), (102, 4), (512, 20), (1024, 39), (262144, 10000)]
)
def test_shares_on_a_straight_line(shares: int, weight: int) -> None:
    assert cpu_shares_to_weight_linear(shares) == weight


def test_rkts_manifest() -> None:
    config = PodSandboxConfig(PodSandboxMetadata("web", "u", "ns", 0))
    container = ContainerConfig(ContainerMetadata("c", 0), "image", command=["a"], args=["b"])
    prefix = "rkt.kubernetes.io/"
    assert rkt_pod(config, [container], "7") == {
        "unit": "k8s_7.service",
        "manifest": {
            "acKind": "PodManifest", "apps": [{"name": "c", "image": "image", "exec": ["a", "b"]}],
            "annotations": {
                prefix + "uid": "u", prefix + "name": "web", prefix + "namespace": "ns", prefix + "managed-by-kubelet": "true",
            },
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("runtime", "version", "allowed", "admitted"),
    [
        ("docker", (1, 22, 9), False, False), ("docker", (1, 23, 0), False, True), ("docker", (1, 24, 0), False, True),
        ("docker", (2, 0, 0), False, True), ("docker", (0, 99, 0), False, False), ("docker", (1, 22, 0), True, True),
        ("docker", (1, 22, 0), None, True), ("rkt", (1, 0, 0), False, True),
    ],
)  # fmt: skip
def test_whom_the_soft_handler_refused(
    runtime: str, version: tuple[int, int, int], allowed: bool | None, admitted: bool
) -> None:
    context = {} if allowed is None else {"securityContext": {"allowPrivilegeEscalation": allowed}}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", **context}]}}
    result = no_new_privs_handler(runtime, version)(PodAdmitAttributes(pod, (), {}, {}))
    assert result.admit is admitted
    if not admitted:
        text = ".".join(map(str, version))
        assert (result.reason, result.message) == (
            "NoNewPrivs", f"Cannot enforce NoNewPrivs: docker API version {text} does not support NoNewPrivs",
        )  # fmt: skip


def test_the_status_of_who_was_blocked() -> None:
    pod = {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    waiting = {"waiting": {"reason": "Blocked"}}
    assert sync_pod_status(pod, PodAdmitResult(False, "R", "M")) == {
        "phase": "Pending", "message": "M", "reason": "R",
        "containerStatuses": [{"name": name, "ready": False, "state": waiting} for name in "ab"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("namespace_only", "answers", "asked", "estimate"),
    [
        (False, [(7, 30)], 1, "7m"), (False, [(7, 29), (8, 31)], 2, "8m"), (False, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)], 5, "5m"),
        (False, [(1, 1), (2, 2), (3, 30)], 3, "3m"), (True, [(1, 1), (2, 2), (3, 3)], 3, "3m"), (True, [(1, 1), (2, 2), (3, 0)], 3, ""),
        (False, [(0, 30)], 1, "0m"),
    ],
)  # fmt: skip
def test_the_first_selection_with_thirty_samples_decides(
    namespace_only: bool, answers: list[tuple[int, int]], asked: int, estimate: str
) -> None:
    questions: list[tuple[Any, ...]] = []

    def usage(*question: Any) -> tuple[int, int]:
        questions.append(question)
        return answers[len(questions) - 1]

    plugin = InitialResources(usage, percentile=70, namespace_only=namespace_only)
    assert plugin.estimate("cpu", "nginx:1", "n") == estimate
    anywhere = [("nginx", "n", False, 30)] if namespace_only else [
        ("nginx:1", "", True, 7), ("nginx:1", "", True, 30), ("nginx", "", False, 30),
    ]  # fmt: skip
    every = [("nginx:1", "n", True, 7), ("nginx:1", "n", True, 30), *anywhere]
    assert questions == [("cpu", 70, *question) for question in every[:asked]]
    assert InitialResources(lambda name, percentile, *_: (percentile, 30)).estimate("memory", "x", "n") == "90"


@pytest.mark.parametrize(
    ("header", "pair"),
    [
        ("Basic YTpi", ("a", "b")), ("basic YTpi", ("a", "b")), ("BASIC YTo=", ("a", "")), ("Basic YTpiOmM=", ("a", "b:c")),
        ("Basic OmI=", ("", "b")), ("Bearer YTpi", None), ("Basic", None), ("Basic YWI=", None), ("Basic YTpi!", None),
    ],
)  # fmt: skip
def test_the_header_of_a_user_and_a_password(header: str, pair: tuple[str, str] | None) -> None:
    assert basic_credentials(header) == pair


def test_a_file_of_passwords(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text('pw,a,1\n\n"p,w", b ,2,"x, y"\npw,c,3,\n')
    assert read_password_file(path) == {
        "a": Entry(UserInfo("a", (), "1"), "pw"), "b ": Entry(UserInfo("b ", ("x", "y"), "2"), "p,w"),
        "c": Entry(UserInfo("c", ("",), "3"), "pw"),
    }  # fmt: skip
    path.write_text("pw,a\n")
    with pytest.raises(
        ValueError, match=r"must have at least 3 columns \(password, user name, user uid\), found 2$"
    ) as refused:
        read_password_file(path)
    assert str(refused.value) == (
        f"password file '{path}' must have at least 3 columns (password, user name, user uid), found 2"
    )
    assert str(AuthenticationError("x")) == "x"


def workload(*containers: Object, namespace: str = "testing", annotations: Any = None, **spec: Any) -> Object:
    pods = {"containers": list(containers), **spec}
    return {"metadata": {"namespace": namespace, "annotations": annotations}, "spec": {"template": {"spec": pods}}}


@pytest.mark.parametrize(
    ("containers", "annotations", "wanted"),
    [
        ([{"name": "a"}], None, False), ([{"name": "a", "ports": None}], {ANNOTATION: "false"}, False),
        ([{"name": "a", "ports": [{"containerPort": 8080}]}], {}, False),
        ([{"name": "a", "ports": [{"containerPort": 8080}, {"containerPort": 80}]}], {}, True),
        ([{"name": "a"}, {"name": "b", "ports": [{"containerPort": 80}]}], {}, True), ([{"name": "a"}], {ANNOTATION: "true"}, True),
    ],
)  # fmt: skip
def test_who_gets_a_sidecar_and_only_one(containers: list[Object], annotations: Any, wanted: bool) -> None:
    made = workload(*containers, annotations=annotations)
    assert wants_sidecar(made) is wanted
    for _ in range(2):
        inject_sidecar(made)
        assert made["spec"]["template"]["spec"]["containers"] == [*containers, *([SIDECAR] if wanted else [])]
    assert SIDECAR == {"name": "proxy", "image": "registry.example/proxy:1"}
    assert (ANNOTATION, PORT) == ("initializer.example.com/inject", 80)


def test_who_gets_to_see_the_certificate() -> None:
    mount = {"name": "test-certificate", "mountPath": "/etc/test-certificate", "readOnly": True}
    made = workload({"name": "a", "volumeMounts": [{"name": "x"}]}, {"name": "b"}, volumes=[{"name": "x"}])
    mount_test_certificate(made)
    assert made["spec"]["template"]["spec"] == {
        "volumes": [{"name": "x"}, {"name": "test-certificate", "secret": {"secretName": "test-certificate"}}],
        "containers": [{"name": "a", "volumeMounts": [{"name": "x"}, mount]}, {"name": "b", "volumeMounts": [mount]}],
    }  # fmt: skip
    elsewhere = workload({"name": "a"}, namespace="other")
    mount_test_certificate(elsewhere)
    assert elsewhere == workload({"name": "a"}, namespace="other")
    assert CERTIFICATE_PATH == "/etc/test-certificate"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"a": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="}, ""), (None, ""), ({}, ""),
        ({"b": "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ==", "a": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="}, "b has 19 characters, 20 are the least"),
        ({"b": "", "a": "MTIz"}, "a has 3 characters, 20 are the least"),
    ],
)  # fmt: skip
def test_which_secrets_are_too_short(data: Any, words: str) -> None:
    assert SHORTEST == 20
    if words:
        with pytest.raises(Refused) as refused:
            refuse_short_secret({"data": data})
        assert str(refused.value) == words
    else:
        refuse_short_secret({"data": data})


def configured(name: str, *initializers: tuple[str, list[Object]]) -> Object:
    return {"metadata": {"name": name}, "initializers": [{"name": n, "rules": rules} for n, rules in initializers]}


def rule(groups: list[str], versions: list[str], resources: list[str]) -> Object:
    return {"apiGroups": groups, "apiVersions": versions, "resources": resources}


@pytest.mark.parametrize(
    ("rules", "cares"),
    [
        ([rule([""], ["v1"], ["secrets"])], True), ([rule(["*"], ["*"], ["*"])], True), ([rule([""], ["*"], ["pods", "secrets"])], True),
        ([rule(["apps"], ["v1"], ["secrets"])], False), ([rule([""], ["v2"], ["secrets"])], False),
        ([rule([""], ["v1"], ["pods"])], False), ([{}], False), ([], False), (None, False),
        ([rule([""], ["v1"], ["pods"]), rule([""], ["v1"], ["secrets"])], True),
    ],
)  # fmt: skip
def test_which_initializers_care_about_a_resource(rules: Any, cares: bool) -> None:
    configurations = {
        "b": configured("b", ("two", rules), ("three", rules)),
        "a": configured("a", ("one", rules), ("two", rules)),
    }
    plugin = Initializers(lambda *_: None, configurations | {"c": {"metadata": {"name": "c"}}})  # type: ignore[arg-type,return-value]
    assert plugin.initializers_for(resource("secrets")) == (["one", "two", "three"] if cares else [])


def test_the_list_is_kept_beside_the_annotations_and_never_shown_among_them() -> None:
    obj: Object = {"metadata": {"annotations": {"a": "b"}}}
    kept = obj["metadata"]
    with_state(obj, {"pending": [{"name": "x"}]})
    assert state_of(obj) == {"pending": [{"name": "x"}]}
    assert obj["metadata"]["annotations"]["a"] == "b"
    assert STATE in obj["metadata"]["annotations"]
    assert kept == {"annotations": {"a": "b"}}
    with_state(obj, None)
    assert obj == {"metadata": {"annotations": {"a": "b"}}}
    bare: Object = {"metadata": {"name": "n"}}
    with_state(bare, {"pending": []})
    with_state(bare, None)
    assert bare == {"metadata": {"name": "n"}}
    assert [state_of(o) for o in ({}, {"metadata": {}}, {"metadata": {"annotations": None}})] == [None] * 3


GROUP = "/apis/admissionregistration.k8s.io/v1alpha1/initializerconfigurations"


def test_configurations_are_kept_listed_changed_and_deleted() -> None:
    async def main() -> None:
        asker = await started(server=create_server_with_initializers(MemoryStore()))
        try:
            made = []
            for name in ("b", "a"):
                answer = await asker.ask(
                    "POST", GROUP, initializer_configuration(name, "x.example.com", "deployments.apps")
                )
                assert answer.status == 201
                made.append(answer.obj or {})
            assert made[0]["kind"] == "InitializerConfiguration"
            assert made[0]["initializers"] == [
                {"name": "x.example.com", "rules": [rule(["apps"], ["v1"], ["deployments"])]}
            ]
            assert [each["metadata"]["resourceVersion"] for each in made] == ["1", "2"]
            assert all(each["metadata"]["uid"] and each["metadata"]["creationTimestamp"] for each in made)
            again = await asker.ask("POST", GROUP, initializer_configuration("a", "x", "pods"))
            assert (again.status, (again.obj or {})["message"]) == (
                409, 'initializerconfigurations.admissionregistration.k8s.io "a" already exists',
            )  # fmt: skip
            listed = (await asker.ask("GET", GROUP)).obj or {}
            assert (listed["kind"], listed["apiVersion"], listed["metadata"]) == (
                "InitializerConfigurationList", "admissionregistration.k8s.io/v1alpha1", {"resourceVersion": "2"},
            )  # fmt: skip
            assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b"]
            one = await asker.ask("GET", f"{GROUP}/a")
            assert (one.status, one.obj) == (200, made[1])
            changed = await asker.ask("PUT", f"{GROUP}/a", {**made[1], "initializers": []})
            assert (changed.status, (changed.obj or {})["metadata"]["resourceVersion"]) == (200, "3")
            assert (changed.obj or {})["metadata"]["uid"] == made[1]["metadata"]["uid"]
            gone = await asker.ask("DELETE", f"{GROUP}/a")
            assert (gone.status, (gone.obj or {})["status"]) == (200, "Success")
            for method in ("GET", "PUT", "DELETE"):
                missing = await asker.ask(method, f"{GROUP}/a", made[1] if method == "PUT" else None)
                assert (missing.status, (missing.obj or {})["message"]) == (
                    404, 'initializerconfigurations.admissionregistration.k8s.io "a" not found',
                )  # fmt: skip
            patched = await asker.ask("PATCH", f"{GROUP}/b", {})
            assert (patched.status, (patched.obj or {})["reason"]) == (405, "MethodNotAllowed")
            assert (await asker.ask("POST", "/api/v1/namespaces/default/configmaps", config_map())).status == 201
        finally:
            await asker.server.stop()

    run_virtual(main())
