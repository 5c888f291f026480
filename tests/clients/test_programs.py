"""Clients that others have written, each at work in a namespace of our cluster."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.conftest import NODE, PROGRAMS
from tests.clients.pinned import CLIENT_NODE, KUBERNETES_ASYNCIO, LIGHTKUBE, library, node_package


@pytest.mark.real
def test_lightkube_works(run_program: Callable[..., str]) -> None:
    assert run_program(sys.executable, str(PROGRAMS / "lightkube_session.py"), packages=library(*LIGHTKUBE)) == "done\n"


@pytest.mark.real
def test_kubernetes_asyncio_works(run_program: Callable[..., str]) -> None:
    assert (
        run_program(sys.executable, str(PROGRAMS / "asyncio_session.py"), packages=library(*KUBERNETES_ASYNCIO))
        == "done\n"
    )


@pytest.mark.real
def test_client_node_works(run_program: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_package(CLIENT_NODE) / "node_modules")
    session = shutil.copy(PROGRAMS / "client_node_session.mjs", tmp_path)
    assert run_program(NODE, str(session)) == "done\n"
