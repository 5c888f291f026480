"""A shim that ends before it has said anything, or that says what is wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.sandbox import processes

FAILED = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed:"
    " unable to start container process: "
)


def launched(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    monkeypatch.setattr(processes, "command", lambda *words: ["/bin/sh", "-c", script])
    monkeypatch.setattr(processes, "own_program", lambda: "/bin/sh")
    return asyncio.run(processes.launch(folder))


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 1", "the shim ended"),
        ("echo '  out of memory ' >&2", "out of memory"),
        ("printf '%0600d' 7 >&2", "0" * 499 + "7"),
        ("""echo '{"error": "no such file"}'""", "no such file"),
    ],
)
def test_why_a_container_does_not_start(script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(processes._SHIMS)
    with pytest.raises(RuntimeServiceError) as refused:
        launched(script, tmp_path, monkeypatch)
    assert str(refused.value) == f"{FAILED}{why}: unknown"
    assert before == processes._SHIMS, "it has been buried"


def test_a_shim_says_the_process_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid, shim = launched("""echo '{"pid": 77}'""", tmp_path, monkeypatch)
    assert pid == 77
    processes._SHIMS.pop(shim).wait()
