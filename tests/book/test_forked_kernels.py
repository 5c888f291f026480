"""The kernels of chapters and labs come from a process that has loaded what they need, and are as fresh as any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import forked_kernels
from forked_process import ForkedProcess

pytestmark = [
    pytest.mark.notebooks,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only"),
]


@pytest.fixture(autouse=True)
def _forking(monkeypatch: pytest.MonkeyPatch) -> None:
    factory = KernelProvisionerFactory.instance()
    monkeypatch.setattr(factory, "default_provisioner_name", factory.default_provisioner_name)
    forked_kernels.install()


def run(source: str, folder: Path) -> str:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    return str(notebook.cells[0].outputs[0].text)


def test_a_kernel_has_the_package_loaded_and_names_folder_and_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONLY_NOW", "said")
    told = run(
        "import os, sys\n"
        "print('lifecycle.cluster.rehearsal' in sys.modules, 'lifecycle' in dir(), os.getcwd(), os.environ['ONLY_NOW'])",
        tmp_path,
    )
    assert told == f"True False {tmp_path} said\n"
    monkeypatch.delenv("ONLY_NOW")
    assert run("import os; print('ONLY_NOW' in os.environ, os.getsid(0) == os.getpid())", tmp_path) == "False True\n"


def test_no_kernel_knows_what_another_did_nor_draws_the_same_numbers(tmp_path: Path) -> None:
    source = "import lifecycle, random; print(hasattr(lifecycle, 'mark'), random.random()); lifecycle.mark = 1"
    first, second = (run(source, tmp_path).split() for _ in range(2))
    assert first[0] == second[0] == "False"
    assert first[1] != second[1]


@pytest.mark.parametrize(("end", "code"), [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9)])
def test_a_kernel_that_ends_is_told_with_its_code(tmp_path: Path, end: str, code: int) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"import os; {end}")])
    client = NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}})
    codes = []
    poll = ForkedProcess.poll

    def noted(kernel: ForkedProcess) -> int | None:
        codes.append(poll(kernel))
        return codes[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ForkedProcess, "poll", noted)
        with pytest.raises(DeadKernelError):
            client.execute()
    assert code in codes


def test_a_kernel_of_another_command_is_started_as_jupyter_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked_kernels, "LAUNCHED_BY", ["another"])
    assert run("import sys; print('lifecycle.cluster.rehearsal' in sys.modules)", tmp_path) == "False\n"


def test_nobody_is_left_when_whoever_asked_is_gone() -> None:
    program = (
        "import sys; sys.path.insert(0, 'book/_ext'); import forked_kernels, forked_process, os\n"
        "forked_process.the_nursery(forked_kernels.NURSERY, os.getpid(), ())\n"
        "os._exit(0) if sys.argv[1] == 'hard' else None\n"
    )
    for how in ("soft", "hard"):
        # both streams are the nursery's, too: they are closed when it has ended
        ended = subprocess.run(
            [sys.executable, "-c", program, how], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert (ended.stdout, ended.stderr) == ("", "")
