"""A cluster on a machine where the extras are not installed: everything but what needs them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

FORBID = """
import sys

class Forbidden:
    asked = set()
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in ("matplotlib", "cel_expr_python"):
            self.asked.add(root)
            raise ModuleNotFoundError(f"No module named {root!r}", name=root)

sys.meta_path.insert(0, Forbidden())
"""


def run_without(code: str, cwd: Path) -> str:
    """What a program prints where neither library can be imported, nor the repository be found."""
    source = FORBID + textwrap.dedent(code)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], capture_output=True, text=True, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_deployment_becomes_ready_and_nobody_asked_for_an_extra(tmp_path: Path) -> None:
    printed = run_without(
        """
        import lifecycle
        from kubernetes import watch

        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
        with lifecycle.up(nodes=3, seed=1) as cluster:
            apps = cluster.client.AppsV1Api()
            apps.create_namespaced_deployment("default", {"metadata": {"name": "web"}, "spec": spec})
            for event in watch.Watch().stream(apps.list_namespaced_deployment, "default", timeout_seconds=60):
                if event["object"].status.ready_replicas == 3:
                    print("ready")
                    break
        print(sorted(Forbidden.asked))
        """,
        tmp_path,
    )
    assert printed == "ready\n[]\n"


def test_like_kind_needs_no_extra_and_no_repository(tmp_path: Path) -> None:
    printed = run_without(
        """
        import lifecycle

        with lifecycle.up(like="kind") as cluster:
            core = cluster.client.CoreV1Api()
            print(*sorted(node.metadata.name for node in core.list_node().items))
            print(core.read_namespace("kube-system").metadata.uid)
        print(sorted(Forbidden.asked))
        """,
        tmp_path,
    )
    nodes, uid, asked = printed.splitlines()
    assert nodes == "lifecycle-control-plane lifecycle-worker lifecycle-worker2"
    recorded = Path(__file__).resolve().parents[2] / "recordings/kind-1.36.2/http/objects.jsonl"
    assert f'"uid":"{uid}"' in recorded.read_text()
    assert asked == "[]"


def test_an_expression_is_refused_with_what_to_install(tmp_path: Path) -> None:
    printed = run_without(
        """
        import json

        import lifecycle
        from kubernetes.client import ApiException

        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        schema = {"type": "object", "x-kubernetes-validations": [{"rule": "self.a == 1"}]}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": "things", "singular": "thing", "kind": "Thing"}
        bodies = [
            ("AdmissionregistrationV1Api", "create_validating_admission_policy", {
                "metadata": {"name": "policy"},
                "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "1 == 1"}]},
            }),
            ("ApiextensionsV1Api", "create_custom_resource_definition", {
                "metadata": {"name": "things.example.com"},
                "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
            }),
        ]
        with lifecycle.up(nodes=1) as cluster:
            for group, call, body in bodies:
                try:
                    getattr(getattr(cluster.client, group)(), call)(body)
                except ApiException as error:
                    print(error.status, json.loads(error.body)["message"])
        """,
        tmp_path,
    )
    hint = "pip install 'kubernetes-lifecycle[cel]'"
    policy, definition = printed.splitlines()
    assert policy.startswith("422 ValidatingAdmissionPolicy.admissionregistration.k8s.io")
    assert policy.count(hint) == 1
    assert definition.startswith("422 CustomResourceDefinition.apiextensions.k8s.io")
    assert definition.count(hint) == 1


def test_pictures_and_the_doctor_say_what_to_install(tmp_path: Path) -> None:
    printed = run_without(
        """
        from click.testing import CliRunner
        from lifecycle.api.extras import MissingExtraError
        from lifecycle.cli import main

        try:
            import lifecycle.figures.picture
        except MissingExtraError as error:
            print(error)
        trace = CliRunner().invoke(main, ["trace", "--png", "x.png"])
        print(trace.exit_code, trace.output, end="")
        print(CliRunner().invoke(main, ["trace"]).exit_code)
        """,
        tmp_path,
    )
    hint = "matplotlib is not installed, which is needed for pictures (lifecycle.figures): "
    hint += "pip install 'kubernetes-lifecycle[plots]'"
    assert printed == f"{hint}\n1 lifecycle: {hint}\n0\n"


def test_the_doctor_knows_what_is_missing(tmp_path: Path) -> None:
    printed = run_without(
        """
        import importlib.util
        from unittest import mock
        from lifecycle.cluster.doctor import extras

        with mock.patch("lifecycle.api.extras.find_spec", return_value=None):
            print(*extras(), sep="\\n")
        """,
        tmp_path,
    )
    cel, plots = printed.splitlines()
    assert cel.startswith("missing  [cel]  CEL expressions")
    assert cel.endswith("pip install 'kubernetes-lifecycle[cel]'")
    assert plots.startswith("missing  [plots]  pictures")
