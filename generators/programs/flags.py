"""What the programs' own help says of their flags: which there are, and their defaults.
Of descriptions only lists of names are kept.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from generators.programs.answer import Answer
from generators.programs.control_plane import version_of

ASKED = {
    "kube-apiserver": "admission|client-ca|token-auth|basic-auth|etcd-prefix",
    "kube-controller-manager": "admission|attach-detach",
    "kube-scheduler": "policy|config|algorithm",
    "kubelet": "container-runtime|network-plugin|cni-|docker|cpu-manager|sync-freq|"
    "attach-detach",
    "kube-proxy": "proxy-mode",
}
"""Which flags a claim asks about."""
FLAG = re.compile(r"^\s+(?:-\w, )?--([a-z0-9-]+)[ \[](.*)$", re.M)
DEFAULT = re.compile(r"\(default \"?(.*?)\"?\)(?:\s|$|\.)")
PLUGINS = "Comma-delimited list of admission plugins: "
CONTROLLERS = re.compile(r"^\s+All controllers: (.*)$", re.M)


def answers(programs: Path) -> Iterator[Answer]:
    """The flags asked about; the admission plugins that the API server knows, and the
    controllers that the manager does; a command line that the scheduler refuses.
    """
    for name, pattern in ASKED.items():
        program = programs / name
        printed = subprocess.run(
            [program, "--help"], check=True, capture_output=True, text=True
        ).stdout
        flags = FLAG.findall(printed)
        yield Answer(
            f"flags/{name}",
            version_of(program),
            f"{name} --help: flags with {pattern} in their names, and their defaults",
            {
                flag: default[1] if (default := DEFAULT.search(rest)) else ""
                for flag, rest in sorted(flags)
                if re.search(pattern, flag)
            },
        )
        if name == "kube-controller-manager":
            [names] = CONTROLLERS.findall(printed)
            yield Answer(
                "flags/controllers",
                version_of(program),
                f"{name} --help: the controllers that --controllers names",
                sorted(names.split(", ")),
            )
        if name == "kube-apiserver":
            rest = dict(flags)["enable-admission-plugins"]
            yield Answer(
                "flags/admission-plugins",
                version_of(program),
                f"{name} --help: the plugins that --enable-admission-plugins names",
                sorted(rest.partition(PLUGINS)[2].partition(".")[0].split(", ")),
            )
    scheduler = programs / "kube-scheduler"
    refused = subprocess.run(
        [scheduler, "--policy-config-file=policy.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    yield Answer(
        "flags/policy-config-file",
        version_of(scheduler),
        "kube-scheduler --policy-config-file=policy.json",
        {
            "exit": refused.returncode,
            "unknown flag": "unknown flag" in refused.stderr,
        },
    )
