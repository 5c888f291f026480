"""The fixture of pytest-kind that kr8s' own tests ask for, with our cluster behind it. A plugin of a pytest of its own."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class KindCluster:
    """As much of pytest-kind's class as is asked for."""

    kubeconfig_path = Path(os.environ["KUBECONFIG"])
    kubectl_path = Path(os.environ["KUBECTL"])

    def kubectl(self, *argv: str) -> str:
        """What kubectl prints. Raises CalledProcessError."""
        return subprocess.check_output([self.kubectl_path, *argv], encoding="utf-8").strip()


@pytest.fixture(scope="session", autouse=True)
def k8s_cluster() -> KindCluster:
    return KindCluster()


@pytest.fixture
def ensure_gc() -> Iterator[None]:
    gc.collect()
    yield
    gc.collect()
