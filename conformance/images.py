"""The images that the tests ask for, made of what this machine has.

The original is a small Linux with `agnhost` and some tools of the network. Ours has the same `agnhost`, Debian's static busybox
and, where they are installed, `curl` and `dig` with the libraries they need.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.effective_uid import effective_uid_image
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.oci_image import BuiltImage, File, PackedLayer, build, pack
from lifecycle.cri.images.small_images import PATH, find_busybox, pause_image, shell_files

E2E = "registry.k8s.io/e2e-test-images"
AGNHOST = tuple(f"{E2E}/{name}" for name in ("agnhost:2.63.0", "agnhost:2.55"))
DEMOS = {name: f"{E2E}/{name}:1.8" for name in ("kitten", "nautilus")}
"""Web servers that say in `data.json` which of the two they are."""
BUSYBOX = tuple(f"{E2E}/{name}" for name in ("busybox:1.37.0-1", "busybox:1.36.1-1", "glibc-dns-testing:2.0.0"))
NGINX = tuple(f"{E2E}/{name}" for name in ("nginx:1.27-0", "nginx:1.15-4"))
NONROOT = (f"{E2E}/nonroot:1.5",)
"""An image whose own user is nobody in particular."""
NONEWPRIVS = (f"{E2E}/nonewprivs:1.4",)
IPTABLES = ("registry.k8s.io/build-image/distroless-iptables:v0.9.3",)
"""A test asks for it for its `conntrack`."""
PAUSE = ("registry.k8s.io/pause:3.10.2",)
SAMPLE_API_SERVER = f"{E2E}/sample-apiserver:1.29.2"
ETCD = "registry.k8s.io/etcd:3.6.8-0"
"""What the test of the aggregator puts behind the API server, and where that keeps its objects."""
FAST = 1
"""How layers are compressed: they never leave this machine."""
PAGE = "/usr/share/nginx/html"
TOOLS = {
    "curl": "/usr/local/bin/curl",
    "dig": "/usr/local/bin/dig",
    "getent": "/usr/local/bin/getent",
    "nc.openbsd": "/usr/local/bin/nc",
    "wget": "/usr/local/bin/wget",
    "conntrack": "/usr/local/bin/conntrack",
    "bash-static": "/usr/local/bin/sh",
}
"""What the original has besides busybox, and where it goes. Debian has them in `curl`, `bind9-dnsutils`, `libc-bin`,
`netcat-openbsd`, `wget`, `conntrack` and `bash-static`. There are two shells for that: the original's hands on variables whose names
are none (`data-1`), which Debian's busybox drops; so `sh`, which is looked for, is bash. But it complains in the words of ash, so
`/bin/sh` is busybox.
"""


def libraries_of(program: Path) -> list[Path]:
    """The files that a program's loader opens; none for a static one."""
    said = subprocess.run(["ldd", str(program)], check=False, capture_output=True, text=True).stdout
    found = [word for line in said.splitlines() for word in line.split() if word.startswith("/")]
    return [Path(name) for name in found]


def missing_tools() -> list[str]:
    """Those that are not installed here: tests that use them will fail for that."""
    return [name for name in TOOLS if shutil.which(name) is None]


def tools() -> dict[str, Path]:
    """Where each tool and each of its libraries goes, and where it is."""
    files: dict[str, Path] = {}
    for name, place in TOOLS.items():
        found = shutil.which(name)
        if found is None:
            continue
        files[place] = Path(found)
        files |= {str(library): library.resolve() for library in libraries_of(Path(found))}
    return files


@dataclass(frozen=True)
class Base:
    """The layers that most images share: packed once, they are not small."""

    shell: PackedLayer
    tools: PackedLayer

    def image(self, layer: Mapping[str, File] | PackedLayer, *command: str, entrypoint: str = "") -> BuiltImage:
        """A shell, its tools, and what one image has besides."""
        config: dict[str, Any] = {"Env": [PATH], "WorkingDir": "/", "Cmd": list(command)}
        if entrypoint:
            config["Entrypoint"] = [entrypoint]
        return build([self.shell, self.tools, layer], config)


RENAMED = {"nc.openbsd": ("nc", "nd", "netstat"), "wget": ("wget", "wgeu", "which")}
"""Tool → the applet whose place it takes, what that is called instead, and its neighbour in the sorted table of applets: the new name
has to stand before it, too.
"""


def without_applet(files: dict[str, File], applet: str, renamed: str, neighbour: str) -> dict[str, File]:
    """A busybox that leaves a command to whoever comes first in PATH. Raises ValueError if it is built otherwise.

    The shell of Debian's busybox takes its own applets before it looks into PATH. Its `nc` knows no UDP, which a test of host ports
    speaks, and its `wget` breaks down if it is told how long to wait.
    """
    program = files["bin/busybox"]
    before, after = (f"\0{name}\0{neighbour}\0".encode() for name in (applet, renamed))
    if program.content.count(before) != 1:
        raise ValueError(f"this busybox has no applet {applet} where it is looked for")
    kept = {path: file for path, file in files.items() if Path(path).name != applet}
    return kept | {"bin/busybox": replace(program, content=program.content.replace(before, after))}


def base() -> Base:
    """Raises ValueError where there is no static busybox, OSError."""
    busybox = find_busybox()
    if busybox is None:
        raise ValueError("the images need a static busybox (Debian: busybox-static)")
    files = tools()
    shell = shell_files(busybox)
    for tool, names in RENAMED.items():
        if TOOLS[tool] in files:
            shell = without_applet(shell, *names)
    installed = {place.strip("/"): File(path.read_bytes(), 0o755) for place, path in files.items()}
    if TOOLS["bash-static"] in files:
        installed["bin/bash"] = File(link=TOOLS["bash-static"], mode=0o777)
    return Base(pack(shell, FAST), pack(installed, FAST))


def agnhost_files(agnhost: Path, certificate: tuple[bytes, bytes]) -> dict[str, File]:
    """`agnhost` under both of its names, with a folder for uploads.

    A certificate and its key lie at the root: `porter` serves TLS with them, and probes of `test-webserver` ask for the first.
    """
    return {
        "agnhost": File(agnhost.read_bytes(), 0o755),
        "agnhost-2": File(link="agnhost", mode=0o777),
        "uploads/": File(mode=0o755),
        **{name: File(content) for name, content in zip(("localhost.crt", "localhost.key"), certificate, strict=True)},
    }


def demo_image(common: Base, agnhost: PackedLayer, name: str) -> BuiltImage:
    """`agnhost`, which serves its root by itself; there lies a `data.json` with the demo's name. `/etc/os-release` says what the
    original's says: a test mounts the image and looks whether it reads that.
    """
    files = {
        "data.json": File(json.dumps({"image": f"{name}.jpg"}).encode()),
        "etc/os-release": File(b'NAME="Alpine Linux"\n'),
    }
    config = {"Env": [PATH], "WorkingDir": "/", "Entrypoint": ["/agnhost"], "Cmd": ["test-webserver"]}
    return build([common.shell, common.tools, agnhost, files], config)


def program_image(program: Path, place: str) -> BuiltImage:
    """One program with the libraries it needs, which is what a container of it runs. Raises OSError."""
    files = {str(library).strip("/"): File(library.read_bytes(), 0o755) for library in libraries_of(program)}
    layer = pack({**files, place.strip("/"): File(program.read_bytes(), 0o755)}, FAST)
    return build([layer], {"Env": [PATH], "WorkingDir": "/", "Entrypoint": [place]})


def aggregated_images(sample_api_server: Path) -> dict[str, BuiltImage]:
    """A sample API server, which nobody but Kubernetes' own image has built, and Debian's etcd; none if one of them is not here.

    Raises OSError.
    """
    etcd = shutil.which("etcd")
    if etcd is None or not sample_api_server.exists():
        return {}
    return {
        SAMPLE_API_SERVER: program_image(sample_api_server, "/sample-apiserver"),
        ETCD: program_image(Path(etcd), "/usr/local/bin/etcd"),
    }


def fill(library: ImageLibrary, agnhost: Path) -> list[str]:
    """Put them all into a library; their names. `sample-apiserver` is looked for beside `agnhost`. Raises OSError, ValueError."""
    certificate = CertificateAuthority().serving_certificate(("localhost",), ("127.0.0.1",))
    common, program = base(), pack(agnhost_files(agnhost, certificate), FAST)
    release = {"etc/os-release": File(b'NAME="busybox of this machine"\n')}
    page = {f"{PAGE.strip('/')}/index.html": File(b"<title>Welcome to nginx!</title>\n")}
    made: dict[tuple[str, ...], BuiltImage] = {
        AGNHOST: common.image(program, "pause", entrypoint="/agnhost"),
        **{(name,): demo_image(common, program, demo) for demo, name in DEMOS.items()},
        BUSYBOX: common.image(release, "sh"),
        IPTABLES: common.image(release, "sh"),
        NGINX: common.image(page, "httpd", "-f", "-p", "80", "-h", PAGE),
        NONROOT: build([common.shell, common.tools], {"Env": [PATH], "Cmd": ["sh"], "User": "1234"}),
        NONEWPRIVS: effective_uid_image(),
        PAUSE: pause_image(),
    }
    named = {name: image for names, image in made.items() for name in names}
    named |= aggregated_images(agnhost.with_name("sample-apiserver"))
    library.add(named)
    return list(named)
