"""The kernels of chapters and labs take no ports, which somebody else might take first."""

from __future__ import annotations

import sys
from pathlib import Path

import jupyter_client
import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import kernels_over_ipc

pytestmark = pytest.mark.notebooks


def test_a_kernel_answers_over_files_of_the_users_own_and_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setattr(jupyter_client, "AsyncKernelManager", jupyter_client.AsyncKernelManager)
    kernels_over_ipc.install()
    what_it_was_told = "import json, ipykernel; print(open(ipykernel.get_connection_file()).read())"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(what_it_was_told)])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    told = notebook.cells[0].outputs[0].text
    assert '"transport": "ipc"' in told
    assert str(tmp_path / "runtime" / "ipc-") in told
    assert list((tmp_path / "runtime").iterdir()) == []
