"""The wire format: messages of the table, there and back; and images, layers, names of the past."""

from __future__ import annotations

import asyncio
import gzip
import io
import stat
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.cri import translate
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.images.layers import unpack
from lifecycle.cri.images.oci_image import BuiltImage, File, build, digest_of_bytes, layer
from lifecycle.cri.images.registry import Registry, Repository
from lifecycle.cri.images.small_images import pause_program
from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.images.users import resolve_user
from lifecycle.cri.log_format import MAX_LINE, format_entry, parse_entries, split_output
from lifecycle.cri.messages import fields_of, message_class, methods, new
from lifecycle.cri.oci_spec import capabilities

TEXT = st.text(max_size=12)
LABELS = st.dictionaries(TEXT, TEXT, max_size=3)


def sent(name: str, fields: dict[str, object]) -> dict[str, object]:
    return fields_of(message_class(name).FromString(new(name, fields).SerializeToString()))


@given(TEXT, LABELS, LABELS, st.booleans(), st.sampled_from(["POD", "CONTAINER", "NODE"]), st.integers(0, 9))
def test_a_sandbox_config_survives_the_wire(
    name: str, labels: dict[str, str], notes: dict[str, str], host: bool, pid: str, attempt: int
) -> None:
    options = {"pid": pid, "network": "NODE"} if host else {"pid": pid}
    linux = {"cgroup_parent": "/kubepods/x", "security_context": {"namespace_options": options}}
    metadata = PodSandboxMetadata(name, "u", "ns", attempt)
    config = PodSandboxConfig(metadata, hostname=name, labels=labels, annotations=notes, linux=linux)
    assert config.host_network is host
    back = translate.read_sandbox_config(sent("PodSandboxConfig", translate.sandbox_config(config)))
    assert (back.metadata, back.labels, back.annotations) == (metadata, labels, notes)
    assert back.host_network is host
    assert back.namespace_options.get("pid", "POD") == pid  # silence means POD


@given(st.lists(TEXT, max_size=4), st.lists(st.tuples(TEXT, TEXT), max_size=4), st.integers(0, 1 << 40))
def test_a_container_config_survives_the_wire(args: list[str], envs: list[tuple[str, str]], limit: int) -> None:
    config = ContainerConfig(ContainerMetadata("c", 3), "image", ("run",), tuple(args), limit, envs=tuple(envs))
    back = translate.read_container_config(sent("ContainerConfig", translate.container_config(config)))
    assert (back.metadata, back.command, back.args) == (config.metadata, ("run",), tuple(args))
    assert (back.envs, back.memory_limit) == (tuple(envs), limit)


def test_unknown_fields_and_enum_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"PodSandboxConfig has no field 'hostnam'$"):
        new("PodSandboxConfig", {"hostnam": "x"})
    with pytest.raises(ValueError, match=r"NamespaceMode has no value 'SOME'$"):
        new("NamespaceOption", {"pid": "SOME"})


def test_both_services_are_whole() -> None:
    services = [method.service for method in methods().values()]
    assert (services.count("RuntimeService"), services.count("ImageService")) == (35, 6)
    for method in methods().values():
        assert message_class(method.request), method
        assert message_class(method.response), method


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_what_a_program_writes_can_be_put_together_again(writes: list[bytes]) -> None:
    rest, file = b"", b""
    for data in writes:
        pieces, rest = split_output(rest + data, limit=7)
        file += b"".join(format_entry(1, "stdout", complete, text) for complete, text in pieces)
    file += format_entry(1, "stdout", False, rest)
    entries = list(parse_entries(file))
    assert b"".join(e.text + (b"\n" if e.complete else b"") for e in entries) == b"".join(writes)


def test_long_lines_are_cut() -> None:
    pieces, rest = split_output(b"x" * (MAX_LINE + 1) + b"\n")
    assert [(complete, len(text)) for complete, text in pieces] == [(False, MAX_LINE), (True, 1)]
    assert rest == b""


def test_the_same_files_make_the_same_image() -> None:
    files = {"a/b": File(b"x"), "c": File(link="a/b")}
    assert build([files], {"Cmd": ["x"]}).manifest == build([dict(files)], {"Cmd": ["x"]}).manifest
    assert build([files], {"Cmd": ["y"]}).manifest != build([files], {"Cmd": ["x"]}).manifest


def test_the_pause_program_is_small_and_whole() -> None:
    program = pause_program()
    assert program[:4] == b"\x7fELF"
    assert len(program) == 232


@pytest.mark.parametrize("name", ["../out", "a/../../out"])
def test_a_layer_cannot_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="leads out"):
        unpack(layer({name: File(b"x")}), tmp_path / "root", overlay=False)
    assert not (tmp_path / "out").exists()


def test_a_layer_cannot_lead_out_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    unpack(layer({"away": File(link=str(outside))}), tmp_path / "root", overlay=False)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("away/x"))
    with pytest.raises(ValueError, match=r"layer entry 'away/x' leads out of the image through a link$"):
        unpack(archive.getvalue(), tmp_path / "root", overlay=False)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("overlay", [False, True])
@pytest.mark.parametrize("name", [".wh.", ".wh..", ".wh..."])
def test_a_white_out_cannot_take_away_the_directory_or_its_neighbours(tmp_path: Path, name: str, overlay: bool) -> None:
    (tmp_path / "neighbour").mkdir()
    for where in ("", "deeper/"):
        with pytest.raises(ValueError, match="invalid whiteout name"):
            unpack(layer({"kept": File(b"x"), where + name: File()}), tmp_path / "root", overlay)
    assert (tmp_path / "neighbour").is_dir()
    assert (tmp_path / "root" / "kept").read_bytes() == b"x"


def test_a_layer_is_decompressed_piece_by_piece(tmp_path: Path) -> None:
    size = 64 << 20
    packed = gzip.compress(layer({"zeros": File(bytes(size))}))
    assert len(packed) < 100_000
    tracemalloc.start()
    try:
        unpack(packed, tmp_path / "root", overlay=False)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "root" / "zeros").stat().st_size == size
    assert most < 4 << 20


def entry_of(size: int, kind: bytes = tarfile.REGTYPE, headers: dict[str, str] | None = None) -> bytes:
    """The beginning of an archive: a header that promises `size` bytes."""
    entry = tarfile.TarInfo("big")
    entry.size, entry.type, entry.pax_headers = size, kind, headers or {}
    return entry.tobuf(tarfile.PAX_FORMAT)


@pytest.mark.parametrize(
    ("archive", "complaint"),
    [
        (layer({"zeros": File(bytes(2 << 20))}), "larger than 1048576 bytes"),
        (layer({f"file-{n}": File(bytes(100 << 10)) for n in range(11)}), "larger than 1048576 bytes"),
        (layer({f"empty-{n}": File() for n in range(3000)}), "larger than 1048576 bytes"),
        (entry_of(1 << 30, tarfile.GNUTYPE_LONGNAME) + bytes(512), "header of 1073741824 bytes"),
        (entry_of(1 << 30, tarfile.XHDTYPE) + bytes(512), "header of 1073741824 bytes"),
        (entry_of(0, headers={"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40)}), "larger than 1048576 bytes"),
    ],
    ids=["one file", "many files", "many headers", "long name", "attributes", "holes"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_layer_that_grows_beyond_measure_is_refused(
    tmp_path: Path, archive: bytes, complaint: str, packed: bool
) -> None:
    with pytest.raises(ValueError, match=complaint):
        unpack(gzip.compress(archive) if packed else archive, tmp_path / "root", False, limit=1 << 20)
    assert sum(path.stat().st_size for path in tmp_path.rglob("big")) == 0


def test_a_broken_layer_is_the_registrys_fault_and_leaves_nothing_behind(tmp_path: Path) -> None:
    image = build([{"kept": File(b"x")}, {".wh...": File()}], {})

    async def main() -> None:
        async with Registry({"bad": Repository({"1": image})}) as registry:
            store = ImageStore(tmp_path, overlay=False)
            with pytest.raises(
                RuntimeServiceError, match=r"failed to extract layer: invalid whiteout name: \.wh\.\.\.$"
            ):
                await store.pull(registry.name("bad:1"), None)
            assert store.list() == []
            assert [path.name for path in (tmp_path / "layers").glob("*.new")] == []
            assert len(list((tmp_path / "layers").glob("*.tar"))) == 1  # the good one below it

    asyncio.run(main())


def test_no_more_of_a_layer_is_read_than_the_manifest_says(tmp_path: Path) -> None:
    image = build([{"file": File(b"x" * 1000)}], {})
    manifest = fast_json.loads(image.blobs[image.manifest])
    manifest["layers"][0]["size"] -= 1
    data = fast_json.dumps(manifest)
    liar = BuiltImage(digest_of_bytes(data), image.config, {**image.blobs, digest_of_bytes(data): data})

    async def main() -> None:
        async with Registry({"liar": Repository({"1": liar})}) as registry:
            with pytest.raises(
                RuntimeServiceError,
                match=r"unexpected size of blobs/sha256:cbc73ff470496903f2b8fef6fde2cc08197cc1adbc6f7b24e9cc496044126e46: "
                r"more than 98 bytes$",
            ):
                await ImageStore(tmp_path, overlay=False).pull(registry.name("liar:1"), None)

    asyncio.run(main())


def test_white_outs_are_obeyed_without_an_overlay(tmp_path: Path) -> None:
    unpack(layer({"d/a": File(b"1"), "d/b": File(b"2"), "o/x": File(b"3")}), tmp_path, overlay=False)
    unpack(layer({"d/.wh.a": File(), "o/.wh..wh..opq": File(), "o/y": File(b"4")}), tmp_path, overlay=False)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if stat.S_ISREG(p.stat().st_mode)) == [
        "d/b",
        "o/y",
    ]


PASSWD = "root:x:0:0::/root:/bin/sh\nreader:x:1000:1000::/:/bin/sh\n"
GROUP = "root:x:0:\nreader:x:1000:\nbooks:x:2000:reader\n"


@pytest.mark.parametrize(
    ("security", "image_user", "expected"),
    [
        ({}, "", (0, 0, [0])),
        ({}, "reader", (1000, 1000, [1000, 2000])),
        ({}, "reader:books", (1000, 2000, [2000])),
        ({}, "77:88", (77, 88, [88])),
        ({"run_as_user": {"value": 1000}, "supplemental_groups": [5]}, "", (1000, 1000, [1000, 2000, 5])),
        ({"run_as_user": {"value": 1000}, "supplemental_groups_policy": "Strict"}, "", (1000, 1000, [1000])),
        ({"run_as_user": {"value": 4}, "run_as_group": {"value": 6}}, "reader", (4, 6, [6])),
    ],
)
def test_users_are_looked_up_in_the_image(security: dict[str, object], image_user: str, expected: object) -> None:
    user = resolve_user(security, image_user, {"/etc/passwd": PASSWD, "/etc/group": GROUP}.__getitem__)
    assert (user["uid"], user["gid"], user["additionalGids"]) == expected


def test_an_unknown_user_is_refused() -> None:
    with pytest.raises(
        RuntimeServiceError,
        match=r"rpc error: code = Unknown desc = failed to generate spec: unable to find user nobody: no matching entries in passwd file$",
    ):
        resolve_user({}, "nobody", lambda name: PASSWD)


def test_capabilities_are_added_and_dropped() -> None:
    def held(add: list[str], drop: list[str]) -> list[str]:
        return capabilities({"capabilities": {"add_capabilities": add, "drop_capabilities": drop}})

    assert len(held([], [])) == 14
    assert held(["NET_BIND_SERVICE"], ["ALL"]) == ["CAP_NET_BIND_SERVICE"]
    assert "CAP_CHOWN" not in held(["ALL"], ["chown"])
    assert len(capabilities({"privileged": True})) == 41
