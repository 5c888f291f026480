"""An image as a volume: its files, all layers together, to be read only; a path of it; and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cri.apis.errors import RuntimeServiceError
from tests.conftest import unavailable
from tests.cri.subjects import SUBJECTS, why_not
from tests.cri.test_conformance import Running


@pytest.fixture(scope="module", params=[name for name in SUBJECTS if name.startswith("sandbox")])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    if why_not():
        unavailable(why_not())
    made = Running(request.param, tmp_path_factory.mktemp(request.param.replace(" ", "-")))
    made.run(made.subject.runtime.pull_image(made.subject.image))
    yield made
    made.close()


def says(running: Running, name: str, script: str, **mount: Any) -> tuple[str, str]:
    """What a script prints in a container that mounts its own image once more at `/volume`."""

    async def ask() -> tuple[str, str]:
        subject = running.subject
        config = subject.sandbox_config(name)
        sandbox_id = await subject.sandbox(config)
        whole = {"container_path": "/volume", "image": {"image": subject.image}, "readonly": True, **mount}
        container_id = await subject.container(sandbox_id, config, "sleep 1000", mounts=(whole,))
        answer = await subject.runtime.exec_sync(container_id, ("sh", "-c", script), 5)
        status = await subject.runtime.container_status(container_id)
        assert status.mounts[0]["image"] == {"image": subject.image}
        return answer.stdout, answer.stderr

    return running.run(ask())  # type: ignore[no-any-return]


def test_all_layers_of_the_image_are_there_and_can_only_be_read(running: Running) -> None:
    script = (
        "cat /volume/lower/replaced; ls /volume/lower /volume/lower/opaque; touch /volume/x; /volume/bin/busybox true"
    )
    out, errors = says(running, "whole", script)
    assert out.startswith("new\n")
    assert "seen" in out
    assert "hidden" not in out
    assert "taken-away" not in out
    assert "Read-only file system" in errors
    assert "Permission denied" in errors  # nothing in it can be executed


def test_a_path_of_the_image_can_be_mounted_alone_be_it_a_folder_or_a_file(running: Running) -> None:
    out, _ = says(running, "folder", "cat /volume/index.html; ls /volume", image_sub_path="www")
    assert out == "It works.\nindex.html\n"
    out, _ = says(running, "file", "cat /volume", image_sub_path="lower/replaced")
    assert out == "new\n"


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ({"image_sub_path": "absent"}, 'path "absent" is not in image'),
        ({"image_sub_path": "../etc"}, r'path "\.\./etc" leads out of image'),
        ({"image_sub_path": "/etc"}, 'path "/etc" leads out of image'),
        ({"image": {"image": "registry.example/absent:1"}}, 'image "registry.example/absent:1" of a mount is not here'),
    ],
)
def test_what_cannot_be_mounted_is_said_before_the_container_is_made(
    running: Running, mount: dict[str, Any], why: str
) -> None:
    containers = running.subject.runtime.list_containers
    before = len(running.run(containers()))
    with pytest.raises(RuntimeServiceError, match=why):
        says(running, "refused", "true", **mount)
    assert len(running.run(containers())) == before


def test_the_hollow_runtime_says_that_it_has_no_files_of_an_image(tmp_path: Path) -> None:
    made = Running("hollow", tmp_path)
    try:
        made.run(made.subject.runtime.pull_image(made.subject.image))
        with pytest.raises(
            RuntimeServiceError,
            match=r'rpc error: code = Unimplemented desc = image volumes are not modelled: "docker\.io/library/busybox:1\.36"$',
        ):
            says(made, "hollow", "true")
    finally:
        made.close()
