"""The images that the tests ask for, made of what this machine has.

The original is a small Linux with `agnhost` and some tools of the network. Ours has the same `agnhost`, Debian's static busybox
and, where they are installed, `curl` and `dig` with the libraries they need.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from lifecycle.cri.images.from_files import image_from
from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.oci_image import BuiltImage
from lifecycle.cri.images.small_images import pause_image

E2E = "registry.k8s.io/e2e-test-images"
AGNHOST = tuple(f"{E2E}/{name}" for name in ("agnhost:2.63.0", "agnhost:2.55", "kitten:1.8", "nautilus:1.8"))
"""Images whose program is agnhost under one name or another."""
BUSYBOX = tuple(f"{E2E}/{name}" for name in ("busybox:1.37.0-1", "busybox:1.36.1-1", "glibc-dns-testing:2.0.0"))
NGINX = tuple(f"{E2E}/{name}" for name in ("nginx:1.27-0", "nginx:1.15-4"))
PAUSE = ("registry.k8s.io/pause:3.10.2",)
PAGE = "/usr/share/nginx/html"
TOOLS = {
    "curl": "/usr/local/bin/curl",
    "dig": "/usr/local/bin/dig",
    "nc.openbsd": "/usr/local/bin/nc",
    "bash-static": "/bin/sh",
}
"""What the original has besides busybox, and where it goes. Debian has them in `curl`, `bind9-dnsutils`, `netcat-openbsd` and
`bash-static`: the original's shell hands on variables whose names are none (`data-1`), Debian's busybox drops them.
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


def agnhost_image(agnhost: Path) -> BuiltImage:
    """`agnhost`, which pauses unless it is told something else."""
    return image_from(agnhost, shell=True, entrypoint=("/agnhost",), command=("pause",), files=tools())


def busybox_image(folder: Path) -> BuiltImage:
    """A shell and its tools, nothing else. `folder` is empty."""
    (folder / "etc").mkdir()
    (folder / "etc" / "os-release").write_text('NAME="busybox of this machine"\n')
    return image_from(folder, shell=True, command=("sh",), files=tools())


def nginx_image(folder: Path) -> BuiltImage:
    """A web server on port 80 with nginx's page where nginx has it: busybox's. `folder` is empty."""
    page = folder / PAGE.strip("/") / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<title>Welcome to nginx!</title>\n")
    return image_from(folder, shell=True, command=("httpd", "-f", "-p", "80", "-h", PAGE), files=tools())


def fill(library: ImageLibrary, agnhost: Path, drafts: Path) -> list[str]:
    """Put them all into a library; their names. `drafts` is a folder to work in. Raises OSError, ValueError."""
    empty, served = drafts / "empty", drafts / "served"
    empty.mkdir()
    served.mkdir()
    made = {
        AGNHOST: agnhost_image(agnhost),
        BUSYBOX: busybox_image(empty),
        NGINX: nginx_image(served),
        PAUSE: pause_image(),
    }
    named = {name: image for names, image in made.items() for name in names}
    library.add(named)
    return list(named)
