"""A client that a generator makes from our /openapi/v2 works with our server."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.conftest import NODE, PROGRAMS
from tests.clients.pinned import GENERATOR, node_package


@pytest.mark.real
def test_a_generator_makes_a_client_that_works(
    lifecycle_namespace: ClusterUnderTest, run_program: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "v2.json").write_text(lifecycle_namespace.kubectl("get", "--raw", "/openapi/v2"))
    generator = node_package(GENERATOR) / "node_modules" / ".bin" / "swagger-typescript-api"
    command = [NODE, str(generator), "generate", "--path", "v2.json", "--output", ".", "--name", "api.ts", "--silent"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=240)
    session = shutil.copy(PROGRAMS / "generated_session.ts", tmp_path)
    cluster = yaml.safe_load(lifecycle_namespace.kubeconfig.read_text())["clusters"][0]["cluster"]
    (tmp_path / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    lifecycle_namespace.kubectl("create serviceaccount generated")
    lifecycle_namespace.kubectl(
        f"create rolebinding generated --clusterrole=admin --serviceaccount={lifecycle_namespace.namespace}:generated"
    )
    printed = run_program(
        NODE,
        "--no-warnings",
        "--experimental-transform-types",
        str(session),
        SERVER=cluster["server"],
        TOKEN=lifecycle_namespace.kubectl("create token generated").strip(),
        NAMESPACE=lifecycle_namespace.namespace,
        NODE_EXTRA_CA_CERTS=str(tmp_path / "ca.crt"),
    )
    assert printed == "done\n"
