"""The images that the tests ask for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conformance.images import AGNHOST, BUSYBOX, NGINX, PAUSE, fill, tools
from conformance.suite import SuiteError, find_programs

from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.small_images import find_busybox
from tests.conftest import unavailable


def test_each_name_has_an_image(tmp_path: Path) -> None:
    busybox = find_busybox()
    if busybox is None:
        unavailable("no static busybox (Debian: busybox-static)")
    assert busybox is not None
    program = tmp_path / "agnhost"
    shutil.copyfile(busybox, program)
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    library = ImageLibrary(tmp_path / "images")
    names = fill(library, program, drafts)
    assert set(names) == {*AGNHOST, *BUSYBOX, *NGINX, *PAUSE}
    assert set(library.names()) == set(names)


def test_a_tool_brings_the_libraries_that_it_needs() -> None:
    found = tools()
    if not found:
        unavailable("neither curl nor dig is here")
    assert any("libc.so" in path for path in found)
    assert any("ld-linux" in path for path in found), "the loader itself"
    assert all(path.startswith("/") and file.exists() for path, file in found.items())


def test_what_is_missing_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBE_BIN", raising=False)
    with pytest.raises(SuiteError, match="KUBE_BIN is not set"):
        find_programs()
    monkeypatch.setenv("KUBE_BIN", str(tmp_path))
    with pytest.raises(SuiteError, match=r"not found: ginkgo, e2e\.test, agnhost"):
        find_programs()
