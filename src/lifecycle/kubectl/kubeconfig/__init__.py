"""kubeconfig: which cluster, as whom, in which namespace.

`load` reads and merges files, `client_config` applies flags and says what a client is
to use, `view` shows, `KubeconfigFiles` changes.
"""

from lifecycle.kubectl.kubeconfig.client_config import (
    DEFAULT_SERVER,
    ClientConfig,
    DirectClientConfig,
    Overrides,
    client_config,
    in_cluster,
)
from lifecycle.kubectl.kubeconfig.documents import (
    Config,
    empty_config,
    find,
    make,
    names,
    write,
)
from lifecycle.kubectl.kubeconfig.loading import load, loading_precedence, merge
from lifecycle.kubectl.kubeconfig.modifying import KubeconfigFiles
from lifecycle.kubectl.kubeconfig.validation import ConfigurationError
from lifecycle.kubectl.kubeconfig.viewing import contexts_table, view

__all__ = [
    "DEFAULT_SERVER",
    "ClientConfig",
    "Config",
    "ConfigurationError",
    "DirectClientConfig",
    "KubeconfigFiles",
    "Overrides",
    "client_config",
    "contexts_table",
    "empty_config",
    "find",
    "in_cluster",
    "load",
    "loading_precedence",
    "make",
    "merge",
    "names",
    "view",
    "write",
]
