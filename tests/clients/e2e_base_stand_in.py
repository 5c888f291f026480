"""What the official client's tests ask their cluster's address of: the module that its sources leave out."""

from __future__ import annotations

from kubernetes.client.configuration import Configuration
from kubernetes.config import load_kube_config


def get_e2e_configuration() -> Configuration:
    """Where KUBECONFIG leads. Raises ConfigException."""
    configuration = Configuration()
    load_kube_config(client_configuration=configuration)
    return configuration
