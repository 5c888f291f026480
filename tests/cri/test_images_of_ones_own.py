"""Images that are loaded and built: archives of both kinds, the library they are kept in, and what nodes can pull then."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from lifecycle.cli import main
from lifecycle.cluster.linux.local_images import LocalImages
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.images.archive import read_archive
from lifecycle.cri.images.from_files import image_from, needs_libraries
from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.oci_image import BuiltImage, File, build, digest_of_bytes, layer, layout, machine
from lifecycle.cri.images.small_images import find_busybox, pause_program

NAME = "docker.io/library/poem:1"


@pytest.fixture
def poem() -> BuiltImage:
    return build([{"poem.txt": File(b"two roads\n")}], {"Cmd": ["/poem"]})


def docker_archive(path: Path, tags: list[str], *, architecture: str = "", diff_id: str = "") -> bytes:
    """What `docker save` of Docker 20 writes; the layer's bytes."""
    data = layer({"poem.txt": File(b"two roads\n")})
    config = {
        "architecture": architecture or machine(),
        "os": "linux",
        "config": {"Cmd": ["/poem"]},
        "rootfs": {"type": "layers", "diff_ids": [diff_id or digest_of_bytes(data)]},
    }
    manifest = [{"Config": "abc.json", "RepoTags": tags, "Layers": ["def/layer.tar"]}]
    files = {
        "manifest.json": File(json.dumps(manifest).encode()),
        "abc.json": File(json.dumps(config).encode()),
        "def/layer.tar": File(data),
    }
    path.write_bytes(layer(files))
    return data


def run(*words: str, folder: Path, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["image", *words], env={"LIFECYCLE_IMAGES": str(folder)})
    assert result.exit_code == code, result.output
    if code:
        assert result.stdout == ""
        assert result.stderr.startswith("lifecycle: ")
        assert result.stderr.count("\n") == 1
    return result.stderr if code else result.stdout


def test_an_archive_in_ocis_layout_gives_its_images_as_they_are(tmp_path, poem):
    archive = tmp_path / "poem.tar"
    archive.write_bytes(layout({NAME: poem}))
    assert read_archive(archive) == {NAME: poem}
    archive.write_bytes(gzip.compress(layout({NAME: poem})))
    assert read_archive(archive) == {NAME: poem}


def test_an_archive_of_docker_gets_a_manifest_and_all_its_names(tmp_path):
    data = docker_archive(tmp_path / "poem.tar", ["poem:1", "example.org/poem:2"])
    images = read_archive(tmp_path / "poem.tar")
    assert list(images) == [NAME, "example.org/poem:2"]
    manifest = json.loads(images[NAME].blobs[images[NAME].manifest])
    assert [part["digest"] for part in manifest["layers"]] == [digest_of_bytes(data)]
    assert manifest["config"]["digest"] == images[NAME].config


def test_what_is_no_archive_or_damaged_or_for_another_machine_is_refused_in_one_line(tmp_path, poem):
    path = tmp_path / "a.tar"
    path.write_bytes(b"no tar at all")
    with pytest.raises(ValueError, match=r"a\.tar: no image archive: not a readable tar$"):
        read_archive(path)
    path.write_bytes(layer({"x": File(b"1")}))
    with pytest.raises(
        ValueError, match=r"neither manifest\.json \(docker save\) nor index\.json \(OCI layout\) is in it$"
    ):
        read_archive(path)
    docker_archive(path, ["poem:1"], architecture="s390x")
    with pytest.raises(ValueError, match=r"is for s390x, this machine is amd64$"):
        read_archive(path)
    docker_archive(path, ["poem:1"], diff_id="sha256:00")
    with pytest.raises(
        ValueError,
        match=r"damaged image archive: sha256:00 is sha256:24112dcbc5d5438ca778844ff49253cb8eb096b9db07de71e15f08c39fbaf2ad$",
    ):
        read_archive(path)
    docker_archive(path, [])
    with pytest.raises(ValueError, match=r"have no names: save them by name$"):
        read_archive(path)
    digest = next(iter(poem.blobs))
    path.write_bytes(layout({NAME: BuiltImage(poem.manifest, poem.config, {**poem.blobs, digest: b"other"})}))
    with pytest.raises(ValueError, match=f"damaged image archive: {digest} is"):
        read_archive(path)


def test_a_library_keeps_images_and_a_name_moves(tmp_path, poem):
    library = ImageLibrary(tmp_path / "images")
    assert library.names() == {}
    assert library.get(NAME) is None
    library.add({NAME: poem})
    assert ImageLibrary(tmp_path / "images").get(NAME) == poem
    other = build([{"poem.txt": File(b"another\n")}], {})
    library.add({NAME: other, "example.org/old:1": poem})
    assert library.get(NAME) == other
    assert library.get("example.org/old:1") == poem
    with pytest.raises(ValueError, match=r"docker\.io/library/\.\./\.\./x:1: not a name of an image$"):
        library.add({"docker.io/library/../../x:1": poem})


def test_nodes_pull_what_was_loaded_also_later_and_by_digest(tmp_path, poem):
    busybox = find_busybox()
    assert busybox is not None
    library = ImageLibrary(tmp_path)
    images = LocalImages(busybox, library)
    with pytest.raises(RuntimeServiceError, match="pull access denied"):
        images.pull("poem:1")
    assert "library/poem" not in images.repositories()
    library.add({NAME: poem})
    assert images.pull("poem:1") == (NAME, poem)
    assert images.pull(f"poem@{poem.manifest}")[1] == poem
    assert images.repositories()["library/poem"].tags == {"1": poem}
    with pytest.raises(RuntimeServiceError, match="code = NotFound"):
        images.pull("poem:2")


def test_a_known_repository_has_the_tags_that_a_hollow_node_finds(tmp_path):
    busybox = find_busybox()
    assert busybox is not None
    images = LocalImages(busybox)
    assert images.pull("nginx:1.29.3-alpine")[1] == images.pull("nginx")[1]
    with pytest.raises(RuntimeServiceError, match=r"no-such: not found$"):
        images.pull("nginx:no-such")


def test_a_program_is_an_image_if_it_needs_no_libraries(tmp_path):
    program = tmp_path / "pause"
    program.write_bytes(pause_program())
    assert not needs_libraries(pause_program())
    image = image_from(program, environment=("A=1",))
    config = json.loads(image.blobs[image.config])["config"]
    assert config["Entrypoint"] == ["/pause"]
    assert "A=1" in config["Env"]
    assert needs_libraries(Path("/bin/ls").read_bytes())
    with pytest.raises(
        ValueError, match=r"/bin/ls: needs shared libraries; link it statically, or give a folder that has them too$"
    ):
        image_from(Path("/bin/ls"))
    with pytest.raises(ValueError, match=r"not a 64-bit ELF program; give a folder for anything else$"):
        image_from(Path(__file__))


def test_a_folder_is_an_image_with_its_links_and_modes(tmp_path):
    (tmp_path / "root/bin").mkdir(parents=True)
    (tmp_path / "root/bin/run").write_text("#!/bin/sh\n")
    (tmp_path / "root/bin/run").chmod(0o755)
    (tmp_path / "root/start").symlink_to("bin/run")
    image = image_from(tmp_path / "root", entrypoint=("/start",))
    assert image == image_from(tmp_path / "root", entrypoint=("/start",))
    digest = json.loads(image.blobs[image.manifest])["layers"][0]["digest"]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(image.blobs[digest]))) as archive:
        assert archive.getmember("bin/run").mode == 0o755
        assert archive.getmember("start").linkname == "bin/run"


def test_the_command_loads_builds_and_lists(tmp_path, poem):
    folder, archive, program = tmp_path / "images", tmp_path / "poem.tar", tmp_path / "pause"
    archive.write_bytes(layout({NAME: poem}))
    program.write_bytes(pause_program())
    assert run("load", str(archive), folder=folder) == f"Loaded image: {NAME}\n"
    assert run("build", str(program), "-t", "still", folder=folder).startswith(
        "Built image: docker.io/library/still:latest sha256:"
    )
    listed = run("ls", folder=folder).splitlines()
    assert [line.split()[0] for line in listed] == ["NAME", NAME, "docker.io/library/still:latest"]
    assert "needs shared libraries" in run("build", "/bin/ls", "-t", "x", folder=folder, code=1)
    assert "--add wants FILE:/PATH" in run("build", str(program), "-t", "x", "--add", "y", folder=folder, code=2)
    assert "not a name of an image" in run("build", str(program), "-t", "UPPER CASE", folder=folder, code=1)
