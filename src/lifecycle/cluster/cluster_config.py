"""What a cluster is made of: the options of `lifecycle up`.

Upstream: kubeadm `app/apis/kubeadm/types.go` (`ClusterConfiguration`), kind
`pkg/apis/config/v1alpha4`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.emulation.served_version import full_version
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from lifecycle.cluster.nodes import NodeShape
from lifecycle.cluster.stores import check_address
from lifecycle.cri.hollow.process.process import Program
from lifecycle.cri.hollow.programs import Key, Programs
from lifecycle.cri.hollow.step_times import Latency

COMPONENTS = ("scheduler", "controllers", "kubelet", "proxy", "dns")
"""What `--without` can leave out, so that a real one can take its place."""

RUNTIMES = ("hollow", "sandbox", "containerd")
OVERLAYS = ("vxlan", "host-gw")


@dataclass(slots=True)
class ClusterConfig:
    """What a cluster is made of. `nodes` counts all machines; `port` 0 picks a free
    one; `without` names components to leave out.

    `cert_dir`: the folder of its keys and certificates; None: as the store has it
    (`authority_folder`).

    `authentication`, `authorization`, `admission` and `encryption` are what stands in
    kube-apiserver's flags of those names; None: as kubeadm sets them. `latency`:
    seconds that the hollow runtime takes for each step of starting a container; 0:
    none; `recorded`: each step of a container's life as long as it took on recorded
    nodes, as `seed` draws it. `programs`: what runs in hollow containers, by image, or
    by image and command (`cri/hollow/programs.py`). `overlay`: how packets get from
    node to node where there are real ones (`vxlan`, `host-gw`). `like`: a recording's
    folder, or `kind` for the one that travels with the package. `kube_version`: the
    Kubernetes that clients are told they talk to, and whose API they find
    (`apiserver/emulation`); empty: the one that this is.

    What is not here: a subnet of the Services (kubeadm's `networking.serviceSubnet`).
    It is kind's, always (`registry/core/service/addresses.py` says why); more ranges
    are objects of the API.
    """

    nodes: int = 3
    store: str = "memory"
    cert_dir: Path | None = None
    port: int = 0
    runtime: str = "hollow"
    overlay: str = "vxlan"
    token: str = ""
    without: tuple[str, ...] = ()
    seed: int | None = None
    like: str | Path | None = None
    https: bool = True
    ready_timeout: float = 60.0
    latency: Latency = 0.0
    authentication: AuthenticationOptions | None = None
    authorization: AuthorizationOptions | None = None
    admission: AdmissionOptions | None = None
    audit: AuditOptions | None = None
    encryption: EncryptionOptions | None = None
    cors_allowed_origins: tuple[str, ...] = ()
    node_shapes: list[NodeShape] = field(default_factory=list)
    programs: Mapping[Key, Program] = field(default_factory=dict)
    kube_version: str = ""

    def check(self) -> None:
        """Raises ValueError with one line that says what is wrong and what to do."""
        if self.nodes < 1:
            raise ValueError(f"--nodes must be at least 1, not {self.nodes}")
        unknown = [name for name in self.without if name not in COMPONENTS]
        if unknown:
            raise ValueError(
                f"--without knows {', '.join(COMPONENTS)}; not {', '.join(unknown)}"
            )
        kind, colon, socket = self.runtime.partition(":")
        if kind not in RUNTIMES or (colon and (kind != "containerd" or not socket)):
            raise ValueError(
                f"--runtime knows {', '.join(RUNTIMES)}, containerd:SOCKET; not"
                f" {self.runtime}"
            )
        if colon and self.nodes != 1:
            raise ValueError(
                f"--runtime {self.runtime} is one machine: use --nodes 1, or --runtime"
                " containerd"
            )
        if self.programs and kind != "hollow":
            raise ValueError(
                f"programs are for hollow nodes; with --runtime {kind} the images' own"
                " run"
            )
        Programs(self.programs)  # what cannot be one is said before anything starts
        if self.overlay not in OVERLAYS:
            raise ValueError(
                f"--overlay knows {', '.join(OVERLAYS)}; not {self.overlay}"
            )
        if self.runtime != "hollow" and (self.like or self.node_shapes):
            raise ValueError(
                "--like describes nodes that are not here: it needs --runtime hollow,"
                f" not {self.runtime}"
            )
        if self.kube_version:
            full_version(self.kube_version)
        check_address(self.store)
        if self.encryption is not None:
            self.encryption.check()
