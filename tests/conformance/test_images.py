"""The images that the tests ask for."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conformance.effective_uid import effective_uid_program
from conformance.images import (
    AGNHOST,
    BUSYBOX,
    DEMOS,
    ETCD,
    IPTABLES,
    NGINX,
    NONEWPRIVS,
    NONROOT,
    PAUSE,
    RENAMED,
    SAMPLE_API_SERVER,
    aggregated_images,
    fill,
    tools,
    without_applet,
)
from conformance.suite import SuiteError, find_programs

from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.oci_image import File
from lifecycle.cri.images.small_images import find_busybox, shell_files
from tests.conftest import unavailable


def test_each_name_has_an_image(tmp_path: Path) -> None:
    busybox = find_busybox()
    if busybox is None:
        unavailable("no static busybox (Debian: busybox-static)")
    assert busybox is not None
    program = tmp_path / "agnhost"
    shutil.copyfile(busybox, program)
    library = ImageLibrary(tmp_path / "images")
    names = fill(library, program)
    assert set(names) == {*AGNHOST, *DEMOS.values(), *BUSYBOX, *IPTABLES, *NGINX, *NONEWPRIVS, *NONROOT, *PAUSE}
    assert set(library.names()) == set(names)


@pytest.mark.parametrize(("there", "images"), [("agnhost", set()), ("sample-apiserver", {SAMPLE_API_SERVER, ETCD})])
def test_a_sample_api_server_has_an_image_where_it_has_been_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str, images: set[str]
) -> None:
    for name in (there, "etcd"):
        shutil.copyfile("/bin/true", tmp_path / name)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    made = aggregated_images(tmp_path / "sample-apiserver")
    assert set(made) == images
    for image, place in zip(made.values(), ("sample-apiserver", "usr/local/bin/etcd"), strict=False):
        config, manifest = (json.loads(image.blobs[digest]) for digest in (image.config, image.manifest))
        assert config["config"]["Entrypoint"] == [f"/{place}"]
        (layer,) = manifest["layers"]
        with tarfile.open(fileobj=io.BytesIO(image.blobs[layer["digest"]])) as archive:
            names = archive.getnames()
        assert place in names
        assert any("libc.so" in name for name in names), "and what it needs"


def test_a_tool_brings_the_libraries_that_it_needs() -> None:
    found = tools()
    if not found:
        unavailable("neither curl nor dig is here")
    assert any("libc.so" in path for path in found)
    assert any("ld-linux" in path for path in found), "the loader itself"
    assert all(path.startswith("/") and file.exists() for path, file in found.items())


@pytest.mark.parametrize(("applet", "renamed", "neighbour"), RENAMED.values())
def test_the_shell_takes_the_tool_that_stands_in_the_path(
    tmp_path: Path, applet: str, renamed: str, neighbour: str
) -> None:
    busybox = find_busybox()
    if busybox is None:
        unavailable("no static busybox (Debian: busybox-static)")
    assert busybox is not None
    files = without_applet(shell_files(busybox), applet, renamed, neighbour)
    assert not [path for path in files if path.endswith(f"/{applet}")]
    program = tmp_path / "busybox"
    program.write_bytes(files["bin/busybox"].content)
    other = tmp_path / applet
    other.write_text("#!/bin/sh\necho the other $1\n")
    for path in (program, other):
        path.chmod(0o755)
    said = subprocess.run(
        [program, "sh", "-c", f"{applet} -u; basename /a/b; {neighbour} --help 2>&1 | head -n 1"],
        env={"PATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert said.splitlines()[:2] == ["the other -u", "b"]
    assert "BusyBox" in said  # its neighbour in the table is still found


def test_a_busybox_that_is_built_otherwise_is_refused() -> None:
    with pytest.raises(ValueError, match=r"this busybox has no applet nc where it is looked for$"):
        without_applet({"bin/busybox": File(b"\0nc\0")}, "nc", "nd", "netstat")


def test_a_program_that_says_as_whom_it_runs(tmp_path: Path) -> None:
    program = tmp_path / "nnp"
    program.write_bytes(effective_uid_program())
    program.chmod(0o755)
    said = subprocess.run([program], check=True, capture_output=True).stdout
    assert said == b"Effective uid: %d\n" % os.geteuid()


def test_what_is_missing_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBE_BIN", raising=False)
    with pytest.raises(SuiteError, match=r"KUBE_BIN is not set: it names a folder with e2e\.test, ginkgo and agnhost$"):
        find_programs()
    monkeypatch.setenv("KUBE_BIN", str(tmp_path))
    with pytest.raises(SuiteError, match=r"not found: ginkgo, e2e\.test, agnhost$"):
        find_programs()
