"""What pods read: ConfigMaps in full, of Secrets only how long they are. And
ServiceAccounts, as whom they act.

Upstream: `kubectl/pkg/describe/describe.go` (`ConfigMapDescriber`, `describeSecret`,
`describeServiceAccount`), v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import (
    describe_events,
    events_of,
    search_events,
)
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter

TOKEN_TYPE, TOKEN_KEY = "kubernetes.io/service-account-token", "token"
PULL_HEADER = "Image pull secrets:"


async def describe_config_map(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ConfigMap; its events may not be refused. Raises StatusError."""
    config_map = await client.get("configmaps", namespace, name)
    events = None
    if client.settings.show_events:
        uid = config_map["metadata"]["uid"]
        events = await search_events(client, "ConfigMap", namespace, name, uid)
    w = PrefixWriter()
    print_metadata(w, config_map)
    w.write(0, "\nData\n====\n")
    data = config_map.get("data") or {}
    for key in sorted(data):
        w.write(0, f"{key}:\n----\n{data[key]}\n\n")
    w.write(0, "\nBinaryData\n====\n")
    binary = config_map.get("binaryData") or {}
    for key in sorted(binary):
        w.write(0, f"{key}: {len(base64.b64decode(binary[key]))} bytes\n")
    w.write(0, "\n")
    describe_events(events, w)
    return w.tabbed


async def describe_secret(client: Clientset, namespace: str, name: str) -> str:
    """Describe a Secret. Raises StatusError."""
    secret = await client.get("secrets", namespace, name)
    w = PrefixWriter()
    print_metadata(w, secret)
    kind = secret.get("type", "")
    w.write(0, f"\nType:\t{kind}\n\nData\n====\n")
    data = secret.get("data") or {}
    for key in sorted(data):
        value = base64.b64decode(data[key])
        if key == TOKEN_KEY and kind == TOKEN_TYPE:
            w.field(0, key, value.decode(errors="replace"))
        else:
            w.field(0, key, f"{len(value)} bytes")
    return w.tabbed


async def describe_service_account(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ServiceAccount. Raises StatusError."""
    account = await client.get("serviceaccounts", namespace, name)
    events = await events_of(client, account)
    w = PrefixWriter()
    print_metadata(w, account)
    header = PULL_HEADER
    for secret in account.get("imagePullSecrets") or [{"name": "<none>"}]:
        w.row(0, header, secret.get("name", ""))
        header = " " * len(PULL_HEADER)
    describe_events(events, w)
    return w.tabbed
